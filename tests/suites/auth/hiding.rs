//! What may not be seen is not shown: in lists, whose pages stay full, by hashes, and by what is said of its absence.

use serde_json::{Value, json};

use crate::world::{World, delete, put, put_namespace, schema};

fn names(list: &Value, name: impl Fn(&Value) -> String) -> Vec<String> {
    list.as_array().unwrap_or_else(|| panic!("no list: {list}")).iter().map(name).collect()
}

fn dotted(key: &Value) -> String {
    names(&key["elements"], |part| part.as_str().unwrap().to_owned()).join(".")
}

/// Gold and silver, and branches that analysts may see or not.
async fn prepared() -> World {
    let world = World::start().await;
    let mut operations = vec![put_namespace("gold"), put_namespace("silver")];
    operations.extend((0..6).flat_map(|n| [put(&format!("gold.t{n}")), put(&format!("silver.t{n}"))]));
    world.commit("admin", "main", json!(operations)).await.ok();
    for name in ["public", "secret", "pub-2"] {
        world.create("BRANCH", name, "main").await;
    }
    world.commit("admin", "secret", json!([put("gold.hidden"), put("silver.hidden")])).await.ok();
    world.create("TAG", "pub-tag", "main").await;
    world.create("TAG", "tag", "main").await;
    world
}

/// All pages of a list, of one element each; every page is full, and only the last has nothing behind it.
async fn paged(world: &World, target: &str, list: &str) -> Vec<Value> {
    let (mut all, mut token) = (Vec::new(), String::new());
    loop {
        let page = world.get("analyst", &format!("{target}max-records=1{token}")).await.ok();
        let shown = page[list].as_array().unwrap();
        assert_eq!(shown.len(), 1, "{page}");
        all.extend(shown.iter().cloned());
        match page["token"].as_str() {
            Some(next) => token = format!("&page-token={next}"),
            None => return all,
        }
        assert_eq!(page["hasMore"], true);
        assert!(all.len() < 100, "pages without end");
    }
}

/// Where tables lie is told to those who may see the default branch, as the Iceberg API does.
#[tokio::test]
async fn warehouses_are_not_shown_to_everybody() {
    let world = World::start().await;
    let of = async |who: &str| {
        let info = world.get(who, "/ext/v1/info").await.ok();
        assert_eq!(info["name"], "lochan-server", "{who}");
        info["warehouses"].as_array().unwrap().len()
    };
    assert_eq!([of("stranger").await, of("analyst").await, of("admin").await], [0, 1, 1]);
}

#[tokio::test]
async fn lists_show_what_may_be_seen_and_their_pages_are_full() {
    let world = prepared().await;
    let seen = world.get("analyst", "/api/v2/trees").await.ok();
    let name = |reference: &Value| reference["name"].as_str().unwrap().to_owned();
    let references = names(&seen["references"], name);
    assert_eq!(references, ["main", "pub-2", "public", "pub-tag"]);
    assert_eq!(names(&json!(paged(&world, "/api/v2/trees?", "references").await), name), references);

    let gold: Vec<String> =
        std::iter::once("gold".to_owned()).chain((0..6).map(|n| format!("gold.t{n}"))).collect();
    let entries = "/api/v2/trees/main/entries?";
    let entry = |entry: &Value| dotted(&entry["name"]);
    assert_eq!(names(&world.get("analyst", entries).await.ok()["entries"], entry), gold);
    assert_eq!(names(&json!(paged(&world, entries, "entries").await), entry), gold);

    world
        .commit("admin", "public", json!([delete("silver.t0"), delete("gold.t1"), put("gold.new")]))
        .await
        .ok();
    let diff = "/api/v2/trees/main/diff/public?";
    let key = |diff: &Value| dotted(&diff["key"]);
    assert_eq!(names(&world.get("analyst", diff).await.ok()["diffs"], key), ["gold.new", "gold.t1"]);
    assert_eq!(names(&json!(paged(&world, diff, "diffs").await), key), ["gold.new", "gold.t1"]);

    let log = world.get("analyst", "/api/v2/trees/public/history?fetch=ALL").await.ok();
    let operations = names(&log["logEntries"][0]["operations"], |operation| dotted(&operation["key"]));
    assert_eq!(operations, ["gold.t1", "gold.new"]);
    world.commit("admin", "public", json!([put("silver.only")])).await.ok();
    let log = world.get("analyst", "/api/v2/trees/public/history?fetch=ALL").await.ok();
    assert!(
        log["logEntries"][0]["operations"].as_array().is_none_or(Vec::is_empty),
        "{}",
        log["logEntries"][0]
    );
    world.running.stop().await;
}

#[tokio::test]
async fn iceberg_lists_hide_too() {
    let world = prepared().await;
    for namespace in ["gold", "silver"] {
        for name in ["a", "b", "c"] {
            let body = json!({"name": name, "schema": schema()});
            world
                .by("admin", "POST", &format!("/iceberg/v1/main/namespaces/{namespace}/tables"), &body)
                .await
                .ok();
        }
    }
    let base = "/iceberg/v1/main/namespaces";
    assert_eq!(world.get("analyst", base).await.ok()["namespaces"], json!([["gold"]]));
    let (mut all, mut token) = (Vec::new(), String::new());
    loop {
        let page =
            world.get("analyst", &format!("{base}/gold/tables?pageSize=2&pageToken={token}")).await.ok();
        all.extend(names(&page["identifiers"], |table| table["name"].as_str().unwrap().to_owned()));
        match page["next-page-token"].as_str() {
            Some(next) => token = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(all.iter().filter(|name| name.len() == 1).count(), 3, "{all:?}");
    assert_eq!(world.get("analyst", &format!("{base}/silver/tables")).await.status, 403);
    assert_eq!(world.get("analyst", &format!("{base}/silver/tables/a")).await.status, 403);
    assert_eq!(world.get("analyst", &format!("{base}/silver/tables/absent")).await.status, 403);
    assert_eq!(world.get("analyst", &format!("{base}/gold/tables/a")).await.status, 200);
    assert_eq!(world.get("analyst", &format!("{base}/gold/tables/absent")).await.status, 404);
    world.running.stop().await;
}

/// Whoever may not see something does not learn either whether it is there.
#[tokio::test]
async fn what_is_hidden_and_what_is_absent_look_alike() {
    let world = prepared().await;
    for absent in ["secret", "nothing"] {
        for target in [
            format!("/api/v2/trees/{absent}"),
            format!("/api/v2/trees/{absent}/entries"),
            format!("/api/v2/trees/{absent}/history"),
            format!("/api/v2/trees/{absent}/contents/gold.t0"),
            format!("/api/v2/trees/main/diff/{absent}"),
            format!("/api/v1/namespaces/{absent}"),
            format!("/iceberg/{absent}/v1/config"),
            format!("/iceberg/v1/{absent}/namespaces"),
            format!("/iceberg/v1/{absent}/namespaces/gold/tables/t0"),
        ] {
            assert_eq!(world.get("analyst", &target).await.status, 403, "{target}");
        }
    }
    assert_eq!(world.get("analyst", "/api/v2/trees/pub-none").await.status, 404);
    for path in ["silver.t0", "silver.none"] {
        assert_eq!(world.get("analyst", &format!("/api/v2/trees/main/contents/{path}")).await.status, 403);
    }
    assert_eq!(world.get("analyst", "/api/v2/trees/main/contents/gold.none").await.status, 404);
    assert_eq!(world.get("analyst", "/api/v2/trees/main/contents/gold.t0").await.status, 200);
    world.running.stop().await;
}

/// A hash beside a name that may be seen opens nothing that lies elsewhere; nor does a token that somebody made up.
#[tokio::test]
async fn a_hash_borrows_no_rights() {
    let world = prepared().await;
    let (secret, main) = (world.head("secret").await, world.head("main").await);
    for target in [
        format!("/api/v2/trees/main@{secret}/entries"),
        format!("/api/v2/trees/main@{secret}/history"),
        format!("/api/v2/trees/main@{secret}/contents/gold.hidden"),
        format!("/api/v2/trees/main/diff/public@{secret}"),
        format!("/api/v2/trees/@{secret}/entries"),
        format!("/api/v1/trees/tree/main/entries?hashOnRef={secret}"),
        format!("/iceberg/v1/main@{secret}/namespaces"),
        format!("/iceberg/v1/main@{secret}/namespaces/gold/tables/hidden"),
    ] {
        assert_eq!(world.get("analyst", &target).await.status, 403, "{target}");
    }
    let page =
        world.get("reader", &format!("/api/v2/trees/secret@{secret}/entries?max-records=1")).await.ok();
    let token = page["token"].as_str().unwrap();
    let forged = format!("/api/v2/trees/main/entries?page-token={token}");
    assert_eq!(world.get("analyst", &forged).await.status, 403);
    let forged = format!("/api/v2/trees/main/history?page-token={secret}");
    assert_eq!(world.get("analyst", &forged).await.status, 403);
    // What lies in the history of the name is its own.
    assert_eq!(world.get("analyst", &format!("/api/v2/trees/public@{main}/entries")).await.status, 200);
    let rows = "/api/v2/trees?name=pub-x&type=BRANCH".to_owned();
    let source = json!({"type": "BRANCH", "name": "main", "hash": secret});
    assert_eq!(world.by("writer", "POST", &rows, &source).await.status, 403);
    world.running.stop().await;
}

/// Nor does a refusal say which keys there are on a branch that may not be seen.
#[tokio::test]
async fn a_refusal_tells_nothing_of_what_may_not_be_seen() {
    let world = prepared().await;
    let (secret, main) = (world.head("secret").await, world.head("main").await);
    let meta = json!({"message": "m"});
    for who in ["analyst", "stranger"] {
        let refused = async |name: &str, target: &str, body: &Value| {
            let answer = world.by(who, "POST", target, body).await;
            assert_eq!(answer.status, 403, "{who} {target}");
            let told = answer.body.to_string();
            assert!(told.contains(name), "{told}");
            told.replace(name, "it")
        };
        for key in ["gold.hidden", "gold.t0", "gold.none"] {
            let body = json!({"commitMeta": meta, "operations": [put(key)]});
            let commit = async |name| {
                refused(name, &format!("/api/v2/trees/{name}@{main}/history/commit"), &body).await
            };
            assert_eq!(commit("secret").await, commit("nothing").await, "{who} {key}");
        }
        let [merge, transplant] =
            ["merge", "transplant"].map(|what| format!("/api/v2/trees/main@{main}/history/{what}"));
        let from = async |name: &str| {
            let merged = json!({"fromRefName": name, "fromHash": secret});
            let picked = json!({"fromRefName": name, "hashesToTransplant": [secret]});
            (refused(name, &merge, &merged).await, refused(name, &transplant, &picked).await)
        };
        let (merged, picked) = from("secret").await;
        assert!(!merged.contains("hidden") && !picked.contains("hidden"), "{merged} {picked}");
        assert_eq!((merged, picked), from("nothing").await);
        let rebase = async |name: &str| {
            let body = json!({"expectedHash": secret, "onto": "main", "ontoHash": main});
            refused(name, &format!("/ext/v1/refs/{name}:rebase"), &body).await
        };
        assert_eq!(rebase("secret").await, rebase("nothing").await);
    }
    world.running.stop().await;
}

#[tokio::test]
async fn every_key_of_a_commit_is_asked_for_and_the_principal_is_the_committer() {
    let world = prepared().await;
    let committed = world.commit("writer", "main", json!([put("gold.mine")])).await.ok();
    assert!(committed["targetBranch"]["hash"].is_string());
    let log = world.get("reader", "/api/v2/trees/main/history?max-records=1").await.ok();
    let meta = &log["logEntries"][0]["commitMeta"];
    assert_eq!((&meta["committer"], &meta["authors"]), (&json!("writer"), &json!(["writer"])));
    let path = "/iceberg/v1/main/namespaces/gold/tables";
    world.by("writer", "POST", path, &json!({"name": "ice", "schema": schema()})).await.ok();
    let log = world.get("reader", "/api/v2/trees/main/history?max-records=1").await.ok();
    assert_eq!(log["logEntries"][0]["commitMeta"]["committer"], "writer");

    let refused = world.commit("reader", "main", json!([put("gold.new"), delete("gold.t0")])).await;
    assert_eq!(refused.status, 403);
    let message = refused.body["message"].as_str().unwrap().to_owned();
    for part in [
        "'COMMIT_CHANGE_AGAINST_REFERENCE' is not allowed for role 'reader' on reference 'main'",
        "'CREATE_ENTITY' is not allowed for role 'reader' on content 'gold.new'",
        "'DELETE_ENTITY' is not allowed for role 'reader' on content 'gold.t0'",
    ] {
        assert!(message.contains(part), "{message}");
    }
    world.running.stop().await;
}

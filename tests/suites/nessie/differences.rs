//! Where this server differs from the reference server on purpose, a test each.

use serde_json::json;

use crate::harness::{EMPTY, Server, added, drop, head, key, list, put, table, text, update, with_id};

/// The reference server applies only the deletion, and the content is gone under both names.
#[tokio::test]
async fn a_rename_arrives_whole() {
    let server = Server::start().await;
    let id = added(&server.commit("main", "base", json!([put("old", "s3://1")])).await, "old");
    server.create("BRANCH", "dev", "main").await;
    server.create("BRANCH", "other", "main").await;
    let renamed = json!([drop("old"), update("new", "s3://1", &id)]);
    let hash = head(&server.commit("dev", "rename", renamed).await);
    server.merge("dev", "main", json!({})).await.ok();
    server.transplant("dev", &[hash], "other", json!({})).await.ok();
    for branch in ["main", "other"] {
        assert_eq!(server.keys(branch).await, ["new"], "{branch}");
        let found = server.get(&format!("/api/v2/trees/{branch}/contents/new")).await.ok();
        assert_eq!(found["content"], with_id(table("s3://1"), &id));
    }
}

/// The reference server decides the halves apart and leaves one content under two keys, or under none.
#[tokio::test]
async fn halves_of_a_rename_are_left_or_applied_together() {
    let server = Server::start().await;
    let id = added(&server.commit("main", "base", json!([put("old", "s3://1")])).await, "old");
    for branch in ["dev", "left", "applied", "torn", "moved"] {
        server.create("BRANCH", branch, "main").await;
    }
    let hash =
        head(&server.commit("dev", "rename", json!([drop("old"), update("new", "s3://1", &id)])).await);
    let mode = |name: &str, mode: &str| json!({"key": key(name), "mergeBehavior": mode});

    let left = json!({"keyMergeModes": [mode("old", "DROP")]});
    let merged = server.merge("dev", "left", left.clone()).await.ok();
    let details = json!([
        {"key": key("new"), "mergeBehavior": "DROP"},
        {"key": key("old"), "mergeBehavior": "DROP"},
    ]);
    assert_eq!((&merged["details"], server.keys("left").await), (&details, vec!["old".to_owned()]));
    server.transplant("dev", std::slice::from_ref(&hash), "left", left).await.ok();
    assert_eq!(server.keys("left").await, ["old"]);

    let applied = json!({"defaultKeyMergeMode": "DROP", "keyMergeModes": [mode("new", "FORCE")]});
    server.merge("dev", "applied", applied).await.ok();
    assert_eq!(server.keys("applied").await, ["new"]);

    let torn = json!({"keyMergeModes": [mode("old", "DROP"), mode("new", "FORCE")]});
    for answer in [
        server.merge("dev", "torn", torn.clone()).await,
        server.transplant("dev", &[hash], "torn", torn).await,
    ] {
        let conflicts = answer.failed(409, "REFERENCE_CONFLICT")["errorDetails"]["conflicts"].clone();
        let conflict = list(&conflicts).iter().find(|conflict| conflict["key"] == key("new")).cloned();
        let conflict = conflict.expect("a conflict on the key to be applied");
        assert_eq!(conflict["conflictType"], "KEY_CONFLICT");
        assert!(text(&conflict["message"]).contains("'old'"), "{conflict}");
    }
    assert_eq!(server.keys("torn").await, ["old"]);

    // The target has renamed it, and the source goes on with the old name.
    server.create("BRANCH", "on", "main").await;
    server.commit("on", "m", json!([update("old", "s3://2", &id)])).await;
    server.commit("moved", "rename", json!([drop("old"), update("moved", "s3://1", &id)])).await;
    let forced = json!({"defaultKeyMergeMode": "FORCE"});
    let error = server.merge("on", "moved", forced).await.failed(409, "REFERENCE_CONFLICT");
    let conflict = &error["errorDetails"]["conflicts"][0];
    assert_eq!((&conflict["conflictType"], &conflict["key"]), (&json!("KEY_CONFLICT"), &key("old")));
    assert!(text(&conflict["message"]).contains("'moved'"), "{conflict}");
    assert_eq!(server.keys("moved").await, ["moved"]);
}

/// The reference server finds no common ancestor.
#[tokio::test]
async fn branches_cut_from_an_empty_default_branch_merge() {
    let server = Server::start().await;
    server.create("BRANCH", "dev", "main").await;
    server.commit("dev", "m", json!([put("a", "s3://1")])).await;
    server.commit("main", "m", json!([put("b", "s3://2")])).await;
    let merged = server.merge("dev", "main", json!({})).await.ok();
    assert_eq!(merged["commonAncestor"], EMPTY);
    assert_eq!(server.keys("main").await, ["a", "b"]);
}

/// The reference server deletes every key of the target.
#[tokio::test]
async fn an_empty_source_brings_nothing() {
    let server = Server::start().await;
    server.create("BRANCH", "empty", "main").await;
    server.commit("main", "m", json!([put("a", "s3://1")])).await;
    let before = server.head("main").await;
    let merged = server.merge("empty", "main", json!({})).await.ok();
    assert_eq!((&merged["wasApplied"], &merged["resultantTargetHash"]), (&json!(false), &json!(before)));
    assert_eq!(server.keys("main").await, ["a"]);
}

/// The reference server drops the target's properties.
#[tokio::test]
async fn a_namespace_put_on_both_sides_keeps_what_only_the_target_says() {
    let server = Server::start().await;
    let namespace = |properties| {
        let content = json!({"type": "NAMESPACE", "elements": ["n"], "properties": properties});
        json!([{"type": "PUT", "key": key("n"), "content": content}])
    };
    server.create("BRANCH", "dev", "main").await;
    server.create("BRANCH", "picked", "main").await;
    for branch in ["main", "picked"] {
        server.commit(branch, "m", namespace(json!({"a": "1", "b": "2"}))).await;
    }
    let made = server.commit("dev", "m", namespace(json!({"b": "3", "c": "4"}))).await;
    server.merge("dev", "main", json!({})).await.ok();
    server.transplant("dev", &[head(&made)], "picked", json!({})).await.ok();
    for branch in ["main", "picked"] {
        let found = server.get(&format!("/api/v2/trees/{branch}/contents/n")).await.ok();
        // The id is the source's, as the reference server has it.
        assert_eq!(found["content"]["id"], added(&made, "n"), "{branch}");
        assert_eq!(found["content"]["properties"], json!({"a": "1", "b": "3", "c": "4"}), "{branch}");
    }
}

/// The reference server can create both in a race.
#[tokio::test]
async fn a_branch_and_a_tag_never_share_a_name() {
    let server = Server::start().await;
    let hash = head(&server.commit("main", "m", json!([put("t", "s3://1")])).await);
    for round in 0..8 {
        let create = |kind: &'static str| {
            let source = json!({"type": "BRANCH", "name": "main", "hash": hash});
            let path = format!("/api/v2/trees?name=n{round}&type={kind}");
            let server = &server;
            async move { server.post(&path, source).await }
        };
        let answers = tokio::join!(create("BRANCH"), create("TAG"), create("BRANCH"), create("TAG"));
        let answers = [answers.0, answers.1, answers.2, answers.3];
        let made = answers.iter().filter(|answer| answer.status == 200).count();
        let taken = answers.iter().filter(|answer| answer.status == 409).count();
        assert_eq!((made, taken), (1, 3), "{answers:?}");
        let found = server.get(&format!("/api/v2/trees?filter=ref.name=='n{round}'")).await.ok();
        assert_eq!(list(&found["references"]).len(), 1);
    }
}

/// Two branches that were never empty at one time have nothing in common, not even the empty state.
#[tokio::test]
async fn a_branch_begun_from_nothing_beside_others_merges_only_by_a_setting() {
    for merges in [false, true] {
        let server = if merges { Server::with_unrelated_merges().await } else { Server::start().await };
        let target = head(&server.commit("main", "m", json!([put("b", "s3://2")])).await);
        server.create_at("BRANCH", "dev", "main", EMPTY).await.ok();
        assert_eq!(
            server.merge("dev", "main", json!({})).await.ok()["wasApplied"],
            false,
            "it brings nothing yet"
        );
        let from = head(&server.commit("dev", "m", json!([put("a", "s3://1")])).await);
        let answer = server.merge("dev", "main", json!({})).await;
        if merges {
            assert_eq!(answer.ok()["commonAncestor"], EMPTY);
            continue;
        }
        let refused = answer.failed(404, "REFERENCE_NOT_FOUND");
        assert_eq!(refused["message"], format!("No common ancestor in parents of {target} and {from}"));
        // The other way round it is the target that came later; and an empty target takes whatever comes.
        server.merge("main", "dev", json!({})).await.failed(404, "REFERENCE_NOT_FOUND");
        server.create_at("BRANCH", "late", "main", EMPTY).await.ok();
        assert_eq!(server.merge("dev", "late", json!({})).await.ok()["wasApplied"], true);
    }
}

/// The reference server checks every commit against the old head.
#[tokio::test]
async fn a_dry_transplant_answers_as_the_real_one() {
    let server = Server::start().await;
    server.create("BRANCH", "dev", "main").await;
    let first = server.commit("dev", "one", json!([put("a", "s3://1")])).await;
    let one = head(&first);
    let two = head(&server.commit("dev", "two", json!([update("a", "s3://2", &added(&first, "a"))])).await);
    let dry =
        server.transplant("dev", &[one.clone(), two.clone()], "main", json!({"isDryRun": true})).await.ok();
    assert_eq!(dry["wasSuccessful"], true, "{dry}");
    let real = server.transplant("dev", &[one, two], "main", json!({})).await.ok();
    assert_eq!(real["details"], dry["details"]);
}

/// The reference server writes them in lower case.
#[tokio::test]
async fn property_names_keep_their_case() {
    let server = Server::start().await;
    let body = json!({
        "commitMeta": {"message": "m", "allProperties": {"App-Id": ["x"], "app-id": ["y"]}},
        "operations": [put("t", "s3://1")],
    });
    server.post(&format!("/api/v2/trees/main@{EMPTY}/history/commit"), body).await.ok();
    let log = server.get("/api/v2/trees/main/history").await.ok();
    assert_eq!(
        log["logEntries"][0]["commitMeta"]["allProperties"],
        json!({"App-Id": ["x"], "app-id": ["y"]})
    );
    let log = server.get("/api/v1/trees/tree/main/log").await.ok();
    assert_eq!(log["logEntries"][0]["commitMeta"]["properties"], json!({"App-Id": "x", "app-id": "y"}));
}

/// The reference server keeps only the last relative part of a path.
#[tokio::test]
async fn every_relative_part_counts() {
    let server = Server::start().await;
    server.commit("main", "one", json!([put("a", "s3://1")])).await;
    server.create("BRANCH", "dev", "main").await;
    let dev = head(&server.commit("dev", "dev", json!([put("b", "s3://2")])).await);
    server.merge("dev", "main", json!({})).await.ok();
    server.commit("main", "last", json!([put("c", "s3://3")])).await;
    let found = server.get("/api/v2/trees/main~1%5E2/history?max-records=1").await.ok();
    assert_eq!(found["logEntries"][0]["commitMeta"]["hash"], dev);
}

/// The reference server gives all commits of one transplant the same time.
#[tokio::test]
async fn commits_of_a_transplant_have_times_of_their_own() {
    let server = Server::start().await;
    server.create("BRANCH", "dev", "main").await;
    let mut hashes = Vec::new();
    for n in 0..4 {
        hashes.push(head(&server.commit("dev", "m", json!([put(&format!("t{n}"), "s3://1")])).await));
    }
    server.transplant("dev", &hashes, "main", json!({})).await.ok();
    let log = server.get("/api/v2/trees/main/history").await.ok();
    // Zeros at the end of a fraction are not written.
    let in_full = |time: String| format!("{:0<26}", time.trim_end_matches('Z').replace('.', " "));
    let times: Vec<String> =
        list(&log["logEntries"]).iter().map(|e| in_full(text(&e["commitMeta"]["commitTime"]))).collect();
    assert!(times.is_sorted_by(|newer, older| newer > older), "{times:?}");
}

/// The reference server merges for real when the published spelling of the boolean is used.
#[tokio::test]
async fn both_spellings_of_a_dry_run_are_dry() {
    let server = Server::start().await;
    server.create("BRANCH", "dev", "main").await;
    server.commit("dev", "m", json!([put("a", "s3://1")])).await;
    server.merge("dev", "main", json!({"dryRun": true})).await.ok();
    assert_eq!(server.head("main").await, EMPTY);
}

/// A plus sign in a path is a space, as form encoding has it.
#[tokio::test]
async fn plus_is_a_space_in_paths() {
    let server = Server::start().await;
    server.commit("main", "m", json!([put("a b", "s3://1")])).await;
    server.get("/api/v2/trees/main/contents/a+b").await.ok();
}

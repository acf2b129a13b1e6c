//! Main flows of API v2.

use serde_json::json;

use crate::harness::{
    CLIENT_SPEC, EMPTY, Server, added, dotted, drop, head, key, list, put, put_namespace, table, text,
    update, with_id,
};

#[tokio::test]
async fn what_the_server_says_of_itself() {
    let server = Server::start().await;
    let config = server.get("/api/v2/config").await.ok();
    assert_eq!(config["actualApiVersion"], 2);
    assert_eq!(config["specVersion"], "2.2.0");
    assert_eq!(config["noAncestorHash"], EMPTY);
    assert_eq!(config["repositoryCreationTimestamp"], config["oldestPossibleCommitTimestamp"]);
    let trees = server.get("/api/v2/trees").await.ok();
    assert_eq!(
        trees,
        json!({"hasMore": false, "token": null, "references": [{"type": "BRANCH", "name": "main", "hash": EMPTY}]})
    );
}

#[tokio::test]
async fn references_live_and_die() {
    let server = Server::start().await;
    let first = head(&server.commit("main", "first", json!([put("t", "s3://b/1")])).await);
    let made = server.create("BRANCH", "dev", "main").await;
    assert_eq!(made["reference"], json!({"type": "BRANCH", "name": "dev", "hash": first}));
    server.create("TAG", "v1", "main").await;
    let again =
        server.post("/api/v2/trees?name=v1&type=BRANCH", json!({"type": "DETACHED", "hash": first})).await;
    let message = text(&again.failed(409, "REFERENCE_ALREADY_EXISTS")["message"]);
    assert_eq!(message, "Named reference 'v1' already exists.");

    let second = head(&server.commit("dev", "second", json!([put("u", "s3://b/2")])).await);
    let to = json!({"type": "BRANCH", "name": "dev", "hash": second});
    let stale = server.put(&format!("/api/v2/trees/v1@{second}?type=TAG"), to.clone()).await;
    let conflict = &stale.failed(409, "REFERENCE_CONFLICT")["errorDetails"]["conflicts"][0];
    assert_eq!(conflict["conflictType"], "UNEXPECTED_HASH");
    assert!(conflict["key"].is_null());
    let moved = server.put(&format!("/api/v2/trees/v1@{first}?type=TAG"), to).await.ok();
    assert_eq!(moved["reference"]["hash"], second);

    let kind = server.delete(&format!("/api/v2/trees/v1@{second}?type=branch")).await.refused();
    assert!(kind.contains("TagName{name=v1}"), "{kind}");
    server.delete(&format!("/api/v2/trees/v1@{second}")).await.ok();
    server.get("/api/v2/trees/v1").await.failed(404, "REFERENCE_NOT_FOUND");
    let main = server.delete(&format!("/api/v2/trees/main@{first}")).await.refused();
    assert_eq!(main, "Default branch 'main' cannot be deleted.");
    // Commits of a deleted reference stay readable.
    assert_eq!(server.keys(&format!("@{second}")).await, ["t", "u"]);
}

#[tokio::test]
async fn references_are_listed_branches_first() {
    let server = Server::start().await;
    for (kind, name) in [("TAG", "a"), ("BRANCH", "z"), ("BRANCH", "c"), ("TAG", "b")] {
        server.create(kind, name, "main").await;
    }
    let mut names = Vec::new();
    let mut token = String::new();
    loop {
        let page = server.get(&format!("/api/v2/trees?max-records=2{token}")).await.ok();
        names.extend(list(&page["references"]).iter().map(|one| text(&one["name"])));
        assert_eq!(page["hasMore"] == json!(true), page["token"].is_string());
        if page["hasMore"] == json!(false) {
            break;
        }
        token = format!("&page-token={}", text(&page["token"]));
    }
    assert_eq!(names, ["c", "main", "z", "a", "b"]);
    let filtered = server.get("/api/v2/trees?filter=refType%20%3D%3D%20'TAG'&max-records=2").await.ok();
    assert_eq!(filtered["hasMore"], false, "no further page without a further tag: {filtered}");
    assert_eq!(list(&filtered["references"]).len(), 2);
}

#[tokio::test]
async fn metadata_of_references() {
    let server = Server::start().await;
    server.commit("main", "base", json!([put("t", "s3://b/1")])).await;
    let base = server.head("main").await;
    server.create("BRANCH", "dev", "main").await;
    server.commit("dev", "one", json!([put("u", "s3://b/2")])).await;
    server.commit("dev", "two", json!([put("v", "s3://b/3")])).await;
    server.commit("main", "other", json!([put("w", "s3://b/4")])).await;
    let dev = server.get("/api/v2/trees/dev?fetch=ALL").await.ok();
    let metadata = &dev["reference"]["metadata"];
    assert_eq!(metadata["numCommitsAhead"], 2);
    assert_eq!(metadata["numCommitsBehind"], 1);
    assert_eq!(metadata["commonAncestorHash"], base);
    assert_eq!(metadata["numTotalCommits"], 3);
    let log = server.get("/api/v2/trees/dev/history?max-records=1").await.ok();
    assert_eq!(metadata["commitMetaOfHEAD"], log["logEntries"][0]["commitMeta"]);
    let main = server.get("/api/v2/trees/-?fetch=ALL").await.ok();
    assert!(main["reference"]["metadata"]["numCommitsAhead"].is_null());
    // The default branch has no such number, and nothing compares with that.
    let filter = "refMeta.numCommitsAhead%20%3E%201";
    server.get(&format!("/api/v2/trees?fetch=ALL&filter={filter}")).await.failed(400, "BAD_REQUEST");
    let filter = format!("has(refMeta.numCommitsAhead)%20%26%26%20{filter}");
    let found = server.get(&format!("/api/v2/trees?fetch=ALL&filter={filter}")).await.ok();
    assert_eq!(list(&found["references"]).len(), 1);
}

#[tokio::test]
async fn contents_come_back_as_committed() {
    let server = Server::start().await;
    let view = json!({"type": "ICEBERG_VIEW", "metadataLocation": "s3://b/v", "versionId": 3, "schemaId": 1,
        "sqlText": "-", "dialect": "-"});
    let delta = json!({"type": "DELTA_LAKE_TABLE", "metadataLocationHistory": ["a"], "checkpointLocationHistory": [],
        "lastCheckpoint": null});
    let udf = json!({"type": "UDF", "sqlText": "SELECT 1", "dialect": "spark"});
    let operations = json!([
        put_namespace("db"),
        {"type": "PUT", "key": key("db.t"), "content": table("s3://b/1")},
        {"type": "PUT", "key": key("db.v"), "content": view},
        {"type": "PUT", "key": key("db.d"), "content": delta},
        {"type": "PUT", "key": key("db.f"), "content": udf},
    ]);
    let committed = server.commit("main", "all kinds", operations).await;
    for (at, content) in [("db.t", table("s3://b/1")), ("db.v", view), ("db.d", delta), ("db.f", udf)] {
        let found = server.get(&format!("/api/v2/trees/main/contents/{at}")).await.ok();
        assert_eq!(found["content"], with_id(content, &added(&committed, at)));
        assert_eq!(found["effectiveReference"], committed["targetBranch"]);
    }
    let several = server
        .post("/api/v2/trees/main/contents", json!({"requestedKeys": [key("db.v"), key("x"), key("db")]}));
    let several = several.await.ok();
    let keys: Vec<String> = list(&several["contents"]).iter().map(|one| dotted(&one["key"])).collect();
    assert_eq!(keys, ["db.v", "db"]);
    let missing = server.get("/api/v2/trees/main/contents/db.x").await.failed(404, "CONTENT_NOT_FOUND");
    assert_eq!(missing["errorDetails"], json!({"type": "CONTENT_KEY", "contentKey": key("db.x")}));
    let old = server.send("GET", "/api/v2/trees/main/contents/db.x", &[(CLIENT_SPEC, "1")], "").await;
    assert!(
        old.failed(404, "CONTENT_NOT_FOUND").get("errorDetails").is_none(),
        "only for clients that know them"
    );
}

#[tokio::test]
async fn entries_by_range_page_and_filter() {
    let server = Server::start().await;
    let operations = json!([
        put_namespace("a"),
        put("a.t", "s3://1"),
        put("a.u", "s3://2"),
        put_namespace("b"),
        put("b.t", "s3://3"),
        put("c", "s3://4")
    ]);
    let first = head(&server.commit("main", "m", operations).await);
    let keys = |query: &'static str| {
        let server = &server;
        async move {
            let found = server.get(&format!("/api/v2/trees/main/entries?{query}")).await.ok();
            list(&found["entries"]).iter().map(|entry| dotted(&entry["name"])).collect::<Vec<_>>()
        }
    };
    assert_eq!(keys("prefix-key=a").await, ["a", "a.t", "a.u"]);
    assert_eq!(keys("min-key=a.u&max-key=b").await, ["a.u", "b"]);
    assert_eq!(keys("key=c&key=a.t&key=none").await, ["a.t", "c"]);
    assert_eq!(keys("filter=entry.contentType%3D%3D'NAMESPACE'").await, ["a", "b"]);
    assert_eq!(
        keys("filter=entry.encodedKey.startsWith('a.')%20%26%26%20size(entry.keyElements)%3D%3D2").await,
        ["a.t", "a.u"]
    );
    let both = server.get("/api/v2/trees/main/entries?prefix-key=a&min-key=a").await.refused();
    assert_eq!(both, "Combining prefixKey with either minKey or maxKey is not supported.");

    // The pages of one listing show one state, though the branch moves meanwhile.
    let page = server.get("/api/v2/trees/main/entries?max-records=4").await.ok();
    server.commit("main", "gone", json!([drop("b.t")])).await;
    let token = text(&page["token"]);
    let rest = server.get(&format!("/api/v2/trees/main/entries?max-records=4&page-token={token}")).await.ok();
    let names: Vec<String> = list(&rest["entries"]).iter().map(|entry| dotted(&entry["name"])).collect();
    assert_eq!(names, ["b.t", "c"]);
    assert_eq!(rest["effectiveReference"]["hash"], first);
    assert_eq!(rest["hasMore"], false);
}

/// The reference server takes a token for a place in whatever is listed.
#[tokio::test]
async fn a_page_token_goes_on_with_its_own_listing_only() {
    let server = Server::start().await;
    let abc = json!([put("a", "s3://1"), put("b", "s3://2"), put("c", "s3://3")]);
    let first = head(&server.commit("main", "m", abc).await);
    server.create("BRANCH", "dev", "main").await;
    let dev = head(&server.commit("dev", "m", json!([put("bb", "s3://4"), put("d", "s3://5")])).await);
    server.create("BRANCH", "other", "dev").await;
    let other = head(&server.commit("other", "m", json!([drop("c")])).await);
    let token = async |target: &str| {
        let page = server.get(&format!("/api/v2/trees/{target}?max-records=1")).await.ok();
        text(&page["token"]).to_owned()
    };
    let entries = token("dev/entries").await;
    let diff = token("main/diff/dev").await;
    // Wherever the references are by now, and under every name of the same state.
    server.commit("dev", "m", json!([drop("a"), put("e", "s3://6")])).await;
    for at in ["dev".to_owned(), format!("dev@{dev}"), format!("@{dev}"), format!("other@{dev}")] {
        let rest = server.get(&format!("/api/v2/trees/{at}/entries?page-token={entries}")).await.ok();
        assert_eq!(list(&rest["entries"]).len(), 4, "{at}");
        let rest = server.get(&format!("/api/v2/trees/main/diff/{at}?page-token={diff}")).await.ok();
        assert_eq!(list(&rest["diffs"]).len(), 1, "{at}");
    }
    for target in [
        format!("/api/v2/trees/main/entries?page-token={entries}"),
        format!("/api/v2/trees/other/entries?page-token={entries}"),
        format!("/api/v2/trees/dev@{first}/entries?page-token={entries}"),
        format!("/api/v2/trees/@{other}/entries?page-token={entries}"),
        format!("/api/v1/trees/tree/main/entries?pageToken={entries}"),
        format!("/api/v2/trees/main/diff/other?page-token={diff}"),
        format!("/api/v2/trees/other/diff/dev?page-token={diff}"),
        format!("/api/v2/trees/dev/diff/main?page-token={diff}"),
    ] {
        let told = server.get(&target).await.refused();
        assert!(told.starts_with("The page token belongs to another request"), "{target}: {told}");
    }
    // What is missing is told before.
    let gone = server.get(&format!("/api/v2/trees/none/entries?page-token={entries}")).await;
    gone.failed(404, "REFERENCE_NOT_FOUND");
    let rest = server.get(&format!("/api/v1/trees/tree/dev/entries?pageToken={entries}")).await.ok();
    assert_eq!(list(&rest["entries"]).len(), 4);
}

#[tokio::test]
async fn the_log_pages_and_stops() {
    let server = Server::start().await;
    let mut heads = Vec::new();
    for n in 0..5 {
        heads.push(head(
            &server.commit("main", &format!("m{n}"), json!([put(&format!("t{n}"), "s3://b")])).await,
        ));
    }
    let page = server.get("/api/v2/trees/main/history?max-records=2&fetch=ALL").await.ok();
    assert_eq!(page["token"], heads[2]);
    let entry = &page["logEntries"][0];
    assert_eq!(entry["commitMeta"]["hash"], heads[4]);
    assert_eq!(entry["parentCommitHash"], heads[3]);
    assert_eq!(entry["operations"][0]["type"], "PUT");
    assert!(entry["operations"][0]["documentation"].is_null());
    let last =
        server.get(&format!("/api/v2/trees/main/history?max-records=3&page-token={}", heads[2])).await.ok();
    assert_eq!(list(&last["logEntries"]).len(), 3);
    assert_eq!(last["hasMore"], false);
    let limited = server.get(&format!("/api/v2/trees/main/history?limit-hash={}", heads[3])).await.ok();
    assert_eq!(list(&limited["logEntries"]).len(), 2);
    assert!(limited["logEntries"][0]["operations"].is_null());
    let filtered = server
        .get("/api/v2/trees/main/history?filter=commit.message%20in%20['m1','m3']&max-records=1")
        .await
        .ok();
    assert_eq!(filtered["token"], heads[1]);
    // Times increase, and the time of a commit less a nanosecond is its parent.
    let time = text(
        &server.get(&format!("/api/v2/trees/@{}/history?max-records=1", heads[3])).await.ok()["logEntries"]
            [0]["commitMeta"]["commitTime"],
    );
    let at = server.get(&format!("/api/v2/trees/main*{time}/history?max-records=1")).await.ok();
    assert_eq!(at["logEntries"][0]["commitMeta"]["hash"], heads[3]);
}

#[tokio::test]
async fn conflicts_name_their_kind() {
    let server = Server::start().await;
    let first = server.commit("main", "first", json!([put_namespace("db"), put("db.t", "s3://1")])).await;
    let id = added(&first, "db.t");
    server.commit("main", "second", json!([update("db.t", "s3://2", &id), put("db.u", "s3://3")])).await;
    let at_first = format!("main@{}", head(&first));
    let conflicts = |operations| {
        let (server, point) = (&server, at_first.clone());
        async move {
            let body = server.commit_at(&point, "m", operations).await.failed(409, "REFERENCE_CONFLICT");
            let all = list(&body["errorDetails"]["conflicts"]);
            all.iter().map(|one| text(&one["conflictType"])).collect::<Vec<_>>()
        }
    };
    assert_eq!(conflicts(json!([update("db.t", "s3://9", &id)])).await, ["VALUE_DIFFERS"]);
    assert_eq!(conflicts(json!([put("db.u", "s3://9")])).await, ["KEY_EXISTS"]);
    assert_eq!(conflicts(json!([drop("db.x")])).await, ["KEY_DOES_NOT_EXIST"]);
    assert_eq!(conflicts(json!([drop("db")])).await, ["NAMESPACE_NOT_EMPTY"]);
    assert_eq!(conflicts(json!([put("x.y.t", "s3://9")])).await, ["NAMESPACE_ABSENT", "NAMESPACE_ABSENT"]);
    assert_eq!(conflicts(json!([put("db.t.x", "s3://9")])).await, ["NOT_A_NAMESPACE"]);
    // What does not touch the same keys lands on the newer head.
    let parent = server.head("main").await;
    server.commit_at(&at_first, "m", json!([put("db.w", "s3://9")])).await.ok();
    let log = server.get("/api/v2/trees/main/history?max-records=1").await.ok();
    assert_eq!(log["logEntries"][0]["parentCommitHash"], parent);
}

#[tokio::test]
async fn commit_headers_add_to_the_body() {
    let server = Server::start().await;
    let headers = [
        ("content-type", "application/json"),
        ("nessie-commit-message", "from the header"),
        ("nessie-commit-authors", "bob, eve"),
        ("nessie-commit-signedoffby", "sue"),
        ("nessie-commit-property-app-id", "x"),
    ];
    let body =
        json!({"commitMeta": {"message": "m", "authors": ["ann"]}, "operations": [put("t", "s3://1")]});
    server
        .send("POST", &format!("/api/v2/trees/main@{EMPTY}/history/commit"), &headers, &body.to_string())
        .await
        .ok();
    let log = server.get("/api/v2/trees/main/history").await.ok();
    let meta = &log["logEntries"][0]["commitMeta"];
    assert_eq!(meta["message"], "from the header");
    assert_eq!(meta["authors"], json!(["ann", "bob", "eve"]));
    assert_eq!(meta["allSignedOffBy"], json!(["sue"]));
    assert_eq!(meta["allProperties"], json!({"app-id": ["x"]}));
    assert_eq!(meta["committer"], "");
}

#[tokio::test]
async fn diffs_show_both_sides() {
    let server = Server::start().await;
    let first =
        server.commit("main", "m", json!([put("a", "s3://1"), put("b", "s3://2"), put("c", "s3://3")])).await;
    server.create("BRANCH", "dev", "main").await;
    server
        .commit(
            "dev",
            "m",
            json!([update("b", "s3://9", &added(&first, "b")), drop("c"), put("d", "s3://4")]),
        )
        .await;
    let diff = server.get("/api/v2/trees/main/diff/dev").await.ok();
    let sides: Vec<(String, bool, bool)> = list(&diff["diffs"])
        .iter()
        .map(|one| (dotted(&one["key"]), one["from"].is_null(), one["to"].is_null()))
        .collect();
    assert_eq!(sides, [("b".into(), false, false), ("c".into(), false, true), ("d".into(), true, false)]);
    assert_eq!(diff["effectiveToReference"]["name"], "dev");
    let page = server.get("/api/v2/trees/main/diff/dev?max-records=2").await.ok();
    let token = text(&page["token"]);
    let rest =
        server.get(&format!("/api/v2/trees/main/diff/dev?max-records=2&page-token={token}")).await.ok();
    assert_eq!(list(&rest["diffs"]).len(), 1);
    let filtered = server.get("/api/v2/trees/main/diff/dev?filter=key.name%3D%3D'c'").await.ok();
    assert_eq!(list(&filtered["diffs"]).len(), 1);
}

#[tokio::test]
async fn a_merge_is_one_commit_with_two_parents() {
    let server = Server::start().await;
    server.commit("main", "base", json!([put("a", "s3://1")])).await;
    server.create("BRANCH", "dev", "main").await;
    server.commit("dev", "one", json!([put("b", "s3://2")])).await;
    let dev = head(&server.commit("dev", "two", json!([put("c", "s3://3")])).await);
    let main = server.head("main").await;
    let dry = server.merge("dev", "main", json!({"isDryRun": true})).await.ok();
    assert_eq!((&dry["wasApplied"], &dry["resultantTargetHash"]), (&json!(false), &json!(null)));
    let merged = server.merge("dev", "main", json!({})).await.ok();
    assert_eq!(merged["commonAncestor"], main);
    assert_eq!(merged["resultantTargetHash"], server.head("main").await);
    let log = server.get("/api/v2/trees/main/history").await.ok();
    let meta = &log["logEntries"][0]["commitMeta"];
    assert_eq!(meta["parentCommitHashes"], json!([main, dev]));
    assert_eq!(meta["message"], format!("Merged dev at {dev} into main at {main}"));
    assert_eq!(list(&log["logEntries"]).len(), 2);
    let again = server.merge("dev", "main", json!({})).await.ok();
    assert_eq!((&again["wasApplied"], &again["wasSuccessful"]), (&json!(false), &json!(true)));
}

#[tokio::test]
async fn merge_conflicts_are_an_error_or_an_answer() {
    let server = Server::start().await;
    let id = added(&server.commit("main", "base", json!([put("a", "s3://1")])).await, "a");
    server.create("BRANCH", "dev", "main").await;
    server.commit("dev", "m", json!([update("a", "s3://2", &id), put("new", "s3://5")])).await;
    server.commit("main", "m", json!([update("a", "s3://3", &id)])).await;
    let refused = server.merge("dev", "main", json!({})).await.failed(409, "REFERENCE_CONFLICT");
    assert_eq!(refused["message"], "The following keys have been changed in conflict: 'a'");
    assert_eq!(refused["errorDetails"]["conflicts"][0]["conflictType"], "VALUE_DIFFERS");
    let told = server.merge("dev", "main", json!({"isReturnConflictAsResult": true})).await.ok();
    assert_eq!(told["wasSuccessful"], false);
    assert_eq!(list(&told["details"]).len(), 2);
    let modes = json!({"keyMergeModes": [{"key": key("a"), "mergeBehavior": "FORCE"}]});
    server.merge("dev", "main", modes).await.ok();
    let found = server.get("/api/v2/trees/main/contents/a").await.ok();
    assert_eq!(found["content"]["metadataLocation"], "s3://2");
}

#[tokio::test]
async fn transplants_keep_their_commits() {
    let server = Server::start().await;
    server.commit("main", "base", json!([put("a", "s3://1")])).await;
    server.create("BRANCH", "dev", "main").await;
    let one = head(&server.commit("dev", "one", json!([put("b", "s3://2")])).await);
    let two = head(&server.commit("dev", "two", json!([put("c", "s3://3")])).await);
    let wrong = server.transplant("dev", &[two.clone(), one.clone()], "main", json!({})).await.refused();
    assert_eq!(wrong, "Sequence of hashes is not contiguous.");
    let done = server.transplant("dev", &[one, two], "main", json!({})).await.ok();
    assert!(done["commonAncestor"].is_null());
    let log = server.get("/api/v2/trees/main/history").await.ok();
    let messages: Vec<String> =
        list(&log["logEntries"]).iter().map(|e| text(&e["commitMeta"]["message"])).collect();
    assert_eq!(messages, ["two", "one", "base"]);
}

#[tokio::test]
async fn recent_changes_show_at_most_twenty_heads() {
    let server = Server::start().await;
    for n in 0..21 {
        let shown = server.get("/api/v2/trees/main/recent-changes").await.ok();
        assert_eq!(list(&shown["previous"]).len(), n.min(20));
        server.commit("main", "m", json!([put(&format!("t{n}"), "s3://b")])).await;
    }
    let shown = server.get("/api/v2/trees/main/recent-changes").await.ok();
    assert_eq!(list(&shown["previous"]).len(), 20);
    // Where a reference is put where it stands, nothing has changed.
    let head = server.head("main").await;
    for _ in 0..70 {
        server
            .put(&format!("/api/v2/trees/main@{head}"), json!({"type": "DETACHED", "hash": head}))
            .await
            .ok();
    }
    assert_eq!(server.get("/api/v2/trees/main/recent-changes").await.ok()["previous"], shown["previous"]);
    assert_eq!(server.get("/api/v2/trees/main/recent-changes?scan-commits=x").await.status, 404);
}

/// The head and as many commits below it.
#[tokio::test]
async fn recent_changes_look_at_a_thousand_commits() {
    let server = Server::start().await;
    let mut commits = Vec::new();
    for n in 0..1_003 {
        commits.push(head(&server.commit("main", "m", json!([put(&format!("t{n}"), "s3://b")])).await));
    }
    for (lost, state) in [(1, "COMMIT_CONSISTENT"), (2, "COMMIT_INCONSISTENT")] {
        server.lose(&commits[lost]).await;
        let found =
            server.again().await.get("/api/v2/trees/main/recent-changes?scan-commits=100000").await.ok();
        assert_eq!(found["commitLogConsistency"], state, "without commit {lost}");
    }
}

#[tokio::test]
async fn recent_changes_and_settings() {
    let server = Server::start().await;
    for n in 0..10 {
        server.commit("main", "m", json!([put(&format!("t{n}"), "s3://b")])).await;
    }
    let found = server.get("/api/v2/trees/main/recent-changes?scan-commits=100").await.ok();
    assert_eq!(list(&found["previous"]).len(), 10);
    assert_eq!(found["commitLogConsistency"], "COMMIT_CONSISTENT");
    assert!(found["previous"][9]["meta"].is_null());
    assert_eq!(found["current"]["commitHash"], server.head("main").await);
    let config = json!({"type": "GARBAGE_COLLECTOR", "defaultCutoffPolicy": "P30D"});
    let first = server.post("/api/v2/config/repository", json!({"config": config})).await.ok();
    assert_eq!(first, json!({"previous": null}));
    let second =
        server.post("/api/v2/config/repository", json!({"config": {"type": "GARBAGE_COLLECTOR"}})).await.ok();
    assert_eq!(second["previous"], config);
    let stored = server.get("/api/v2/config/repository?type=GARBAGE_COLLECTOR").await.ok();
    assert_eq!(stored, json!({"configs": [{"type": "GARBAGE_COLLECTOR"}]}));
}

//! Main flows of API v1: what pynessie and older engines call.

use serde_json::{Value, json};

use crate::harness::{EMPTY, Server, dotted, key, list, put, put_namespace, table, text};

/// Fails on any field that only API v2 has.
fn assert_plain(value: &Value) {
    const ONLY_V2: [&str; 13] = [
        "allProperties",
        "allSignedOffBy",
        "authors",
        "parentCommitHashes",
        "effectiveReference",
        "effectiveFromReference",
        "effectiveToReference",
        "contentId",
        "documentation",
        "addedContents",
        "reference",
        "conflict",
        "specVersion",
    ];
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                assert!(!ONLY_V2.contains(&name.as_str()), "'{name}' is a field of v2");
                assert_plain(value);
            }
        }
        Value::Array(all) => all.iter().for_each(assert_plain),
        _ => {}
    }
}

#[tokio::test]
async fn a_whole_life() {
    let server = Server::start().await;
    assert_eq!(
        server.get("/api/v1/config").await.ok(),
        json!({"defaultBranch": "main", "maxSupportedApiVersion": 2})
    );
    let main = server.get("/api/v1/trees/tree").await.ok();
    assert_eq!(main, json!({"type": "BRANCH", "name": "main", "hash": EMPTY}));

    let operations = json!({
        "commitMeta": {"hash": null, "commitTime": null, "author": "ann", "properties": null, "message": "first"},
        "operations": [put_namespace("db"),
            {"type": "PUT", "key": key("db.t"), "content": table("s3://1"), "expectedContent": null}],
    });
    let head =
        server.post(&format!("/api/v1/trees/branch/main/commit?expectedHash={EMPTY}"), operations).await.ok();
    assert_eq!(head["type"], "BRANCH");
    let first = text(&head["hash"]);

    let made = server.post(
        "/api/v1/trees/tree?sourceRefName=main",
        json!({"type": "BRANCH", "name": "dev", "hash": first}),
    );
    assert_eq!(made.await.ok(), json!({"type": "BRANCH", "name": "dev", "hash": first}));
    let log = server.get("/api/v1/trees/tree/main/log?fetch=ALL").await.ok();
    assert_plain(&log);
    let meta = &log["logEntries"][0]["commitMeta"];
    assert_eq!(
        (&meta["author"], &meta["signedOffBy"], &meta["properties"]),
        (&json!("ann"), &json!(null), &json!({}))
    );
    assert_eq!(log["logEntries"][0]["operations"][1]["expectedContent"], json!(null));

    let content = server.get("/api/v1/contents/db.t?ref=main").await.ok();
    assert_eq!(content["metadataLocation"], "s3://1");
    let entries = server.get("/api/v1/trees/tree/main/entries").await.ok();
    assert_plain(&entries);
    assert_eq!(entries["entries"][1], json!({"type": "ICEBERG_TABLE", "name": key("db.t")}));

    let more = json!({"commitMeta": {"message": "second"}, "operations": [put("db.u", "s3://2")]});
    let dev = server.post(&format!("/api/v1/trees/branch/dev/commit?expectedHash={first}"), more).await.ok();
    let dev = text(&dev["hash"]);
    let diff = server.get(&format!("/api/v1/diffs/main...dev%2A{dev}")).await.ok();
    assert_plain(&diff);
    assert_eq!(dotted(&diff["diffs"][0]["key"]), "db.u");

    let merge = json!({"fromRefName": "dev", "fromHash": dev});
    let merged =
        server.post(&format!("/api/v1/trees/branch/main/merge?expectedHash={first}"), merge).await.ok();
    assert_plain(&merged);
    assert_eq!((&merged["sourceCommits"], &merged["targetCommits"]), (&json!([]), &json!(null)));
    assert_eq!(merged["details"][0]["conflictType"], "NONE");

    let tag = json!({"type": "TAG", "name": "v1", "hash": first});
    server.post("/api/v1/trees/tree", tag).await.ok();
    let to = json!({"type": "BRANCH", "name": "main", "hash": server.head("main").await});
    let assigned = server.put(&format!("/api/v1/trees/tag/v1?expectedHash={first}"), to).await;
    assert_eq!((assigned.status.as_u16(), assigned.body), (204, Value::Null));
    let deleted = server.delete(&format!("/api/v1/trees/branch/dev?expectedHash={dev}")).await;
    assert_eq!((deleted.status.as_u16(), deleted.body), (204, Value::Null));
    let all = server.get("/api/v1/trees?fetch=ALL").await.ok();
    assert_plain(&all);
    assert_eq!(list(&all["references"]).len(), 2);
}

#[tokio::test]
async fn cherry_picks_of_old_clients() {
    let server = Server::start().await;
    server.create("BRANCH", "dev", "main").await;
    server.commit("dev", "one", json!([put("a", "s3://1")])).await;
    let hash = server.head("dev").await;
    let mut body = json!({"fromRefName": "dev", "hashesToTransplant": [hash], "keepIndividualCommits": true});
    let target = format!("/api/v1/trees/branch/main/transplant?expectedHash={EMPTY}&message=mine");
    let done = server.post(&target, body.clone()).await.ok();
    assert_plain(&done);
    let log = server.get("/api/v1/trees/tree/main/log").await.ok();
    assert_eq!(log["logEntries"][0]["commitMeta"]["message"], "mine");
    body["keepIndividualCommits"] = false.into();
    assert!(server.post(&target, body).await.refused().contains("is deprecated"));
}

#[tokio::test]
async fn namespaces() {
    let server = Server::start().await;
    let path = "/api/v1/namespaces/namespace/main";
    let made = json!({"type": "NAMESPACE", "elements": ["a"], "properties": {"x": "1"}});
    let first = server.put(&format!("{path}/a"), made.clone()).await.ok();
    assert_eq!(first["properties"], json!({"x": "1"}));
    let again = server.put(&format!("{path}/a"), made).await.failed(409, "NAMESPACE_ALREADY_EXISTS");
    assert_eq!(again["message"], "Namespace 'a' already exists");
    let orphan = json!({"type": "NAMESPACE", "elements": ["x", "y"]});
    server.put(&format!("{path}/x.y"), orphan).await.failed(404, "REFERENCE_NOT_FOUND");
    let child = json!({"type": "NAMESPACE", "elements": ["a", "b.c"]});
    server.put(&format!("{path}/a.b%1Dc"), child).await.ok();
    server.commit("main", "m", json!([put("t", "s3://1")])).await;
    let taken = json!({"type": "NAMESPACE", "elements": ["t"]});
    let taken = server.put(&format!("{path}/t"), taken).await.failed(409, "NAMESPACE_ALREADY_EXISTS");
    assert_eq!(taken["message"], "Another content object with name 't' already exists");

    let update = json!({"propertyUpdates": {"y": "2"}, "propertyRemovals": ["x"]});
    assert_eq!(server.post(&format!("{path}/a"), update).await.status.as_u16(), 204);
    let found = server.get(&format!("{path}/a")).await.ok();
    assert_eq!((&found["id"], &found["properties"]), (&first["id"], &json!({"y": "2"})));
    let all = server.get("/api/v1/namespaces/main").await.ok();
    assert_eq!(list(&all["namespaces"]).len(), 2);
    let below = server.get("/api/v1/namespaces/main?name=a.b%1Dc").await.ok();
    assert_eq!(below["namespaces"][0]["elements"], json!(["a", "b.c"]));

    let full = server.delete(&format!("{path}/a")).await.failed(409, "NAMESPACE_NOT_EMPTY");
    assert_eq!(full["message"], "Namespace 'a' is not empty");
    assert_eq!(server.delete(&format!("{path}/a.b%1Dc")).await.status.as_u16(), 204);
    assert_eq!(server.delete(&format!("{path}/a")).await.status.as_u16(), 204);
    let gone = server.get(&format!("{path}/a")).await.failed(404, "NAMESPACE_NOT_FOUND");
    assert_eq!(gone["errorDetails"]["contentKey"], key("a"));
    let log = server.get("/api/v1/trees/tree/main/log?maxRecords=2").await.ok();
    let messages: Vec<String> =
        list(&log["logEntries"]).iter().map(|e| text(&e["commitMeta"]["message"])).collect();
    assert_eq!(messages, ["delete namespace 'a'", "delete namespace '.a.b*.c'"]);
}

#[tokio::test]
async fn depth_cuts_keys_once() {
    let server = Server::start().await;
    let operations = json!([
        put_namespace("a"),
        put_namespace("a.b"),
        put("a.b.t", "s3://1"),
        put("a.b.u", "s3://2"),
        put("a.v", "s3://3"),
        put("z", "s3://4")
    ]);
    server.commit("main", "m", operations).await;
    let cut = |depth: u32| {
        let server = &server;
        async move {
            let found =
                server.get(&format!("/api/v1/trees/tree/main/entries?namespaceDepth={depth}")).await.ok();
            let entries = list(&found["entries"]);
            entries.iter().map(|e| format!("{} {}", text(&e["type"]), dotted(&e["name"]))).collect::<Vec<_>>()
        }
    };
    assert_eq!(cut(1).await, ["NAMESPACE a", "ICEBERG_TABLE z"]);
    assert_eq!(cut(2).await, ["NAMESPACE a.b", "ICEBERG_TABLE a.v"]);
    assert_eq!(cut(3).await, ["ICEBERG_TABLE a.b.t", "ICEBERG_TABLE a.b.u"]);
}

#[tokio::test]
async fn detached_reads() {
    let server = Server::start().await;
    server.commit("main", "m", json!([put("t", "s3://1")])).await;
    let hash = server.head("main").await;
    let found = server.get(&format!("/api/v1/contents/t?ref=DETACHED&hashOnRef={hash}")).await.ok();
    assert_eq!(found["metadataLocation"], "s3://1");
    let before = server.get(&format!("/api/v1/trees/tree/DETACHED/entries?hashOnRef={hash}~1")).await.ok();
    assert_eq!(before["entries"], json!([]));
    let none = server.get("/api/v1/trees/tree/-/entries").await.failed(404, "REFERENCE_NOT_FOUND");
    assert_eq!(none["message"], "Named reference '-' not found");
}

use serde_json::{Value, json};

use crate::harness::{Server, append, set, snapshot_ids, unmoved};

/// Each branch has its own full history; a merge brings the source's.
#[tokio::test]
async fn histories_diverge_and_merge() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    let table = server.table("main", "a", "t").await;
    server.table("main", "a", "u").await;
    let path = |branch: &str| format!("{branch}/namespaces/a/tables/t");
    let common =
        server.commit(&path("main"), unmoved(&table), append(&table, 1)).await.ok()["metadata"].clone();
    server.branch("dev", "main").await;
    for id in [2, 3] {
        let now = server.load("dev", "a", "t").await["metadata"].clone();
        server.commit(&path("dev"), unmoved(&now), append(&now, id)).await.ok();
    }
    assert_eq!(snapshot_ids(&server.load("main", "a", "t").await), [1]);
    assert_eq!(snapshot_ids(&server.load("dev", "a", "t").await), [1, 2, 3]);
    server.commit("main/namespaces/a/tables/u", json!([]), set("k", "v")).await.ok();
    server.merge("dev", "main").await;
    let merged = server.load("main", "a", "t").await;
    assert_eq!(snapshot_ids(&merged), [1, 2, 3]);
    assert_eq!(
        merged["metadata"]["properties"]["nessie.commit.id"],
        server.last_commit("main").await["hash"]
    );
    assert_eq!(merged["metadata"]["properties"]["nessie.commit.ref"], "main");
    assert_eq!(server.load("main", "a", "u").await["metadata"]["properties"]["k"], "v");

    // Both sides go on from there.
    let now = merged["metadata"].clone();
    server.commit(&path("main"), unmoved(&now), append(&now, 4)).await.ok();
    server.commit(&path("dev"), unmoved(&now), append(&now, 5)).await.ok();
    assert_eq!(snapshot_ids(&server.load("main", "a", "t").await), [1, 2, 3, 4]);
    assert_eq!(snapshot_ids(&server.load("dev", "a", "t").await), [1, 2, 3, 5]);
    assert_eq!(common["table-uuid"], now["table-uuid"]);
}

#[tokio::test]
async fn names_with_references() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    server.table("main", "a", "t").await;
    let old = server.last_commit("main").await["hash"].as_str().unwrap().to_owned();
    server.branch("dev", "main").await;
    let dev = "main/namespaces/a/tables/t%40dev";
    let committed = server.commit(dev, json!([]), set("where", "dev")).await.ok();
    assert_eq!(committed["metadata"]["properties"]["nessie.commit.ref"], "dev");
    let property = async |table: &str| {
        server.load("main", "a", table).await["metadata"]["properties"].get("where").cloned()
    };
    assert_eq!(property("t").await, None);
    assert_eq!(property("t%40dev").await, Some(json!("dev")));
    assert_eq!(property("%60t%40dev%60").await, Some(json!("dev")));
    assert_eq!(property(&format!("t%40dev%23{old}")).await, None);
    assert_eq!(property("t%40dev%23~1").await, None);
    assert_eq!(property("t%40dev%232100-01-01").await, Some(json!("dev")));

    let change = json!({"table-changes": [{"identifier": {"namespace": ["a"], "name": "t@dev"},
                                           "requirements": [], "updates": set("more", "dev")}]});
    assert_eq!(server.post("main/transactions/commit", change).await.status, 204);
    assert_eq!(server.load("dev", "a", "t").await["metadata"]["properties"]["more"], "dev");

    let unknown = server.get("main/namespaces/a/tables/t%40nosuch").await;
    unknown.refused(400, "NoSuchReferenceException", "nosuch");
    for fixed in [format!("t%23{old}"), format!("t%40dev%23{old}"), "t%232026-01-01".to_owned()] {
        let path = format!("main/namespaces/a/tables/{fixed}");
        server.commit(&path, json!([]), set("k", "v")).await.refused(400, "IllegalArgumentException", "");
    }
    let pinned = format!("main%40{old}/namespaces/a/tables/t");
    server.get(&pinned).await.ok();
    server.commit(&pinned, json!([]), set("k", "v")).await.refused(400, "IllegalArgumentException", "");
    let rename = json!({"source": {"namespace": ["a"], "name": "t@dev"},
                        "destination": {"namespace": ["a"], "name": "moved"}});
    assert_eq!(server.post("main/tables/rename", rename).await.status, 204);
    server.load("dev", "a", "moved").await;
    server.load("main", "a", "t").await;
}

#[tokio::test]
async fn tags_are_read_only() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    server.table("main", "a", "t").await;
    let head = server.nessie("GET", "trees/main", Value::Null).await["reference"].clone();
    server.nessie("POST", "trees?name=v1.0&type=TAG", head).await;
    let loaded = server.load("v1.0", "a", "t").await;
    assert_eq!(loaded["metadata"]["properties"]["nessie.commit.ref"], "v1.0");
    let write = server.commit("main/namespaces/a/tables/t%40v1.0", json!([]), set("k", "v")).await;
    write.refused(400, "IllegalArgumentException", "tag");
    let write = server.post("v1.0/namespaces", json!({"namespace": ["b"]})).await;
    write.refused(400, "IllegalArgumentException", "tag");
}

#[tokio::test]
async fn prefixes_in_every_spelling() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    server.table("main", "a", "t").await;
    server.branch("x/y", "main").await;
    for prefix in ["main", "-", "main%7Clake", "main%257Clake", "%7Clake", "x%2Fy", "x%1Fy%7Clake"] {
        server.load(prefix, "a", "t").await;
    }
    let both = server.send("GET", "/iceberg/none/v1/main/namespaces/a/tables/t", &[], &Value::Null).await;
    assert_eq!(both.status, 200, "a prefix decides over a reference in front of v1");
    let unknown = server
        .post("main%7Cnone/namespaces/a/tables", json!({"name": "u", "schema": crate::harness::schema()}));
    unknown.await.refused(404, "NoSuchWarehouseException", "none");
    let second = server.table("main%7Csecond", "a", "far").await;
    assert!(second["location"].as_str().unwrap().contains("/second/a/far_"));
}

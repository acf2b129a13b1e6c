use serde_json::{Value, json};

use crate::harness::{Server, append, set, unmoved};

/// Worked example 7.3.
#[tokio::test]
async fn append_and_conflicts() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    let table = server.table("main", "a", "t").await;
    let path = "main/namespaces/a/tables/t";
    let done = server.commit(path, unmoved(&table), append(&table, 3821)).await.ok();
    let metadata = &done["metadata"];
    assert_eq!(
        (&metadata["last-sequence-number"], &metadata["current-snapshot-id"]),
        (&json!(1), &json!(3821))
    );
    assert_eq!(metadata["snapshot-log"].as_array().unwrap().len(), 1);
    assert_eq!(metadata["metadata-log"].as_array().unwrap().len(), 1);
    assert!(done["metadata-location"].as_str().unwrap().contains("/metadata/00001-"));
    assert_eq!(server.last_commit("main").await["message"], "Update ICEBERG_TABLE a.t");
    assert_eq!(server.load("main", "a", "t").await["metadata"], *metadata);

    let second = server.commit(path, unmoved(&table), append(&table, 4)).await;
    second.refused(409, "CommitFailedException", "Requirement failed: branch main was created concurrently");
    let mut stale = append(metadata, 5);
    stale[0]["snapshot"]["sequence-number"] = 1.into();
    let stale = server.commit(path, unmoved(metadata), stale).await;
    stale.refused(409, "CommitFailedException", "sequence number");
    let unknown = server.commit(path, json!([]), json!([{"action": "paint-it-black"}])).await;
    unknown.refused(400, "BadRequestException", "paint-it-black");
    let unknown = server.commit(path, json!([{"type": "assert-full-moon"}]), json!([])).await;
    unknown.refused(400, "BadRequestException", "assert-full-moon");
    let lower = json!([{"action": "upgrade-format-version", "format-version": 1}]);
    assert_eq!(server.commit(path, json!([]), lower).await.status, 400);
    let elsewhere = json!([{"action": "set-location", "location": "s3://elsewhere/t"}]);
    let stays = server.commit(path, json!([]), elsewhere).await.ok();
    assert_eq!(stays["metadata"]["location"], metadata["location"], "a table never leaves the warehouses");
    let path_outside = server.commit(path, json!([]), set("write.metadata.path", "s3://elsewhere/m")).await;
    path_outside.refused(400, "IllegalArgumentException", "s3://elsewhere/m");
    let other = json!({"identifier": {"namespace": ["a"], "name": "u"}, "requirements": [], "updates": []});
    assert_eq!(server.post(path, other).await.status, 400);
    assert_eq!(server.load("main", "a", "t").await["metadata"], *metadata, "nothing of it landed");
}

/// Exactly one file per changed table and commit, nothing read back.
#[tokio::test]
async fn one_put_per_table_and_commit() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    let before = server.io();
    let mut table = server.table("main", "a", "t").await;
    let other = server.table("main", "a", "u").await;
    let made = server.io().since(before);
    assert_eq!((made.puts, made.gets), (2, 0));
    let path = "main/namespaces/a/tables/t";
    for id in 1..=5 {
        let before = server.io();
        table = server.commit(path, unmoved(&table), append(&table, id)).await.ok()["metadata"].clone();
        server.load("main", "a", "t").await;
        let io = server.io().since(before);
        assert_eq!((io.puts, io.gets, io.deletes), (1, 0, 0));
    }
    let before = server.io();
    let change = |name: &str, uuid: &Value| {
        json!({"identifier": {"namespace": ["a"], "name": name}, "updates": set("k", "1"),
               "requirements": [{"type": "assert-table-uuid", "uuid": uuid}]})
    };
    let body =
        json!({"table-changes": [change("t", &table["table-uuid"]), change("u", &other["table-uuid"])]});
    assert_eq!(server.post("main/transactions/commit", body).await.status, 204);
    let io = server.io().since(before);
    assert_eq!((io.puts, io.gets), (2, 0));

    let (before, head) = (server.io(), server.last_commit("main").await["hash"].clone());
    let unchanged = server.commit(path, json!([]), set("k", "1")).await.ok();
    assert_eq!(unchanged["metadata"]["properties"]["k"], "1");
    let refused = server.commit(path, json!([{"type": "assert-create"}]), set("k", "2")).await;
    refused.refused(409, "AlreadyExistsException", "Requirement failed: table already exists");
    assert_eq!(server.io().since(before), Default::default(), "no change, no file");
    assert_eq!(server.last_commit("main").await["hash"], head, "no change, no commit");
}

#[tokio::test]
async fn transactions_are_one_commit_or_none() {
    let server = Server::new().await;
    server.namespace("main", "eu").await;
    let orders = server.table("main", "eu", "orders").await;
    let items = server.table("main", "eu", "items").await;
    let change = |name: &str, table: &Value, key: &str| {
        json!({"identifier": {"namespace": ["eu"], "name": name}, "requirements": [
                   {"type": "assert-table-uuid", "uuid": table["table-uuid"]}], "updates": set(key, "1")})
    };
    let body = json!({"table-changes": [change("orders", &orders, "k"), change("items", &items, "k")]});
    assert_eq!(server.post("main/transactions/commit", body).await.status, 204);
    let message = "Catalog commit with 2 operations\n\n* Update ICEBERG_TABLE eu.orders\n* Update ICEBERG_TABLE eu.items";
    assert_eq!(server.last_commit("main").await["message"], message);

    let (files, head) = (server.metadata_files(), server.last_commit("main").await["hash"].clone());
    let body = json!({"table-changes": [change("orders", &orders, "z"), change("items", &orders, "z")]});
    let refused = server.post("main/transactions/commit", body).await;
    refused.refused(409, "CommitFailedException", "UUID does not match");
    assert_eq!(server.metadata_files(), files, "no file is left");
    assert_eq!(server.last_commit("main").await["hash"], head);
    for table in ["orders", "items"] {
        let properties = &server.load("main", "eu", table).await["metadata"]["properties"];
        assert!(properties["k"] == "1" && properties.get("z").is_none());
    }

    for (body, text) in [
        (json!({"table-changes": []}), "at least one"),
        (json!({"table-changes": [{"requirements": [], "updates": []}]}), "identifier"),
        (json!({"table-changes": [change("orders", &orders, "a"), change("orders", &orders, "b")]}), "twice"),
    ] {
        server.post("main/transactions/commit", body).await.refused(400, "BadRequestException", text);
    }
}

#[tokio::test]
async fn headers_shape_the_commit() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    server.table("main", "a", "t").await;
    let headers = [
        ("nessie-commit-message", "hello"),
        ("nessie-commit-authors", "Ann <a@x>, Bob <b@x>"),
        ("nessie-commit-signedoffby", "Cyd"),
        ("nessie-commit-property-ticket", "T-1"),
    ];
    let body = json!({"requirements": [], "updates": set("k", "v")});
    server.send("POST", "/iceberg/v1/main/namespaces/a/tables/t", &headers, &body).await.ok();
    let meta = server.last_commit("main").await;
    assert_eq!(meta["message"], "hello");
    assert_eq!(meta["authors"], json!(["Ann <a@x>", "Bob <b@x>"]));
    assert_eq!(meta["allSignedOffBy"], json!(["Cyd"]));
    assert_eq!(meta["allProperties"]["ticket"], json!(["T-1"]));
}

#[tokio::test]
async fn compressed_metadata() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    let body = json!({"name": "t", "schema": crate::harness::schema(),
                      "properties": {"write.metadata.compression-codec": "gzip"}});
    let made = server.post("main/namespaces/a/tables", body).await.ok();
    assert!(made["metadata-location"].as_str().unwrap().ends_with(".gz.metadata.json"));
    assert_eq!(std::fs::read(server.path(&made["metadata-location"])).unwrap()[..2], [0x1f, 0x8b]);
    let again = server.again().await;
    assert_eq!(again.load("main", "a", "t").await, made);
}

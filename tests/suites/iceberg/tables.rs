use serde_json::{Value, json};

use crate::harness::{Server, append, schema, set, unmoved, view};

/// Worked example 7.2 of the contract.
#[tokio::test]
async fn direct_create() {
    let server = Server::new().await;
    server.namespace("main", "eu").await;
    server.post("main/namespaces", json!({"namespace": ["eu", "web"]})).await.ok();
    let body = json!({"name": "clicks", "location": null, "stage-create": false,
        "properties": {"owner": "ann", "format-version": "2"},
        "schema": {"type": "struct", "schema-id": 0, "identifier-field-ids": [10], "fields": [
            {"id": 10, "name": "id", "type": "long", "required": true},
            {"id": 11, "name": "at", "type": "timestamptz", "required": false},
            {"id": 12, "name": "geo", "required": false, "type": {"type": "struct", "fields": [
                {"id": 13, "name": "lat", "type": "double", "required": false}]}}]},
        "partition-spec": {"spec-id": 0, "fields": [{"source-id": 11, "name": "at_day", "transform": "day"}]},
        "write-order": {"order-id": 1, "fields": [{"source-id": 10, "transform": "identity", "direction": "asc",
                                                   "null-order": "nulls-first"}]}});
    let delegation = [("x-iceberg-access-delegation", "vended-credentials")];
    let path = "/iceberg/v1/main%7Clake/namespaces/eu%1Fweb/tables";
    let answer = server.send("POST", path, &delegation, &body).await;
    let etag = answer.etag();
    let made = answer.ok();
    let metadata = &made["metadata"];
    let schema = &metadata["schemas"][0];
    let ids: Vec<i64> =
        schema["fields"].as_array().unwrap().iter().map(|f| f["id"].as_i64().unwrap()).collect();
    assert_eq!((ids, &schema["identifier-field-ids"]), (vec![1, 2, 3], &json!([1])));
    assert_eq!(metadata["last-column-id"], 4);
    assert_eq!(metadata["partition-specs"][0]["fields"][0]["source-id"], 2);
    assert_eq!(metadata["last-partition-id"], 1000);
    assert_eq!(metadata["default-sort-order-id"], 1);
    assert_eq!(metadata["current-snapshot-id"], -1);
    let properties = &metadata["properties"];
    assert_eq!((&properties["owner"], &properties["gc.enabled"]), (&json!("ann"), &json!("false")));
    assert!(properties["created-at"].as_str().unwrap().ends_with('Z'));
    assert!(properties.get("format-version").is_none());
    assert_eq!(properties["nessie.commit.ref"], "main");
    assert_eq!(properties["nessie.commit.id"], server.last_commit("main").await["hash"]);
    assert_eq!(server.last_commit("main").await["message"], "Create ICEBERG_TABLE eu.web.clicks");
    let location = metadata["location"].as_str().unwrap();
    let uuid = metadata["table-uuid"].as_str().unwrap();
    assert!(location.ends_with(&format!("/lake/eu/web/clicks_{uuid}")), "{location}");
    for folder in ["metadata", "data"] {
        assert!(server.path(&metadata["location"]).join(folder).is_dir());
    }

    let loaded = server.get("main%7Clake/namespaces/eu%1Fweb/tables/clicks").await;
    assert_eq!(loaded.etag(), etag);
    assert_eq!(loaded.ok(), made);
    let stored: Value =
        serde_json::from_slice(&std::fs::read(server.path(&made["metadata-location"])).unwrap()).unwrap();
    assert!(stored["properties"].get("nessie.commit.id").is_none(), "derived properties are never stored");
    let content = server.nessie("GET", "trees/main/contents/eu.web.clicks", Value::Null).await;
    assert_eq!(content["content"]["id"], properties["nessie.catalog.content-id"]);
    assert_eq!(content["content"]["metadataLocation"], made["metadata-location"]);
}

/// Worked example 7.4: the ids of a staged create are kept.
#[tokio::test]
async fn staged_create() {
    let server = Server::new().await;
    server.namespace("main", "eu").await;
    let body = json!({"name": "clicks", "schema": schema(), "stage-create": true});
    let answer = server.post("main/namespaces/eu/tables", body).await;
    assert!(answer.headers.get("etag").is_none());
    let staged = answer.ok();
    assert!(staged.get("metadata-location").is_none());
    let metadata = &staged["metadata"];
    assert_eq!(metadata["properties"]["nessie.staged"], "true");
    assert!(server.path(&metadata["location"]).join("data").is_dir());
    assert_eq!(server.call("HEAD", "main/namespaces/eu/tables/clicks", Value::Null).await.status, 404);

    let updates = json!([{"action": "assign-uuid", "uuid": metadata["table-uuid"]},
        {"action": "upgrade-format-version", "format-version": 2},
        {"action": "add-schema", "schema": {"type": "struct", "schema-id": 0, "fields": [
            {"id": 5, "name": "id", "type": "long", "required": true}]}, "last-column-id": 5},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": {"spec-id": 0, "fields": []}}, {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": metadata["location"]},
        {"action": "set-properties", "updates": {"owner": "ann", "nessie.staged": "true", "nessie.commit.id": "x"}},
        append(metadata, 9)[0], append(metadata, 9)[1]]);
    let create = json!([{"type": "assert-create"}]);
    let path = "main/namespaces/eu/tables/clicks";
    let done = server.commit(path, create.clone(), updates.clone()).await.ok();
    assert_eq!(done["metadata"]["schemas"][0]["fields"][0]["id"], 5);
    assert_eq!(done["metadata"]["table-uuid"], metadata["table-uuid"]);
    assert_eq!(done["metadata"]["current-snapshot-id"], 9);
    assert!(done["metadata-location"].as_str().unwrap().contains("/metadata/00000-"));
    let stored: Value =
        serde_json::from_slice(&std::fs::read(server.path(&done["metadata-location"])).unwrap()).unwrap();
    assert_eq!(stored["properties"], json!({"owner": "ann"}));
    let again = server.commit(path, create, updates).await;
    again.refused(409, "AlreadyExistsException", "Requirement failed: table already exists");
}

#[tokio::test]
async fn names_are_shared_and_missing_things_have_their_type() {
    let server = Server::new().await;
    server.namespace("main", "eu").await;
    server.table("main", "eu", "t").await;
    server.post("main/namespaces/eu/views", view("v", "select 1")).await.ok();
    let create = |name: &str| json!({"name": name, "schema": schema()});
    let tables = "main/namespaces/eu/tables";
    server.post(tables, create("t")).await.refused(
        409,
        "AlreadyExistsException",
        "Table already exists: eu.t",
    );
    let clash = server.post(tables, create("v")).await;
    clash.refused(409, "AlreadyExistsException", "View with same name already exists: eu.v");
    let clash = server.post("main/namespaces/eu/views", view("t", "select 1")).await;
    clash.refused(409, "AlreadyExistsException", "Table with same name already exists: eu.t");
    let missing = server.get("main/namespaces/eu/tables/v").await;
    missing.refused(404, "NoSuchTableException", "Table does not exist: eu.v");
    let missing = server.get("main/namespaces/eu/views/t").await;
    missing.refused(404, "NoSuchViewException", "View does not exist: eu.t");
    for (method, body) in [("GET", Value::Null), ("DELETE", Value::Null), ("POST", json!({}))] {
        let missing = server.call(method, "main/namespaces/none/tables/t", body).await;
        missing.refused(404, "NoSuchTableException", "Table does not exist: none.t");
    }
    let missing = server.post("main/namespaces/none/tables", create("t")).await;
    missing.refused(404, "NoSuchNamespaceException", "Namespace does not exist: none");
    let missing = server.get("main/namespaces/none/tables").await;
    missing.refused(404, "NoSuchNamespaceException", "Namespace does not exist: none");
}

#[tokio::test]
async fn renames_keep_the_content() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    server.namespace("main", "b").await;
    let table = server.table("main", "a", "t").await;
    server.table("main", "a", "u").await;
    let rename = |from: (&str, &str), to: (&str, &str)| json!({"source": {"namespace": [from.0], "name": from.1}, "destination": {"namespace": [to.0], "name": to.1}});
    let clash = server.post("main/tables/rename", rename(("a", "t"), ("a", "u"))).await;
    clash.refused(409, "AlreadyExistsException", "Cannot rename a.t to a.u. Table already exists");
    let missing = server.post("main/tables/rename", rename(("a", "no"), ("a", "x"))).await;
    missing.refused(404, "NoSuchTableException", "Table does not exist: a.no");
    let missing = server.post("main/tables/rename", rename(("a", "t"), ("none", "t"))).await;
    missing.refused(404, "NoSuchNamespaceException", "Namespace does not exist: none");
    assert_eq!(server.post("main/tables/rename", rename(("a", "t"), ("b", "t"))).await.status, 204);
    assert_eq!(server.last_commit("main").await["message"], "rename table a.t to b.t");
    let moved = server.load("main", "b", "t").await;
    assert_eq!(moved["metadata"]["table-uuid"], table["table-uuid"]);
    let id = "nessie.catalog.content-id";
    assert_eq!(moved["metadata"]["properties"][id], table["properties"][id]);
    assert_eq!(server.call("HEAD", "main/namespaces/a/tables/t", Value::Null).await.status, 404);
}

#[tokio::test]
async fn registered_tables_keep_their_file() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    let table = server.table("main", "a", "t").await;
    let path = "main/namespaces/a/tables/t";
    let table = server.commit(path, unmoved(&table), append(&table, 1)).await.ok();
    let location = table["metadata-location"].clone();
    assert_eq!(
        server.call("DELETE", "main/namespaces/a/tables/t?purgeRequested=True", Value::Null).await.status,
        204
    );
    assert_eq!(server.last_commit("main").await["message"], "Drop ICEBERG_TABLE a.t");
    let body = json!({"name": "back", "metadata-location": location});
    let files = server.metadata_files();
    let back = server.post("main/namespaces/a/register", body.clone()).await.ok();
    assert_eq!((&back["metadata-location"], server.metadata_files()), (&location, files));
    assert_eq!(back["metadata"]["snapshots"], table["metadata"]["snapshots"]);
    let message = format!("Register Iceberg table 'a.back' from '{}'", location.as_str().unwrap());
    assert_eq!(server.last_commit("main").await["message"], message);
    let taken = server.post("main/namespaces/a/register", body).await;
    taken.refused(409, "AlreadyExistsException", "Table already exists: a.back");
    let newer = server.commit("main/namespaces/a/tables/back", json!([]), set("k", "v")).await.ok();
    let body = json!({"name": "back", "metadata-location": location, "overwrite": true});
    let over = server.post("main/namespaces/a/register", body).await.ok();
    assert_eq!(over["metadata-location"], location);
    let id = "nessie.catalog.content-id";
    assert_eq!(over["metadata"]["properties"][id], newer["metadata"]["properties"][id]);
    for (bad, status) in [("file:///etc/passwd", 400), ("nowhere", 400)] {
        let body = json!({"name": "x", "metadata-location": bad});
        assert_eq!(server.post("main/namespaces/a/register", body).await.status, status, "{bad}");
    }
    let gone = location.as_str().unwrap().replace("/metadata/", "/metadata/gone-");
    let body = json!({"name": "x", "metadata-location": gone});
    let missing = server.post("main/namespaces/a/register", body).await;
    missing.refused(400, "BadRequestException", "Failed to open input stream for file: ");
}

#[tokio::test]
async fn tags_follow_the_table_alone() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    let table = server.table("main", "a", "t").await;
    let path = "/iceberg/v1/main/namespaces/a/tables/t";
    let tag = server.get("main/namespaces/a/tables/t").await.etag();
    server.table("main", "a", "unrelated").await;
    let weak = format!("W/{tag}");
    for known in [tag.as_str(), weak.as_str(), &format!("\"other\", {tag}")] {
        let answer = server.send("GET", path, &[("if-none-match", known)], &Value::Null).await;
        assert_eq!((answer.status, answer.etag(), answer.body), (304, tag.clone(), Value::Null), "{known}");
    }
    let refs = server.get("main/namespaces/a/tables/t?snapshots=refs").await.etag();
    assert_ne!(refs, tag);
    let committed = server.commit("main/namespaces/a/tables/t", unmoved(&table), append(&table, 1)).await;
    assert_ne!(committed.etag(), tag);
    let loaded = server.send("GET", path, &[("if-none-match", &tag)], &Value::Null).await;
    assert_eq!((loaded.status, loaded.etag()), (200, committed.etag()));
    let bad = server.get("main/namespaces/a/tables/t?snapshots=some").await;
    bad.refused(400, "BadRequestException", "snapshots");
}

#[tokio::test]
async fn odd_names() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    for (encoded, name) in [
        ("with+space", "with space"),
        ("plus%2Bsign", "plus+sign"),
        ("per%25cent", "per%cent"),
        ("sla%2Fsh", "sla/sh"),
        ("do.t", "do.t"),
        ("sp%C3%A4%C3%9Fe", "späße"),
    ] {
        server.post("main/namespaces", json!({"namespace": ["a", name]})).await.ok();
        let namespace = format!("a%1F{encoded}");
        assert_eq!(
            server.get(&format!("main/namespaces/{namespace}")).await.ok()["namespace"],
            json!(["a", name])
        );
        server.table("main", &namespace, name).await;
        let loaded = server.load("main", &namespace, encoded).await;
        assert!(loaded["metadata-location"].as_str().unwrap().starts_with("file:///"));
    }
}

use serde_json::{Value, json};

use crate::harness::{Server, version, view};

/// Worked example 7.6.
#[tokio::test]
async fn life_of_a_view() {
    let server = Server::new().await;
    server.namespace("main", "eu").await;
    let made = server.post("main/namespaces/eu/views", view("v", "select 1 c")).await.ok();
    assert_eq!(made["metadata"]["current-version-id"], 1);
    assert!(made["metadata"]["properties"].get("nessie.commit.id").is_none(), "nothing is derived on views");
    assert_eq!(server.last_commit("main").await["message"], "Create ICEBERG_VIEW eu.v");
    assert_eq!(server.get("main/namespaces/eu/views/v").await.ok(), made);
    let content = server.nessie("GET", "trees/main/contents/eu.v", Value::Null).await["content"].clone();
    assert_eq!((&content["type"], &content["versionId"]), (&json!("ICEBERG_VIEW"), &json!(1)));

    let path = "main/namespaces/eu/views/v";
    let uuid = &made["metadata"]["view-uuid"];
    let mut second = version(2, "select 1 n");
    second["schema-id"] = (-1).into();
    let body = json!({"requirements": [{"type": "assert-view-uuid", "uuid": uuid}], "updates": [
        {"action": "add-schema", "schema": {"type": "struct", "schema-id": 1, "fields": [
            {"id": 0, "name": "n", "type": "long", "required": false}]}},
        {"action": "add-view-version", "view-version": second},
        {"action": "set-current-view-version", "view-version-id": -1}]});
    let before = server.io();
    let replaced = server.post(path, body.clone()).await.ok();
    assert_eq!(server.io().since(before).puts, 1);
    assert_eq!(replaced["metadata"]["current-version-id"], 2);
    assert_eq!(replaced["metadata"]["versions"].as_array().unwrap().len(), 2);
    let before = server.io();
    assert_eq!(server.post(path, body).await.ok()["metadata-location"], replaced["metadata-location"]);
    assert_eq!(server.io().since(before), Default::default());
    let wrong = json!({"requirements": [{"type": "assert-view-uuid", "uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1"}],
                       "updates": []});
    server.post(path, wrong).await.refused(409, "CommitFailedException", "view UUID does not match");
    let mut twice = version(3, "select 2");
    twice["representations"] = json!([{"type": "sql", "dialect": "trino", "sql": "select 1"},
                                      {"type": "sql", "dialect": "TRINO", "sql": "select 2"}]);
    let twice = json!({"updates": [{"action": "add-view-version", "view-version": twice}]});
    assert_eq!(server.post(path, twice).await.status, 400);

    let rename = json!({"source": {"namespace": ["eu"], "name": "v"}, "destination": {"namespace": ["eu"], "name": "w"}});
    assert_eq!(server.post("main/views/rename", rename).await.status, 204);
    let listed = server.get("main/namespaces/eu/views").await.ok();
    assert_eq!(listed["identifiers"], json!([{"namespace": ["eu"], "name": "w"}]));
    assert_eq!(server.get("main/namespaces/eu/tables").await.ok()["identifiers"], json!([]));
    assert_eq!(server.call("HEAD", "main/namespaces/eu/views/w", Value::Null).await.status, 204);
    let gone = server.call("DELETE", "main/namespaces/eu/views/w", Value::Null).await;
    assert_eq!(gone.status, 204);
    let missing = server.call("DELETE", "main/namespaces/eu/views/w", Value::Null).await;
    missing.refused(404, "NoSuchViewException", "View does not exist: eu.w");

    let body = json!({"name": "again", "metadata-location": replaced["metadata-location"]});
    let back = server.post("main/namespaces/eu/register-view", body).await.ok();
    assert_eq!(back["metadata"], replaced["metadata"]);
    let body = json!({"name": "t", "metadata-location": replaced["metadata-location"]});
    assert_eq!(server.post("main/namespaces/eu/register", body).await.status, 400, "a view is no table");
}

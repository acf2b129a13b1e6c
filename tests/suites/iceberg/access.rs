use lochan_api_spec::iceberg::ALL;
use serde_json::{Value, json};

use crate::harness::{Server, schema, view};

/// Every route asks exactly one question, with something in it, and lists ask once more what may be shown; only tokens are
/// for anyone.
#[tokio::test]
async fn every_route_asks_once() {
    for info in ALL {
        let server = Server::new().await;
        server.namespace("main", "a").await;
        server.namespace("main", "empty").await;
        let table =
            server.post("main/namespaces/a/tables", json!({"name": "t", "schema": schema()})).await.ok();
        let made = server.post("main/namespaces/a/views", view("v", "select 1")).await.ok();
        let (table, made) = (&table["metadata-location"], &made["metadata-location"]);
        let rename = |name: &str| json!({"source": {"namespace": ["a"], "name": name}, "destination": {"namespace": ["a"], "name": "moved"}});
        let body = match info.name {
            "createNamespace" => json!({"namespace": ["new"]}),
            "updateProperties" => json!({"updates": {"k": "v"}}),
            "createTable" => json!({"name": "new", "schema": schema()}),
            "updateTable" => json!({"updates": [{"action": "set-properties", "updates": {"k": "v"}}]}),
            "replaceView" => json!({"updates": [{"action": "set-properties", "updates": {"k": "v"}}]}),
            "registerTable" => json!({"name": "new", "metadata-location": table}),
            "registerView" => json!({"name": "new", "metadata-location": made}),
            "renameTable" => rename("t"),
            "renameView" => rename("v"),
            "createView" => view("new", "select 1"),
            "commitTransaction" => json!({"table-changes": [{"identifier": {"namespace": ["a"], "name": "t"},
                "updates": [{"action": "set-properties", "updates": {"k": "v"}}]}]}),
            "reportMetrics" => json!({"report-type": "scan-report"}),
            _ if info.method.as_str() == "POST" => json!({}),
            _ => Value::Null,
        };
        let namespace = if info.name == "dropNamespace" { "empty" } else { "a" };
        let path = info
            .path
            .replace("{prefix}", "main")
            .replace("{namespace}", namespace)
            .replace("{table}", "t")
            .replace("{view}", "v")
            .replace("{reference}", "main");
        server.asked.take();
        let answer = server.send(info.method.as_str(), &path, &[], &body).await;
        let asked = server.asked.take();
        if info.path.ends_with("/oauth/tokens") {
            assert_eq!((answer.status, asked.len()), (501, 0));
            continue;
        }
        assert!(answer.status < 300, "{} {path}: {answer:?}", info.method);
        let is_list = info.name.starts_with("list");
        assert_eq!(asked.len(), if is_list { 2 } else { 1 }, "{} {path}: {asked:?}", info.method);
        assert!(!asked[0].subjects.is_empty(), "{} {path}", info.method);
        let writes_files = matches!(
            info.name,
            "createTable" | "updateTable" | "commitTransaction" | "createView" | "replaceView"
        );
        if writes_files {
            assert!(asked[0].warehouse.as_deref() == Some("lake") && asked[0].bytes > 0, "{asked:?}");
        }
    }
}

use lochan_api_spec::iceberg::{ALL, announcement};
use serde_json::{Value, json};

use crate::harness::Server;

#[tokio::test]
async fn both_maps_prefix_and_urls() {
    let server = Server::new().await;
    server.branch("dev", "main").await;
    let config = server.send("GET", "/iceberg/dev/v1/config?warehouse=second", &[], &Value::Null).await.ok();
    assert_eq!(config["defaults"]["prefix"], "dev%7Csecond");
    assert!(config["defaults"]["warehouse"].as_str().unwrap().ends_with("/second"));
    assert_eq!(config["defaults"]["rest-page-size"], "200");
    assert_eq!(config["defaults"]["rest-metrics-reporting-enabled"], "false");
    let overrides = &config["overrides"];
    assert_eq!(overrides["uri"], "http://h:19120/iceberg/");
    assert_eq!(overrides["nessie.core-base-uri"], "http://h:19120/api/");
    assert_eq!(overrides["nessie.is-nessie-catalog"], "true");
    assert_eq!(overrides["nessie.prefix-pattern"], "{ref}|{warehouse}");
    assert_eq!(overrides["nessie.default-branch.name"], "dev");
    assert_eq!(config["idempotency-key-lifetime"], "PT30M");

    assert_eq!(server.get("config").await.ok()["defaults"]["prefix"], "main");
    server.get("config?warehouse=none").await.refused(404, "NoSuchWarehouseException", "none");
    let unknown = server.send("GET", "/iceberg/none/v1/config", &[], &Value::Null).await;
    unknown.refused(400, "NoSuchReferenceException", "none");
}

#[tokio::test]
async fn urls_come_from_no_header_of_a_stranger() {
    let server = Server::new().await;
    let headers = [("x-forwarded-host", "evil.example"), ("x-forwarded-proto", "https")];
    let config = server.send("GET", "/iceberg/v1/config", &headers, &Value::Null).await.ok();
    assert_eq!(config["overrides"]["uri"], "http://h:19120/iceberg/");
}

/// What is announced answers, and everything that answers below a prefix is announced.
#[tokio::test]
async fn announced_routes_answer() {
    let server = Server::new().await;
    let config = server.get("config").await.ok();
    let announced: Vec<&str> =
        config["endpoints"].as_array().unwrap().iter().map(|e| e.as_str().unwrap()).collect();
    for info in ALL {
        let path = info
            .path
            .replace("{prefix}", "main")
            .replace("{namespace}", "none")
            .replace("{table}", "t")
            .replace("{view}", "v")
            .replace("{reference}", "main");
        let body = if info.method.as_str() == "POST" { json!({}) } else { Value::Null };
        let answer = server.send(info.method.as_str(), &path, &[], &body).await;
        let offered = answer.status != 501;
        let is_announced = announcement(info).is_some_and(|route| announced.contains(&route.as_str()));
        let is_prefixed = info.path.contains("{prefix}");
        assert_eq!(offered && is_prefixed, is_announced, "{} {path}: {answer:?}", info.method);
    }
}

#[tokio::test]
async fn tokens_are_refused_in_the_words_of_oauth() {
    let server = Server::new().await;
    let answer = server.send("POST", "/iceberg/v1/oauth/tokens", &[], &json!({})).await;
    assert_eq!(answer.status, 501);
    assert!(answer.body["error"].is_string(), "{answer:?}");
}

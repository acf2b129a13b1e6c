//! What a client can get wrong is answered with 400 or 404 and words, never with 500.

use lochan_api_spec::endpoint::Method;
use lochan_api_spec::nessie;
use serde_json::{Value, json};

use crate::harness::{EMPTY, Server, key, put};

#[tokio::test]
async fn nothing_that_a_client_sends_is_a_server_error() {
    let server = Server::start().await;
    server.commit("main", "m", json!([put("t", "s3://1")])).await;
    let references = [
        "main",
        "-",
        "none",
        "@cafebabe",
        "DETACHED",
        "@",
        "main@",
        "main~0",
        "main*9",
        "..",
        "%00",
        "%FF",
        "a%2Fb@~1",
    ];
    let keys = ["t", ".", ".*x", "%1D", "%7F", "a..b", "%F0%9F%98%80"];
    let queries = [
        "",
        "?max-records=x&maxRecords=x",
        "?page-token=zz&pageToken=zz",
        "?page-token=0165&pageToken=0165",
        "?fetch=NOPE",
        "?filter=((&type=NOPE",
        "?filter=1&type=",
        "?filter=nope==1",
        "?key=.*x&min-key=b&max-key=a&limit-hash=~0",
        "?hashOnRef=xyz&expectedHash=xyz&startHash=~1",
        "?expectedHash=cafebabe",
        "?name=HEAD&type=BRANCH",
        "?name=..&type=TAG",
    ];
    let bodies = [
        "",
        "null",
        "[]",
        "{}",
        "{",
        "7",
        "{\"type\":\"BRANCH\",\"name\":\"..\"}",
        "{\"operations\":null}",
        "{\"config\":{\"type\":7}}",
        "{\"requestedKeys\":[{\"elements\":[\"\"]}]}",
    ];
    for info in nessie::v1::ALL.iter().chain(nessie::v2::ALL) {
        for reference in references {
            for key in keys {
                let path = info
                    .path
                    .replace("{ref}", reference)
                    .replace("{branch}", reference)
                    .replace("{from}", reference)
                    .replace("{to}", reference)
                    .replace("{name}", key)
                    .replace("{key}", key)
                    .replace("{type}", "branch");
                for query in queries {
                    let bodies: &[&str] =
                        if matches!(info.method, Method::Post | Method::Put) { &bodies } else { &[""] };
                    for body in bodies {
                        let target = format!("{path}{query}");
                        let answer = server.send(info.method.as_str(), &target, &[], body).await;
                        let status = answer.status.as_u16();
                        assert!(status < 500, "{} {target} {body}: {status} {}", info.method, answer.body);
                        if status == 400 {
                            let words =
                                answer.body["message"].as_str().is_some_and(|words| !words.is_empty());
                            assert!(words, "{} {target} {body}: {}", info.method, answer.body);
                        }
                    }
                }
                if !info.path.contains("{key}") && !info.path.contains("{name}") {
                    break;
                }
            }
            if !info.path.contains('{') {
                break;
            }
        }
    }
    // Nothing of all that has moved the branch.
    assert_eq!(server.keys("main").await, ["t"]);
}

#[tokio::test]
async fn bodies_are_told_which_field_is_wrong() {
    let server = Server::start().await;
    let target = format!("/api/v2/trees/main@{EMPTY}/history/commit");
    let operation = |key: Value, content: Value| json!({"commitMeta": {"message": "m"}, "operations": [{"type": "PUT", "key": key, "content": content}]});
    let message =
        server.post(&target, operation(json!({"elements": ["a", ""]}), Value::Null)).await.refused();
    assert!(message.contains("operations[0]"), "{message}");
    let message = server.post(&target, operation(key("a"), json!({"type": "NOPE"}))).await.refused();
    assert!(message.contains("No type registered for NOPE"), "{message}");
    let message =
        server.post(&target, json!({"commitMeta": {"message": "m"}, "operations": []})).await.refused();
    assert!(message.ends_with("size must be between 1 and 2147483647"), "{message}");
    let set = json!({"commitMeta": {"message": "m", "committer": "me"}, "operations": [put("t", "s3://1")]});
    let message = server.post(&target, set).await.refused();
    assert_eq!(message, "Cannot set the committer on the client side. It is set by the server.");
}

#[tokio::test]
async fn the_order_of_checks_on_writes() {
    let server = Server::start().await;
    server.create("TAG", "tag", "main").await;
    let body = || json!({"commitMeta": {"message": "m"}, "operations": [put("t", "s3://1")]});
    let commit = |point: &'static str| server.post(point, body());
    commit("/api/v2/trees/none/history/commit").await.failed(404, "REFERENCE_NOT_FOUND");
    let message = commit("/api/v2/trees/tag/history/commit").await.refused();
    assert_eq!(message, "Reference to commit into must be a branch.");
    assert_eq!(
        commit("/api/v2/trees/main/history/commit").await.refused(),
        "Expected hash must be provided."
    );
    let message = commit("/api/v2/trees/main~1/history/commit").await.refused();
    assert_eq!(message, "Expected hash must contain a starting commit ID.");
    let answer =
        commit("/api/v2/trees/main@cafebabe/history/commit").await.failed(404, "REFERENCE_NOT_FOUND");
    assert_eq!(answer["message"], "Could not find commit 'cafebabe' in reference 'main'.");
}

#[tokio::test]
async fn filters_are_checked_before_anything_is_listed() {
    let server = Server::start().await;
    for path in ["/api/v2/trees/main/entries", "/api/v2/trees/main/history", "/api/v2/trees/main/diff/main"] {
        let message = server.get(&format!("{path}?filter=nope%20%3D%3D%201")).await.refused();
        assert!(message.contains("undeclared reference to 'nope'"), "{message}");
    }
}

//! The same request under the same key is done once and answered alike, also by a server that has forgotten it.

use std::sync::Arc;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::harness::{EMPTY, Server, head, key, list, put, put_namespace, text};

fn uuid(number: u8) -> String {
    format!("0192f0c1-0000-7abc-8def-0123456789{number:02x}")
}

/// Sends a request under a key.
async fn send(server: &Server, method: &str, target: &str, number: u8, body: &Value) -> (u16, Value) {
    let id = uuid(number);
    let headers = [("content-type", "application/json"), ("idempotency-key", id.as_str())];
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = server.send(method, target, &headers, &body).await;
    (answer.status.as_u16(), answer.body)
}

/// Sends a request three times under one key: twice to the server, once to one that starts anew over the same store. All
/// answers must be equal, and the log must grow by as many commits as one execution makes.
async fn once(
    server: &Server,
    method: &str,
    target: &str,
    number: u8,
    body: &Value,
    commits: usize,
) -> Value {
    let log = async |server: &Server| {
        let found = server.get("/api/v2/trees/main/history").await.ok();
        list(&found["logEntries"]).len()
    };
    let before = log(server).await;
    let (status, first) = send(server, method, target, number, body).await;
    assert!((200..300).contains(&status), "{status}: {first}");
    let again = server.again().await;
    for (server, which) in [(server, "from memory"), (&again, "from the log")] {
        let repeated = send(server, method, target, number, body).await;
        assert_eq!(repeated, (status, first.clone()), "{which}: {method} {target}");
        assert_eq!(log(server).await, before + commits, "{which}: {method} {target}");
    }
    first
}

#[tokio::test]
async fn every_write_of_v2() {
    let server = Server::start().await;
    let operations = json!([put_namespace("n"), put("n.a", "s3://1")]);
    let body = json!({"commitMeta": {"message": "m"}, "operations": operations});
    let commit =
        once(&server, "POST", &format!("/api/v2/trees/main@{EMPTY}/history/commit"), 1, &body, 1).await;
    assert_eq!(list(&commit["addedContents"]).len(), 2);
    let main = head(&commit);

    let source = json!({"type": "BRANCH", "name": "main", "hash": main});
    once(&server, "POST", "/api/v2/trees?name=dev&type=BRANCH", 2, &source, 0).await;
    let dev = head(&server.commit("dev", "one", json!([put("n.b", "s3://2"), put("n.c", "s3://3")])).await);
    let merge = json!({"fromRefName": "dev", "fromHash": dev, "defaultKeyMergeMode": "FORCE"});
    let merged =
        once(&server, "POST", &format!("/api/v2/trees/main@{main}/history/merge"), 3, &merge, 1).await;
    assert_eq!((&merged["wasApplied"], &merged["commonAncestor"]), (&json!(true), &json!(main)));

    let two = head(&server.commit("dev", "two", json!([put("n.d", "s3://4")])).await);
    let picked = json!({"fromRefName": "dev", "hashesToTransplant": [two]});
    let on = text(&merged["resultantTargetHash"]);
    once(&server, "POST", &format!("/api/v2/trees/main@{on}/history/transplant"), 4, &picked, 1).await;

    let to = json!({"type": "DETACHED", "hash": main});
    once(&server, "PUT", &format!("/api/v2/trees/dev@{two}"), 5, &to, 0).await;
    once(&server, "DELETE", &format!("/api/v2/trees/dev@{main}"), 6, &Value::Null, 0).await;
}

#[tokio::test]
async fn every_write_of_v1() {
    let server = Server::start().await;
    let namespace = json!({"type": "NAMESPACE", "elements": ["n"], "properties": {"a": "1"}});
    let path = "/api/v1/namespaces/namespace/main/n";
    once(&server, "PUT", path, 1, &namespace, 1).await;
    once(&server, "POST", path, 2, &json!({"propertyUpdates": {"b": "2"}}), 1).await;
    let main = server.head("main").await;
    let body = json!({"commitMeta": {"message": "m"}, "operations": [put("n.a", "s3://1")]});
    once(&server, "POST", &format!("/api/v1/trees/branch/main/commit?expectedHash={main}"), 3, &body, 1)
        .await;

    let main = server.head("main").await;
    let branch = json!({"type": "BRANCH", "name": "dev", "hash": main});
    once(&server, "POST", "/api/v1/trees/tree?sourceRefName=main", 4, &branch, 0).await;
    let dev = head(&server.commit("dev", "one", json!([put("n.b", "s3://2")])).await);
    let merge = json!({"fromRefName": "dev", "fromHash": dev});
    once(&server, "POST", &format!("/api/v1/trees/branch/main/merge?expectedHash={main}"), 5, &merge, 1)
        .await;
    let two = head(&server.commit("dev", "two", json!([put("n.c", "s3://2")])).await);
    let picked = json!({"fromRefName": "dev", "hashesToTransplant": [two]});
    let path = format!("/api/v1/trees/branch/main/transplant?expectedHash={main}");
    once(&server, "POST", &path, 6, &picked, 1).await;

    let to = json!({"type": "BRANCH", "name": "main", "hash": main});
    once(&server, "PUT", &format!("/api/v1/trees/branch/dev?expectedHash={two}"), 7, &to, 0).await;
    once(&server, "DELETE", &format!("/api/v1/trees/branch/dev?expectedHash={main}"), 8, &Value::Null, 0)
        .await;
    server.commit("main", "m", json!([put_namespace("empty")])).await;
    once(&server, "DELETE", "/api/v1/namespaces/namespace/main/empty", 9, &Value::Null, 1).await;
}

#[tokio::test]
async fn another_request_under_the_key_is_refused() {
    let server = Server::start().await;
    let path = format!("/api/v2/trees/main@{EMPTY}/history/commit");
    let body = |at: &str| json!({"commitMeta": {"message": "m"}, "operations": [put(at, "s3://1")]});
    assert_eq!(send(&server, "POST", &path, 1, &body("a")).await.0, 200);
    for server in [&server, &server.again().await] {
        let (status, told) = send(server, "POST", &path, 1, &body("b")).await;
        assert_eq!((status, &told["errorCode"]), (400, &json!("BAD_REQUEST")));
        assert!(text(&told["message"]).contains("Idempotency-Key"), "{told}");
    }
    // A refusal that depends on nothing but the request is final too.
    let bad = json!({"commitMeta": {"message": "m"}, "operations": []});
    for _ in 0..2 {
        assert_eq!(send(&server, "POST", &path, 2, &bad).await.0, 400);
    }
    assert_eq!(server.keys("main").await, ["a"]);
}

/// The reference server looks at no such header, and what clients and proxies send in it has many forms.
#[tokio::test]
async fn a_key_may_be_any_text() {
    let server = Server::start().await;
    let long = "k".repeat(5_000);
    let keys = [
        "one",
        "ONE",
        "7",
        "urn:x:\"1\", 2",
        "0192f0c1-0000-4abc-8def-0123456789ab",
        "schl\u{fc}ssel",
        &long,
    ];
    for (number, id) in keys.into_iter().enumerate() {
        let head = server.head("main").await;
        let path = format!("/api/v2/trees/main@{head}/history/commit");
        let at = format!("t{number}");
        let body = json!({"commitMeta": {"message": "m"}, "operations": [put(&at, "s3://1")]}).to_string();
        let headers = [("content-type", "application/json"), ("idempotency-key", id)];
        let first = server.send("POST", &path, &headers, &body).await.ok();
        for server in [&server, &server.again().await] {
            assert_eq!(server.send("POST", &path, &headers, &body).await.ok(), first, "{id}");
        }
    }
    let log = server.get("/api/v2/trees/main/history").await.ok();
    assert_eq!(list(&log["logEntries"]).len(), keys.len(), "one commit for each");
    // An empty one is none.
    let head = server.head("main").await;
    let headers = [("content-type", "application/json"), ("idempotency-key", "")];
    for at in ["x", "y"] {
        let body = json!({"commitMeta": {"message": "m"}, "operations": [put(at, "s3://1")]}).to_string();
        server.send("POST", &format!("/api/v2/trees/main@{head}/history/commit"), &headers, &body).await.ok();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn duplicates_that_arrive_together_are_one() {
    let server = Arc::new(Server::start().await);
    let body = json!({"commitMeta": {"message": "m"}, "operations": [
        {"type": "PUT", "key": key("n"), "content": {"type": "NAMESPACE", "elements": ["n"]}}]});
    let sent =
        (0..6).map(|_| {
            let (server, body) = (server.clone(), body.clone());
            async move {
                send(&server, "POST", &format!("/api/v2/trees/main@{EMPTY}/history/commit"), 1, &body).await
            }
        });
    let answers = join_all(sent).await;
    assert_eq!(answers[0].0, 200);
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
    let log = server.get("/api/v2/trees/main/history").await.ok();
    assert_eq!(list(&log["logEntries"]).len(), 1);
}

use std::sync::Arc;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::harness::{Server, append, key, schema, set, unmoved};

#[tokio::test]
async fn the_same_request_is_executed_once() {
    let server = Server::new().await;
    server.namespace("main", "a").await;
    let table = server.table("main", "a", "t").await;
    let path = "/iceberg/v1/main/namespaces/a/tables/t";
    let one = key(1);
    let headers = [("idempotency-key", one.as_str())];
    let body = json!({"requirements": unmoved(&table), "updates": append(&table, 5)});
    let first = server.send("POST", path, &headers, &body).await.ok();
    let head = server.last_commit("main").await["hash"].clone();
    assert_eq!(server.send("POST", path, &headers, &body).await.ok(), first);
    assert_eq!(server.last_commit("main").await["hash"], head);
    let other = json!({"requirements": [], "updates": set("a", "b")});
    let other = server.send("POST", path, &headers, &other).await;
    other.refused(422, "UnprocessableEntityException", "Idempotency-Key");
    // A server that starts anew knows from the log what was committed.
    let again = server.again().await;
    let told = again.send("POST", path, &headers, &body).await.ok();
    assert_eq!(
        (&told["metadata-location"], &told["metadata"]),
        (&first["metadata-location"], &first["metadata"])
    );
    assert_eq!(again.last_commit("main").await["hash"], head);
    let other = json!({"requirements": [], "updates": set("a", "b")});
    assert_eq!(again.send("POST", path, &headers, &other).await.status, 422);

    let two = key(2);
    for _ in 0..2 {
        let answer = server.send("DELETE", path, &[("idempotency-key", &two)], &Value::Null).await;
        assert_eq!(answer.status, 204);
    }
    let three = key(3);
    for _ in 0..2 {
        let answer = server.send("DELETE", path, &[("idempotency-key", &three)], &Value::Null).await;
        answer.refused(404, "NoSuchTableException", "Table does not exist: a.t");
    }
    for bad in ["short", "0192f0c1-0000-4abc-8def-0123456789ab", &"x".repeat(36)] {
        let answer = server.send("DELETE", path, &[("idempotency-key", bad)], &Value::Null).await;
        answer.refused(400, "BadRequestException", "Idempotency-Key");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn duplicates_that_arrive_together() {
    let server = Arc::new(Server::new().await);
    server.namespace("main", "a").await;
    let body = json!({"name": "t", "schema": schema()});
    let creations = (0..6).map(|_| {
        let (server, body) = (server.clone(), body.clone());
        async move {
            let key = key(9);
            let path = "/iceberg/v1/main/namespaces/a/tables";
            server.send("POST", path, &[("idempotency-key", key.as_str())], &body).await.ok()
        }
    });
    let answers = join_all(creations).await;
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]));
    assert_eq!(server.metadata_files(), 1);
}

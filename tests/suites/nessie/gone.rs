//! Clients that do not wait for their answer.

use serde_json::json;

use crate::harness::*;

async fn start() -> Server {
    let server = Server::start().await;
    server.commit("main", "first", json!([put("base", "s3://lake/base")])).await;
    server.create("BRANCH", "side", "main").await;
    server.commit("side", "second", json!([put("other", "s3://lake/other")])).await;
    server
}

/// Each mutating request on `main`, with the body that makes it.
async fn requests(server: &Server) -> [(String, serde_json::Value); 3] {
    let (main, side) = (server.head("main").await, server.head("side").await);
    let operations = json!([put("more", "s3://lake/more")]);
    [
        (
            format!("/api/v2/trees/main@{main}/history/commit"),
            json!({"commitMeta": {"message": "m"}, "operations": operations}),
        ),
        (
            format!("/api/v2/trees/main@{main}/history/merge"),
            json!({"fromRefName": "side", "fromHash": side}),
        ),
        (
            format!("/api/v2/trees/main@{main}/history/transplant"),
            json!({"fromRefName": "side", "hashesToTransplant": [side]}),
        ),
    ]
}

#[tokio::test]
async fn who_is_gone_before_admission_leaves_nothing_behind() {
    let server = start().await;
    let before = server.head("main").await;
    for (target, body) in requests(&server).await {
        server.leave(&target, body, Leaves::BeforeAdmission).await;
        assert_eq!(server.head("main").await, before, "{target}");
    }
    server
        .leave(
            "/api/v2/trees?name=tag&type=TAG",
            json!({"type": "BRANCH", "name": "main", "hash": before}),
            Leaves::BeforeAdmission,
        )
        .await;
    server.get("/api/v2/trees/tag").await.failed(404, "REFERENCE_NOT_FOUND");
}

#[tokio::test]
async fn who_is_gone_after_admission_finds_the_commit() {
    for place in 0..3 {
        let server = start().await;
        let before = server.head("main").await;
        let (target, body) = requests(&server).await[place].clone();
        server.leave(&target, body, Leaves::AfterAdmission).await;
        assert_ne!(server.head("main").await, before, "{target}");
    }
}

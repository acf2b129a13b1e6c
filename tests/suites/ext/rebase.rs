//! `POST /ext/v1/refs/{ref}:rebase`

use serde_json::{Value, json};

use crate::harness::{Answer, EMPTY, Server, added, list, put, text, update};
use crate::world::{commit, failed, reflog};

async fn rebase(server: &Server, branch: &str, onto: &str, more: Value) -> Answer {
    let mut body = json!({
        "expectedHash": server.head(branch).await,
        "onto": onto,
        "ontoHash": server.head(onto).await,
    });
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
    server.post(&format!("/ext/v1/refs/{branch}:rebase"), body).await
}

/// Two branches with a commit of their own each; the id of a table that both have.
async fn forked(server: &Server) -> String {
    let first = server.commit("main", "first", json!([put("a", "s3://b/1")])).await;
    server.create("BRANCH", "dev", "main").await;
    commit(server, "main", "m").await;
    commit(server, "dev", "d").await;
    added(&first, "a")
}

#[tokio::test]
async fn the_branch_stands_on_the_other_head_afterwards() {
    let server = Server::start().await;
    forked(&server).await;
    commit(&server, "dev", "e").await;
    let (old, main) = (server.head("dev").await, server.head("main").await);
    let dry = rebase(&server, "dev", "main", json!({"dryRun": true})).await.ok();
    assert_eq!(
        (&dry["wasApplied"], &dry["wasSuccessful"], &dry["newHash"]),
        (&json!(false), &json!(true), &Value::Null)
    );
    assert_eq!(server.head("dev").await, old);

    let answer = rebase(&server, "dev", "main", json!({})).await.ok();
    let new = server.head("dev").await;
    assert_eq!(answer["wasApplied"], true);
    assert_eq!((text(&answer["oldHash"]), text(&answer["newHash"])), (old.clone(), new.clone()));
    let outcomes: Vec<_> = list(&answer["commits"]).iter().map(|c| text(&c["outcome"])).collect();
    assert_eq!(outcomes, ["PICKED", "PICKED"]);
    assert_eq!(answer["commits"][1]["newHash"], new);
    assert_eq!(list(&answer["details"]).len(), 2);
    let log = server.get("/api/v2/trees/dev/history").await.ok();
    let log: Vec<_> = list(&log["logEntries"]).iter().map(|e| text(&e["commitMeta"]["message"])).collect();
    assert_eq!(log, ["e", "d", "m", "first"]);
    assert_eq!(server.keys("dev").await, ["a", "d", "e", "m"]);
    assert_eq!(server.head("main").await, main);
    let entry = &reflog(&server, "ref=dev").await[0];
    assert_eq!((&entry["operation"], text(&entry["oldHash"])), (&json!("REBASE"), old));
    // Nothing is left to do.
    let again = rebase(&server, "dev", "main", json!({})).await.ok();
    assert_eq!((&again["wasApplied"], &again["newHash"]), (&json!(false), &json!(new)));
}

#[tokio::test]
async fn conflicts_are_a_409_or_an_answer() {
    let server = Server::start().await;
    let id = forked(&server).await;
    server.commit("main", "theirs", json!([update("a", "s3://b/main", &id)])).await;
    server.commit("dev", "ours", json!([update("a", "s3://b/dev", &id)])).await;
    let before = server.head("dev").await;
    let error = failed(rebase(&server, "dev", "main", json!({})).await, 409, "MERGE_CONFLICT");
    assert_eq!(error["details"]["conflicts"][0]["key"], json!({"elements": ["a"]}));
    for more in [json!({"returnConflictAsResult": true}), json!({"dryRun": true})] {
        let answer = rebase(&server, "dev", "main", more).await.ok();
        assert_eq!((&answer["wasSuccessful"], &answer["wasApplied"]), (&json!(false), &json!(false)));
        assert_eq!(answer["newHash"], Value::Null);
        assert_eq!(answer["commits"][1]["outcome"], "CONFLICT");
    }
    assert_eq!(server.head("dev").await, before);
    let modes = json!([{"key": {"elements": ["a"]}, "mergeBehavior": "DROP"}]);
    let answer = rebase(&server, "dev", "main", json!({"keyMergeModes": modes})).await.ok();
    assert_eq!(answer["wasApplied"], true);
    let content = server.get("/api/v2/trees/dev/contents/a").await.ok();
    assert_eq!(content["content"]["metadataLocation"], "s3://b/main");
}

#[tokio::test]
async fn both_heads_are_checked() {
    let server = Server::start().await;
    forked(&server).await;
    for more in [json!({"expectedHash": EMPTY}), json!({"ontoHash": EMPTY})] {
        let error = failed(rebase(&server, "dev", "main", more).await, 409, "REFERENCE_CONFLICT");
        assert_eq!(error["details"]["conflicts"][0]["conflictType"], "UNEXPECTED_HASH");
    }
    for more in [
        json!({"expectedHash": "cafebabe"}),
        json!({"ontoHash": "x"}),
        json!({"onto": "dev", "ontoHash": server.head("dev").await}),
        json!({"squash": true}),
    ] {
        failed(rebase(&server, "dev", "main", more).await, 400, "BAD_REQUEST");
    }
    failed(rebase(&server, "dev", "main", json!({"onto": "never"})).await, 404, "REFERENCE_NOT_FOUND");
    server.create("TAG", "v1", "dev").await;
    failed(rebase(&server, "v1", "main", json!({})).await, 400, "BAD_REQUEST");
    // On a tag is as good as on a branch.
    server.create("TAG", "base", "main").await;
    assert_eq!(rebase(&server, "dev", "base", json!({})).await.ok()["wasApplied"], true);
}

/// Whose answer got lost sends the request again: it is told that the branch has moved, and finds its own change in the log.
#[tokio::test]
async fn a_repeated_request_does_nothing_twice() {
    let server = Server::start().await;
    forked(&server).await;
    let (old, onto) = (server.head("dev").await, server.head("main").await);
    let again = json!({"expectedHash": old, "ontoHash": onto});
    let new = rebase(&server, "dev", "main", again.clone()).await.ok()["newHash"].clone();
    for _ in 0..2 {
        let error = failed(rebase(&server, "dev", "main", again.clone()).await, 409, "REFERENCE_CONFLICT");
        assert_eq!(error["details"]["conflicts"][0]["conflictType"], "UNEXPECTED_HASH");
    }
    assert_eq!(json!(server.head("dev").await), new);
    let log = reflog(&server, "ref=dev").await;
    let rebases: Vec<&Value> = log.iter().filter(|entry| entry["operation"] == "REBASE").collect();
    assert_eq!(rebases.len(), 1, "{log:?}");
    assert_eq!((&rebases[0]["oldHash"], &rebases[0]["newHash"]), (&json!(old), &new));
}

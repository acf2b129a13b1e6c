//! `POST /ext/v1/refs/{ref}:restore`

use serde_json::{Value, json};

use crate::harness::{Answer, Server};
use crate::world::{commit, delete, failed, newest, reflog};

async fn restore(server: &Server, name: &str, body: Value) -> Answer {
    server.post(&format!("/ext/v1/refs/{}:restore", name.replace('/', "%2F")), body).await
}

#[tokio::test]
async fn a_deleted_branch_is_back_and_so_is_what_undid_that() {
    let server = Server::start().await;
    server.create("BRANCH", "team/dev", "main").await;
    let head = commit(&server, "team%2Fdev", "a").await;
    let keys = server.keys("team%2Fdev").await;
    delete(&server, "team%2Fdev").await;
    assert_eq!(server.get("/api/v2/trees/team%2Fdev").await.status, 404);

    let dry =
        restore(&server, "team/dev", json!({"entry": 3, "expectedNumber": 3, "dryRun": true})).await.ok();
    assert_eq!((&dry["changed"], &dry["reference"]["hash"]), (&json!(false), &json!(head)));
    assert_eq!(server.get("/api/v2/trees/team%2Fdev").await.status, 404);

    let back = restore(&server, "team/dev", json!({"entry": 3, "expectedNumber": 3})).await.ok();
    assert_eq!(back["changed"], true);
    assert_eq!(back["reference"], json!({"type": "BRANCH", "name": "team/dev", "hash": head}));
    assert_eq!((&back["entry"]["number"], &back["entry"]["operation"]), (&json!(4), &json!("RESTORE")));
    assert_eq!(server.keys("team%2Fdev").await, keys);

    // Undo of the undo, and of that.
    let gone =
        restore(&server, "team/dev", json!({"entry": 4, "side": "OLD", "expectedNumber": 4})).await.ok();
    assert_eq!((&gone["reference"], &gone["entry"]["newHash"]), (&Value::Null, &Value::Null));
    restore(&server, "team/dev", json!({"entry": 5, "expectedNumber": 5})).await.ok();
    assert_eq!(server.head("team%2Fdev").await, head);
    // Where it is already: nothing is written.
    let same =
        restore(&server, "team/dev", json!({"entry": 2, "side": "NEW", "expectedNumber": 6})).await.ok();
    assert_eq!((&same["changed"], &same["entry"]["number"]), (&json!(false), &json!(6)));
    assert_eq!(reflog(&server, "ref=team/dev").await.len(), 6);
}

#[tokio::test]
async fn a_moved_branch_goes_back_unless_it_has_moved_again() {
    let server = Server::start().await;
    let first = commit(&server, "main", "a").await;
    commit(&server, "main", "b").await;
    let seen = newest(&server, "main").await;
    commit(&server, "main", "c").await;
    let body = json!({"entry": 3, "expectedNumber": seen});
    let error = failed(restore(&server, "main", body).await, 409, "REFERENCE_CONFLICT");
    assert_eq!(error["details"]["current"]["number"], 4);
    assert_eq!(error["details"]["current"]["newHash"], server.head("main").await);
    restore(&server, "main", json!({"entry": 3, "expectedNumber": 4})).await.ok();
    assert_eq!(server.head("main").await, first);
    assert_eq!(server.keys("main").await, ["a"]);
}

#[tokio::test]
async fn what_cannot_be_is_refused() {
    let server = Server::start().await;
    commit(&server, "main", "a").await;
    failed(
        restore(&server, "never", json!({"entry": 1, "expectedNumber": 1})).await,
        404,
        "REFERENCE_NOT_FOUND",
    );
    for entry in [0, 3, u64::MAX] {
        let body = json!({"entry": entry, "expectedNumber": 2});
        failed(restore(&server, "main", body).await, 404, "LOG_ENTRY_NOT_FOUND");
    }
    // Before its creation the default branch did not exist, and it must.
    failed(restore(&server, "main", json!({"entry": 1, "expectedNumber": 2})).await, 400, "BAD_REQUEST");
    for body in [
        json!({}),
        json!({"entry": 1}),
        json!({"entry": "1", "expectedNumber": 2}),
        json!({"entry": -1, "expectedNumber": 2}),
        json!({"entry": 1, "expectedNumber": 2, "force": true}),
        json!({"entry": 1, "expectedNumber": 2, "side": "LEFT"}),
    ] {
        failed(restore(&server, "main", body).await, 400, "BAD_REQUEST");
    }
    // A name that is of another type now.
    server.create("BRANCH", "x", "main").await;
    delete(&server, "x").await;
    server.create("TAG", "x", "main").await;
    commit(&server, "main", "b").await;
    failed(
        restore(&server, "x", json!({"entry": 1, "side": "NEW", "expectedNumber": 3})).await,
        409,
        "REFERENCE_CONFLICT",
    );
}

/// Whose answer got lost sends the request again: it is told that the reference has moved, by its own change; and with the
/// number of that one, that it is there already. Nothing is written twice.
#[tokio::test]
async fn a_repeated_request_does_nothing_twice() {
    let server = Server::start().await;
    let first = commit(&server, "main", "a").await;
    commit(&server, "main", "b").await;
    let seen = newest(&server, "main").await;
    restore(&server, "main", json!({"entry": seen, "expectedNumber": seen})).await.ok();
    let after = newest(&server, "main").await;
    let again = json!({"entry": seen, "expectedNumber": seen});
    let error = failed(restore(&server, "main", again).await, 409, "REFERENCE_CONFLICT");
    assert_eq!(error["details"]["current"]["operation"], "RESTORE", "it is its own change that it meets");
    let same = restore(&server, "main", json!({"entry": seen, "expectedNumber": after})).await.ok();
    assert_eq!(same["changed"], false);
    assert_eq!((server.head("main").await, newest(&server, "main").await), (first, after));
}

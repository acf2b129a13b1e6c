use std::sync::Arc;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::harness::{Server, append, set, snapshot_ids, unmoved};

/// Writers that refresh and try again all get in, each exactly once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn appenders_with_retry() {
    const WRITERS: i64 = 8;
    const APPENDS: i64 = 4;
    let server = Arc::new(Server::new().await);
    server.namespace("main", "a").await;
    server.table("main", "a", "t").await;
    let writers = (0..WRITERS).map(|writer| {
        let server = server.clone();
        tokio::spawn(async move {
            for n in 0..APPENDS {
                loop {
                    let now = server.load("main", "a", "t").await["metadata"].clone();
                    let id = 1 + writer * APPENDS + n;
                    let answer =
                        server.commit("main/namespaces/a/tables/t", unmoved(&now), append(&now, id)).await;
                    if answer.status == 200 {
                        break;
                    }
                    answer.refused(409, "CommitFailedException", "");
                }
            }
        })
    });
    for writer in join_all(writers).await {
        writer.unwrap();
    }
    let loaded = server.load("main", "a", "t").await;
    let mut ids = snapshot_ids(&loaded);
    ids.sort_unstable();
    assert_eq!(ids, (1..=WRITERS * APPENDS).collect::<Vec<_>>());
    let files = usize::try_from(WRITERS * APPENDS).unwrap() + 1;
    assert_eq!(server.metadata_files(), files, "no attempt left a file");
    assert_eq!(server.io().puts as usize, files, "no attempt wrote in vain");
}

/// Changes that do not exclude each other all land, without the clients trying again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn disjoint_properties() {
    let server = Arc::new(Server::new().await);
    server.namespace("main", "a").await;
    server.table("main", "a", "t").await;
    let changes = (0..16).map(|n| {
        let server = server.clone();
        async move {
            let updates = set(&format!("k{n}"), "1");
            server.commit("main/namespaces/a/tables/t", json!([]), updates).await.ok();
        }
    });
    join_all(changes).await;
    let properties = server.load("main", "a", "t").await["metadata"]["properties"].clone();
    assert!((0..16).all(|n| properties[format!("k{n}")] == "1"), "{properties}");
}

/// Native commits to the same table take no turn in line: the server tries again, and no file is left over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_native_writers() {
    let server = Arc::new(Server::new().await);
    server.namespace("main", "a").await;
    server.table("main", "a", "t").await;
    let native = {
        let server = server.clone();
        async move {
            for n in 0..10 {
                loop {
                    let head =
                        server.nessie("GET", "trees/main", Value::Null).await["reference"]["hash"].clone();
                    let head = head.as_str().unwrap();
                    let found =
                        server.nessie("GET", &format!("trees/main@{head}/contents/a.t"), Value::Null).await;
                    let mut content = found["content"].clone();
                    content["schemaId"] = (n % 2).into();
                    let body = json!({"commitMeta": {"message": "native"}, "operations": [
                        {"type": "PUT", "key": {"elements": ["a", "t"]}, "content": content}]});
                    let path = format!("/api/v2/trees/main@{head}/history/commit");
                    match server.send("POST", &path, &[], &body).await.status {
                        200 => break,
                        status => assert_eq!(status, 409),
                    }
                }
            }
        }
    };
    let ours = {
        let server = server.clone();
        async move {
            let mut landed = 0;
            for n in 0..10 {
                let answer =
                    server.commit("main/namespaces/a/tables/t", json!([]), set(&format!("k{n}"), "1")).await;
                match answer.status {
                    200 => landed += 1,
                    _ => answer.refused(409, "CommitFailedException", ""),
                }
            }
            landed
        }
    };
    let ((), landed) = tokio::join!(native, ours);
    assert!(landed > 0);
    assert_eq!(server.metadata_files(), landed + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_creator_wins() {
    let server = Arc::new(Server::new().await);
    server.namespace("main", "a").await;
    let creations = (0..8).map(|_| {
        let server = server.clone();
        async move {
            let body = json!({"name": "t", "schema": crate::harness::schema()});
            server.post("main/namespaces/a/tables", body).await
        }
    });
    let answers = join_all(creations).await;
    let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 200);
    assert_eq!(won.len(), 1);
    for answer in lost {
        answer.refused(409, "AlreadyExistsException", "Table already exists: a.t");
    }
    assert_eq!(server.metadata_files(), 1);
}

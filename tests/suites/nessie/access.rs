//! Every declared route asks the authorizer: exactly once, or once per chunk where a list is filtered.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use lochan_api_spec::endpoint::{EndpointInfo, Method};
use lochan_api_spec::nessie;
use lochan_server_catalog::{Access, Authorizer, Check, Error, Principal};
use serde_json::{Value, json};

use crate::harness::{EMPTY, Server, added, drop, head, key, put, put_namespace};

/// Counts questions, and says no when told to.
#[derive(Default)]
struct Guard {
    asked: AtomicUsize,
    closed: AtomicBool,
    last: Mutex<Check>,
}

#[async_trait]
impl Authorizer for Guard {
    async fn check(&self, _: &Principal, check: &Check) -> Result<Vec<bool>, Error> {
        assert!(!check.subjects.is_empty(), "a question about nothing");
        self.asked.fetch_add(1, Ordering::SeqCst);
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = check.clone();
        Ok(vec![!self.closed.load(Ordering::SeqCst); check.subjects.len()])
    }
}

/// A request that succeeds.
struct Sample {
    target: String,
    body: Value,
    /// Whether the answer is a list filtered by further questions.
    filtered: bool,
}

/// What the samples need to name.
struct Names {
    head: String,
    older: String,
    dev: String,
}

async fn prepare(server: &Server) -> Names {
    let first = server.commit("main", "first", json!([put_namespace("db"), put("db.t", "s3://b/1")])).await;
    let older = head(&first);
    server.create("BRANCH", "dev", "main").await;
    server.create("BRANCH", "old", "main").await;
    server.create("TAG", "tag", "main").await;
    server.commit("dev", "more", json!([put("db.dev", "s3://b/2")])).await;
    let id = added(&first, "db.t");
    let second = json!([crate::harness::update("db.t", "s3://b/3", &id), put_namespace("empty")]);
    let head = head(&server.commit("main", "second", second).await);
    Names { head, older, dev: server.head("dev").await }
}

/// A request that succeeds, for every endpoint there is.
fn sample(info: &EndpointInfo, names: &Names) -> Sample {
    let Names { head, older, dev } = names;
    let v1 = info.path.starts_with("/api/v1");
    let plain = |target: &str| Sample { target: target.to_owned(), body: Value::Null, filtered: false };
    let listed = |target: &str| Sample { filtered: true, ..plain(target) };
    let with = |target: String, body: Value| Sample { target, body, filtered: false };
    let operations = json!({"commitMeta": {"message": "m"}, "operations": [put("db.new", "s3://b/9")]});
    let wanted = json!({"requestedKeys": [key("db.t")]});
    let merge = json!({"fromRefName": "dev", "fromHash": dev, "isDryRun": true});
    let transplant = json!({"fromRefName": "dev", "hashesToTransplant": [dev], "isDryRun": true});
    let main = json!({"type": "BRANCH", "name": "main", "hash": older});
    match (v1, info.name) {
        (true, "getConfig") => plain("/api/v1/config"),
        (true, "getAllReferences") => listed("/api/v1/trees"),
        (true, "getDefaultBranch") => plain("/api/v1/trees/tree"),
        (true, "createReference") => {
            with("/api/v1/trees/tree".into(), json!({"type": "TAG", "name": "new", "hash": older}))
        }
        (true, "getReferenceByName") => plain("/api/v1/trees/tree/main?fetch=ALL"),
        (true, "getEntries") => listed("/api/v1/trees/tree/main/entries"),
        (true, "getCommitLog") => listed("/api/v1/trees/tree/main/log?fetch=ALL"),
        (true, "assignReference") => with(format!("/api/v1/trees/branch/old?expectedHash={older}"), main),
        (true, "deleteReference") => plain(&format!("/api/v1/trees/tag/tag?expectedHash={older}")),
        (true, "commitMultipleOperations") => {
            with(format!("/api/v1/trees/branch/main/commit?expectedHash={head}"), operations)
        }
        (true, "mergeRefIntoBranch") => {
            with(format!("/api/v1/trees/branch/main/merge?expectedHash={head}"), merge)
        }
        (true, "transplantCommitsIntoBranch") => {
            with(format!("/api/v1/trees/branch/main/transplant?expectedHash={head}"), transplant)
        }
        (true, "getContent") => plain("/api/v1/contents/db.t?ref=main"),
        (true, "getMultipleContents") => with("/api/v1/contents?ref=main".into(), wanted),
        (true, "getDiff") => listed("/api/v1/diffs/main...dev"),
        (true, "getNamespaces") => listed("/api/v1/namespaces/main"),
        (true, "getNamespace") => plain("/api/v1/namespaces/namespace/main/db"),
        (true, "createNamespace") => with(
            "/api/v1/namespaces/namespace/main/made".into(),
            json!({"type": "NAMESPACE", "elements": ["made"]}),
        ),
        (true, "updateProperties") => {
            with("/api/v1/namespaces/namespace/main/db".into(), json!({"propertyUpdates": {"a": "b"}}))
        }
        (true, "deleteNamespace") => plain("/api/v1/namespaces/namespace/main/empty"),
        (false, "getConfig") => plain("/api/v2/config"),
        (false, "getRepositoryConfig") => plain("/api/v2/config/repository?type=GARBAGE_COLLECTOR"),
        (false, "updateRepositoryConfig") => {
            with("/api/v2/config/repository".into(), json!({"config": {"type": "GARBAGE_COLLECTOR"}}))
        }
        (false, "getAllReferences") => listed("/api/v2/trees?fetch=ALL"),
        (false, "createReference") => with("/api/v2/trees?name=newer&type=BRANCH".into(), main),
        (false, "getReferenceByName") => plain("/api/v2/trees/main"),
        (false, "getReferenceHistory") => plain("/api/v2/trees/main/recent-changes?scan-commits=9"),
        (false, "assignReference") => with(format!("/api/v2/trees/old@{older}"), main),
        (false, "deleteReference") => plain(&format!("/api/v2/trees/old@{older}")),
        (false, "getEntries") => listed("/api/v2/trees/main/entries?content=true"),
        (false, "getCommitLog") => listed("/api/v2/trees/main/history?fetch=ALL"),
        (false, "getDiff") => listed("/api/v2/trees/main/diff/dev"),
        (false, "getContent") => plain("/api/v2/trees/main/contents/db.t"),
        (false, "getSeveralContents") => plain("/api/v2/trees/main/contents?key=db.t"),
        (false, "getMultipleContents") => with("/api/v2/trees/main/contents".into(), wanted),
        (false, "commitMultipleOperations") => with(
            format!("/api/v2/trees/main@{head}/history/commit"),
            json!({"commitMeta": {"message": "m"}, "operations": [put("db.newer", "s3://b/9")]}),
        ),
        (false, "mergeRefIntoBranch") => with(format!("/api/v2/trees/main@{head}/history/merge"), merge),
        (false, "transplantCommitsIntoBranch") => {
            with(format!("/api/v2/trees/main@{head}/history/transplant"), transplant)
        }
        (_, other) => panic!("no sample request for {other} ({}); add one", info.path),
    }
}

async fn send(server: &Server, info: &EndpointInfo, sample: &Sample) -> crate::harness::Answer {
    match info.method {
        Method::Post => server.post(&sample.target, sample.body.clone()).await,
        Method::Put => server.put(&sample.target, sample.body.clone()).await,
        other => server.send(other.as_str(), &sample.target, &[], "").await,
    }
}

#[tokio::test]
async fn every_route_asks_once() {
    let guard = Arc::new(Guard::default());
    let server = Server::guarded(guard.clone()).await;
    let names = prepare(&server).await;
    assert_ne!(names.head, EMPTY);
    for info in nessie::v1::ALL.iter().chain(nessie::v2::ALL) {
        let sample = sample(info, &names);
        guard.asked.store(0, Ordering::SeqCst);
        let answer = send(&server, info, &sample).await;
        assert!(
            answer.status.is_success(),
            "{} {}: {} {}",
            info.method,
            sample.target,
            answer.status,
            answer.body
        );
        let asked = guard.asked.load(Ordering::SeqCst);
        let right = if sample.filtered { asked >= 1 } else { asked == 1 };
        assert!(right, "{} {} asked {asked} times", info.method, info.path);
    }
}

#[tokio::test]
async fn a_refusal_reaches_every_route() {
    let guard = Arc::new(Guard::default());
    let server = Server::guarded(guard.clone()).await;
    let names = prepare(&server).await;
    guard.closed.store(true, Ordering::SeqCst);
    for info in nessie::v1::ALL.iter().chain(nessie::v2::ALL) {
        let sample = sample(info, &names);
        let answer = send(&server, info, &sample).await;
        if info.name == "getAllReferences" {
            // What may not be seen is left out.
            assert_eq!(answer.ok()["references"], json!([]));
        } else {
            let body = answer.failed(403, "FORBIDDEN");
            let message = body["message"].as_str().unwrap_or_default().to_owned();
            let whose =
                if info.path.ends_with("config/repository") { "repository config type" } else { "role ''" };
            assert!(message.contains(&format!("is not allowed for {whose}")), "{}: {message}", info.path);
        }
    }
    guard.closed.store(false, Ordering::SeqCst);
    assert_eq!(server.head("main").await, names.head, "nothing was done");
}

#[tokio::test]
async fn writes_name_every_key_they_touch() {
    let guard = Arc::new(Guard::default());
    let server = Server::guarded(guard.clone()).await;
    let base = server.commit("main", "base", json!([put("old", "s3://1"), put("same", "s3://2")])).await;
    server.create("BRANCH", "dev", "main").await;
    let renamed = json!([drop("old"), crate::harness::update("new", "s3://1", &added(&base, "old"))]);
    let hash = head(&server.commit("dev", "rename", renamed).await);
    let asked = || {
        let check = guard.last.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = check.subjects.iter().filter_map(|subject| {
            let (key, _) = subject.content.as_ref()?;
            Some((subject.access, key.to_string()))
        });
        keys.collect::<Vec<_>>()
    };
    let both = [(Access::CreateContent, "new".to_owned()), (Access::DeleteContent, "old".to_owned())];
    server.merge("dev", "main", json!({"isDryRun": true})).await.ok();
    assert_eq!(asked(), both);
    server.transplant("dev", std::slice::from_ref(&hash), "main", json!({"isDryRun": true})).await.ok();
    assert_eq!(asked(), both);
    // The last question is that of the merge. Halves of a rename are left or applied together, and asked about together.
    let modes = json!({"keyMergeModes": [{"key": key("old"), "mergeBehavior": "DROP"}], "isDryRun": true});
    server.merge("dev", "main", modes.clone()).await.ok();
    assert_eq!(asked(), []);
    server.transplant("dev", std::slice::from_ref(&hash), "main", modes).await.ok();
    assert_eq!(asked(), []);
    let modes = json!({"defaultKeyMergeMode": "DROP", "isDryRun": true,
        "keyMergeModes": [{"key": key("new"), "mergeBehavior": "FORCE"}]});
    server.merge("dev", "main", modes).await.ok();
    assert_eq!(asked(), both);
}

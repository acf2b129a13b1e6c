//! Who may do what, and what is hidden.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use lochan_server_catalog::{Access, Authorizer, Check, Error, Principal, Subject};
use serde_json::json;

use crate::harness::Server;
use crate::streams;
use crate::world::{commit, failed, reflog};

/// Says no to what its rule matches.
#[derive(Default)]
struct Guard(Mutex<Vec<(Access, Option<&'static str>)>>);

impl Guard {
    fn forbid(&self, access: Access, reference: Option<&'static str>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = vec![(access, reference)];
    }
}

#[async_trait]
impl Authorizer for Guard {
    async fn check(&self, _: &Principal, check: &Check) -> Result<Vec<bool>, Error> {
        let rules = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let matches = |subject: &Subject, (access, reference): &(Access, Option<&str>)| {
            subject.access == *access
                && reference.is_none_or(|name| subject.reference.as_ref().is_some_and(|r| r.as_str() == name))
        };
        Ok(check.subjects.iter().map(|s| !rules.iter().any(|rule| matches(s, rule))).collect())
    }
}

async fn guarded() -> (Server, Arc<Guard>) {
    let guard = Arc::new(Guard::default());
    let server = Server::guarded(guard.clone()).await;
    commit(&server, "main", "a").await;
    for name in ["dev", "secret"] {
        server.create("BRANCH", name, "main").await;
        commit(&server, name, "b").await;
    }
    commit(&server, "main", "c").await;
    (server, guard)
}

#[tokio::test]
async fn logs_of_hidden_references_are_hidden() {
    let (server, guard) = guarded().await;
    guard.forbid(Access::ViewReference, Some("secret"));
    for size in [1, 100] {
        let entries = reflog(&server, &format!("max-records={size}")).await;
        assert_eq!(entries.len(), 5);
        assert!(entries.iter().all(|entry| entry["reference"] != "secret"));
    }
    failed(server.get("/ext/v1/reflog?ref=secret").await, 403, "FORBIDDEN");
    let restore = json!({"entry": 1, "expectedNumber": 2});
    failed(server.post("/ext/v1/refs/secret:restore", restore).await, 403, "FORBIDDEN");
}

#[tokio::test]
async fn a_restoration_needs_the_right_to_what_it_comes_to() {
    let (server, guard) = guarded().await;
    let restore = |entry: u64, expected: u64| {
        let body = json!({"entry": entry, "side": "OLD", "expectedNumber": expected});
        server.post("/ext/v1/refs/dev:restore", body)
    };
    guard.forbid(Access::AssignReference, Some("dev"));
    failed(restore(2, 2).await, 403, "FORBIDDEN");
    guard.forbid(Access::DeleteReference, Some("dev"));
    failed(restore(1, 2).await, 403, "FORBIDDEN");
    restore(2, 2).await.ok();
    guard.forbid(Access::AssignReference, None);
    restore(1, 3).await.ok();
    guard.forbid(Access::CreateReference, Some("dev"));
    failed(restore(4, 4).await, 403, "FORBIDDEN");
}

#[tokio::test]
async fn a_rebase_needs_all_that_it_does() {
    let (server, guard) = guarded().await;
    let body = json!({
        "expectedHash": server.head("dev").await, "onto": "main", "ontoHash": server.head("main").await,
    });
    for (access, reference) in [
        (Access::Commit, Some("dev")),
        (Access::AssignReference, Some("dev")),
        (Access::ViewReference, Some("main")),
        (Access::CreateContent, Some("dev")),
    ] {
        guard.forbid(access, reference);
        failed(server.post("/ext/v1/refs/dev:rebase", body.clone()).await, 403, "FORBIDDEN");
    }
    guard.forbid(Access::Commit, Some("main"));
    server.post("/ext/v1/refs/dev:rebase", body).await.ok();
}

#[tokio::test]
async fn whole_repositories_need_rights_of_their_own() {
    let (server, guard) = guarded().await;
    let stream = streams::export(&server, "").await;
    guard.forbid(Access::ExportRepository, None);
    failed(server.get("/ext/v1/export").await, 403, "FORBIDDEN");
    guard.forbid(Access::ImportRepository, None);
    failed(streams::import(&server, "id=x", &stream).await, 403, "FORBIDDEN");
    failed(server.get("/ext/v1/imports").await, 403, "FORBIDDEN");
    failed(server.get("/ext/v1/imports/x").await, 403, "FORBIDDEN");
    failed(server.delete("/ext/v1/imports/x").await, 403, "FORBIDDEN");
    failed(server.get("/ext/v1/imports/x/commits").await, 403, "FORBIDDEN");
    guard.forbid(Access::CreateReference, Some("copy/dev"));
    failed(streams::import(&server, "id=x&prefix=copy/", &stream).await, 403, "FORBIDDEN");
    guard.forbid(Access::ViewReference, Some("nothing"));
    streams::import(&server, "id=x&prefix=copy/", &stream).await.ok();
}

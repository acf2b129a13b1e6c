//! A server in this process, requests to it, and builders of what they carry.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use lochan_server_catalog::{Authorizer, Catalog, Check, Error, OpenAuthorizer, Principal, Settings};
use lochan_server_http::extract::Proxy;
use lochan_server_http::limits::DRAIN_TIMEOUT;
use lochan_server_http::{App, Service, Site, Telemetry, routes};
use lochan_storage_engine::{Engine, Options, merge::Rules};
use lochan_storage_files::{WarehouseConfig, Warehouses};
use lochan_storage_model::{
    ObjectKind, RefName,
    ports::{SystemClock, SystemRng},
};
use lochan_storage_odb::{Epoch, Sweep, memory::Memory};
use metrics::NoopRecorder;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The state before any commit.
pub const EMPTY: &str = "2e1cfa82b035c26cbbbdae632cea070514eb8b773f616aaeaf668e2f0be8f10d";

/// The header by which a client says which version of the contract it knows.
pub const CLIENT_SPEC: &str = "nessie-client-spec";

/// Says yes to everything, once the gate is free.
#[derive(Default)]
struct Gate(tokio::sync::Mutex<()>);

#[async_trait]
impl Authorizer for Gate {
    async fn check(&self, who: &Principal, check: &Check) -> Result<Vec<bool>, Error> {
        std::mem::drop(self.0.lock().await);
        OpenAuthorizer.check(who, check).await
    }

    fn is_open(&self) -> bool {
        true
    }
}

/// A server in this process.
pub struct Server {
    service: Arc<Service<App>>,
    gate: Arc<Gate>,
    store: Arc<Memory>,
    _warehouse: TempDir,
}

/// When a client leaves.
#[derive(Debug, Clone, Copy)]
pub enum Leaves {
    /// While its rights are looked up.
    BeforeAdmission,
    /// While its write waits for the disk.
    AfterAdmission,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The body, null when there is none.
    pub body: Value,
}

impl Server {
    /// A fresh server that lets everybody do everything.
    pub async fn start() -> Self {
        let gate = Arc::new(Gate::default());
        let server = Self::guarded(gate.clone()).await;
        Self { gate, ..server }
    }

    /// A fresh server with an authorizer of its own.
    pub async fn guarded(authorizer: Arc<dyn Authorizer>) -> Self {
        Self::on(Arc::default(), authorizer).await
    }

    /// Another server over the same store, with nothing in memory.
    pub async fn again(&self) -> Self {
        Self::on(self.store.clone(), Arc::new(OpenAuthorizer)).await
    }

    /// Loses a commit out of the store.
    pub async fn lose(&self, commit: &str) {
        let id = commit.parse().expect("a hash");
        let lost = self.store.delete_objects(&[(ObjectKind::Commit, id)], Epoch::MAX).await;
        assert_eq!(lost.expect("a store in memory takes it"), 1);
    }

    /// A server on a store that may hold something.
    pub async fn on(store: Arc<Memory>, authorizer: Arc<dyn Authorizer>) -> Self {
        Self::set_up(authorizer, false, store).await
    }

    /// A fresh server that merges branches that have nothing in common, too.
    pub async fn with_unrelated_merges() -> Self {
        Self::set_up(Arc::new(OpenAuthorizer), true, Arc::default()).await
    }

    async fn set_up(authorizer: Arc<dyn Authorizer>, merge_unrelated: bool, store: Arc<Memory>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let warehouses = Warehouses::open(vec![WarehouseConfig {
            name: "lake".into(),
            location: folder.path().display().to_string(),
            default: true,
            s3: None,
        }])
        .expect("a warehouse on a folder opens");
        let engine = Engine::start(
            store.clone(),
            Arc::new(SystemClock),
            Arc::new(SystemRng),
            Rules::default(),
            Options::default(),
        )
        .expect("an engine starts on an empty store");
        let settings = Settings {
            default_branch: RefName::new("main").expect("a name"),
            merge_unrelated,
            document_cache_bytes: 1 << 20,
        };
        let catalog = Catalog::new(engine, warehouses, authorizer, settings);
        catalog.prepare().await.expect("an empty repository can be prepared");
        let site = Site {
            public_url: None,
            proxy: Proxy::Unknown,
            local_url: "http://127.0.0.1".into(),
            version: "test",
            store_engine: "memory",
            durability: "fsync",
        };
        let telemetry = Arc::new(Telemetry::new(Arc::new(NoopRecorder)));
        let service = Service::new(Arc::new(App { catalog, site }), routes(), telemetry);
        Self { service, gate: Arc::default(), store, _warehouse: folder }
    }

    /// Sends a request with a body as text and further headers.
    pub async fn send(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        self.send_bytes(method, target, headers, Bytes::copy_from_slice(body.as_bytes())).await
    }

    /// The same with any body.
    pub async fn send_bytes(
        &self,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(target);
        if !headers.iter().any(|(name, _)| *name == CLIENT_SPEC) {
            request = request.header(CLIENT_SPEC, "2");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body)).expect("a request");
        let (status, bytes) = self.answer(request).await;
        let body = if bytes.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&bytes).expect("an answer is JSON")
        };
        Answer { status, body }
    }

    /// Answers a request with any body: the status, and the whole body of the answer.
    pub async fn answer<B>(&self, request: Request<B>) -> (StatusCode, Bytes)
    where
        B: BodyExt<Data = Bytes> + Unpin + Send + 'static,
    {
        let response = Arc::clone(&self.service).answer(request).await;
        let status = response.status();
        (status, response.into_body().collect().await.expect("nothing breaks an answer off").to_bytes())
    }

    /// Posts a document and leaves without waiting for the answer: before anything is decided, or once the write has been
    /// handed over. Returns when nothing is at work any more.
    pub async fn leave(&self, target: &str, body: Value, when: Leaves) {
        let request =
            Request::builder().method("POST").uri(target).header("content-type", "application/json");
        let request = request.body(Full::new(Bytes::from(body.to_string()))).expect("a request");
        let mut answer = Box::pin(Arc::clone(&self.service).answer(request));
        let held = match when {
            Leaves::BeforeAdmission => Some(self.gate.0.lock().await),
            Leaves::AfterAdmission => None,
        };
        // The first poll comes as far as the gate, or as the writer's queue; on a store in memory it may even see the end.
        let first = futures::poll!(&mut answer);
        assert!(first.is_pending() || matches!(when, Leaves::AfterAdmission));
        std::mem::drop(answer);
        std::mem::drop(held);
        assert_eq!(self.service.drained(DRAIN_TIMEOUT).await, 0);
    }

    /// `GET`
    pub async fn get(&self, target: &str) -> Answer {
        self.send("GET", target, &[], "").await
    }

    /// `DELETE`
    pub async fn delete(&self, target: &str) -> Answer {
        self.send("DELETE", target, &[], "").await
    }

    /// `POST` with a document.
    pub async fn post(&self, target: &str, body: Value) -> Answer {
        self.send("POST", target, &[("content-type", "application/json")], &body.to_string()).await
    }

    /// `PUT` with a document.
    pub async fn put(&self, target: &str, body: Value) -> Answer {
        self.send("PUT", target, &[("content-type", "application/json")], &body.to_string()).await
    }

    /// The head of a reference.
    pub async fn head(&self, name: &str) -> String {
        text(&self.get(&format!("/api/v2/trees/{name}")).await.ok()["reference"]["hash"])
    }

    /// Commits onto the head of a branch; the answer of v2.
    pub async fn commit(&self, branch: &str, message: &str, operations: Value) -> Value {
        let head = self.head(branch).await;
        self.commit_at(&format!("{branch}@{head}"), message, operations).await.ok()
    }

    /// Commits onto a branch as seen from a commit.
    pub async fn commit_at(&self, point: &str, message: &str, operations: Value) -> Answer {
        let body = json!({"commitMeta": {"message": message}, "operations": operations});
        self.post(&format!("/api/v2/trees/{point}/history/commit"), body).await
    }

    /// Creates a reference at the head of another.
    pub async fn create(&self, kind: &str, name: &str, from: &str) -> Value {
        let hash = self.head(from).await;
        self.create_at(kind, name, from, &hash).await.ok()
    }

    /// Creates a reference at a commit of another.
    pub async fn create_at(&self, kind: &str, name: &str, from: &str, hash: &str) -> Answer {
        let body = json!({"type": "BRANCH", "name": from, "hash": hash});
        self.post(&format!("/api/v2/trees?name={name}&type={kind}"), body).await
    }

    /// Merges the head of one branch into the head of another.
    pub async fn merge(&self, from: &str, into: &str, options: Value) -> Answer {
        let mut body = json!({"fromRefName": from, "fromHash": self.head(from).await});
        merge_into(&mut body, options);
        let head = self.head(into).await;
        self.post(&format!("/api/v2/trees/{into}@{head}/history/merge"), body).await
    }

    /// Transplants commits onto the head of a branch.
    pub async fn transplant(&self, from: &str, hashes: &[String], into: &str, options: Value) -> Answer {
        let mut body = json!({"fromRefName": from, "hashesToTransplant": hashes});
        merge_into(&mut body, options);
        let head = self.head(into).await;
        self.post(&format!("/api/v2/trees/{into}@{head}/history/transplant"), body).await
    }

    /// The keys of a state, joined by dots.
    pub async fn keys(&self, point: &str) -> Vec<String> {
        let found = self.get(&format!("/api/v2/trees/{point}/entries")).await.ok();
        list(&found["entries"]).iter().map(|entry| dotted(&entry["name"])).collect()
    }
}

impl Answer {
    /// The body of a success.
    #[track_caller]
    pub fn ok(self) -> Value {
        assert!(self.status.is_success(), "{}: {}", self.status, self.body);
        self.body
    }

    /// The body of a failure with this status and error code.
    #[track_caller]
    pub fn failed(self, status: u16, code: &str) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        assert_eq!(self.body["errorCode"], code, "{}", self.body);
        assert_eq!(self.body["status"], status, "{}", self.body);
        assert!(self.body["serverStackTrace"].is_null());
        self.body
    }

    /// The message of a 400.
    #[track_caller]
    pub fn refused(self) -> String {
        text(&self.failed(400, "BAD_REQUEST")["message"])
    }
}

fn merge_into(body: &mut Value, more: Value) {
    if let (Some(body), Value::Object(more)) = (body.as_object_mut(), more) {
        body.extend(more);
    }
}

/// A text.
#[track_caller]
pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}

/// A list.
#[track_caller]
pub fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

/// A content key, joined by dots.
pub fn dotted(key: &Value) -> String {
    list(&key["elements"]).iter().map(text).collect::<Vec<_>>().join(".")
}

/// A content key of dotted text.
pub fn key(dotted: &str) -> Value {
    json!({"elements": dotted.split('.').collect::<Vec<_>>()})
}

/// An Iceberg table without id.
pub fn table(location: &str) -> Value {
    json!({"type": "ICEBERG_TABLE", "metadataLocation": location, "snapshotId": 1, "schemaId": 0, "specId": 0,
        "sortOrderId": 0})
}

/// The same content under an id.
pub fn with_id(mut content: Value, id: &str) -> Value {
    content["id"] = id.into();
    content
}

/// Puts a table.
pub fn put(at: &str, location: &str) -> Value {
    json!({"type": "PUT", "key": key(at), "content": table(location)})
}

/// Puts a namespace.
pub fn put_namespace(at: &str) -> Value {
    json!({"type": "PUT", "key": key(at), "content": {"type": "NAMESPACE", "elements": key(at)["elements"]}})
}

/// Puts another state of a table.
pub fn update(at: &str, location: &str, id: &str) -> Value {
    json!({"type": "PUT", "key": key(at), "content": with_id(table(location), id)})
}

/// Deletes a key.
pub fn drop(at: &str) -> Value {
    json!({"type": "DELETE", "key": key(at)})
}

/// The id that a key got in a commit.
#[track_caller]
pub fn added(committed: &Value, at: &str) -> String {
    let of_key = list(&committed["addedContents"]).iter().find(|added| dotted(&added["key"]) == at);
    text(&of_key.unwrap_or_else(|| panic!("{at} is not new in {committed}"))["contentId"])
}

/// The new head of a commit.
pub fn head(committed: &Value) -> String {
    text(&committed["targetBranch"]["hash"])
}

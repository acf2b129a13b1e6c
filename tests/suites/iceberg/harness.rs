//! A catalog in this process, and requests to it.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt, Full};
use lochan_server_catalog::{Authorizer, Catalog, Check, Error, Principal, Settings};
use lochan_server_http::extract::Proxy;
use lochan_server_http::limits::DRAIN_TIMEOUT;
use lochan_server_http::{App, Service, Site, Telemetry, routes};
use lochan_storage_engine::merge::Rules;
use lochan_storage_engine::{Engine, Options};
use lochan_storage_files::{IoCounts, WarehouseConfig, Warehouses};
use lochan_storage_model::RefName;
use lochan_storage_model::ports::{SystemClock, SystemRng};
use lochan_storage_odb::Store;
use lochan_storage_odb::memory::Memory;
use metrics::NoopRecorder;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Says yes and remembers what it was asked.
#[derive(Default)]
pub struct Asked {
    questions: Mutex<Vec<Check>>,
    /// Held by whoever wants questions to wait.
    gate: tokio::sync::Mutex<()>,
}

impl Asked {
    /// The questions since the last call.
    pub fn take(&self) -> Vec<Check> {
        std::mem::take(&mut self.questions.lock().unwrap())
    }
}

#[async_trait]
impl Authorizer for Asked {
    async fn check(&self, _: &Principal, check: &Check) -> Result<Vec<bool>, Error> {
        drop(self.gate.lock().await);
        self.questions.lock().unwrap().push(check.clone());
        Ok(vec![true; check.subjects.len()])
    }
}

/// A server without a socket, with the warehouses `lake` (default) and `second` in a temporary folder.
pub struct Server {
    service: Arc<Service<App>>,
    engine: Engine,
    warehouses: Warehouses,
    store: Arc<dyn Store>,
    pub asked: Arc<Asked>,
    folder: Arc<TempDir>,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Answer {
    /// The body of a success.
    #[track_caller]
    pub fn ok(self) -> Value {
        assert!(self.status < 300, "{self:?}");
        self.body
    }

    /// Checks a refusal: the whole envelope, its type, a part of its message.
    #[track_caller]
    pub fn refused(&self, status: u16, kind: &str, text: &str) {
        let error = &self.body["error"];
        assert_eq!((self.status, error["type"].as_str()), (status, Some(kind)), "{self:?}");
        assert_eq!(error["code"], status, "{self:?}");
        assert!(error["message"].as_str().unwrap().contains(text), "{self:?}");
    }

    pub fn etag(&self) -> String {
        self.headers["etag"].to_str().unwrap().to_owned()
    }
}

impl Server {
    pub async fn new() -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Self::over(Arc::new(Memory::new()), folder).await
    }

    /// Another server over the same store and files, with nothing in memory.
    pub async fn again(&self) -> Self {
        Self::over(self.store.clone(), self.folder.clone()).await
    }

    /// A server over a store of the caller's.
    pub async fn on(store: Arc<dyn Store>) -> Self {
        Self::over(store, Arc::new(tempfile::tempdir().unwrap())).await
    }

    async fn over(store: Arc<dyn Store>, folder: Arc<TempDir>) -> Self {
        let warehouse = |name: &str| {
            let location = folder.path().join(name);
            std::fs::create_dir_all(&location).unwrap();
            let location = location.to_str().unwrap().to_owned();
            WarehouseConfig { name: name.to_owned(), location, default: name == "lake", s3: None }
        };
        let warehouses = Warehouses::open(vec![warehouse("lake"), warehouse("second")]).unwrap();
        let (clock, rng) = (Arc::new(SystemClock), Arc::new(SystemRng));
        let engine = Engine::start(store.clone(), clock, rng, Rules::default(), Options::default()).unwrap();
        let asked = Arc::new(Asked::default());
        let settings = Settings {
            default_branch: RefName::new("main").unwrap(),
            merge_unrelated: true,
            document_cache_bytes: 16 << 20,
        };
        let catalog = Catalog::new(engine.clone(), warehouses.clone(), asked.clone(), settings);
        catalog.prepare().await.unwrap();
        let site = Site {
            public_url: None,
            proxy: Proxy::Unknown,
            local_url: "http://127.0.0.1:1".to_owned(),
            version: "0",
            store_engine: "memory",
            durability: "fsync",
        };
        let telemetry = Arc::new(Telemetry::new(Arc::new(NoopRecorder)));
        let service = Service::new(Arc::new(App { catalog, site }), routes(), telemetry);
        asked.take();
        Self { service, engine, warehouses, store, asked, folder }
    }

    pub async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header("host", "h:19120");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let text = if body.is_null() { String::new() } else { body.to_string() };
        if !body.is_null() {
            request = request.header("content-type", "application/json");
        }
        let request = request.body(Full::new(Bytes::from(text))).unwrap();
        let (parts, body) = self.service.clone().answer(request).await.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let body = if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap() };
        Answer { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    /// Posts a document and leaves before anything is decided; returns when nothing is at work any more.
    pub async fn leave(&self, path: &str, body: &Value) {
        let request = Request::builder().method("POST").uri(format!("/iceberg/v1/{path}"));
        let request = request.header("content-type", "application/json");
        let request = request.body(Full::new(Bytes::from(body.to_string()))).unwrap();
        let mut answer = Box::pin(self.service.clone().answer(request));
        let held = self.asked.gate.lock().await;
        // The first poll reads the body and comes as far as the question whether the client may.
        assert!(futures::poll!(&mut answer).is_pending());
        drop(answer);
        drop(held);
        assert_eq!(self.service.drained(DRAIN_TIMEOUT).await, 0);
    }

    /// A request below `/iceberg/v1`.
    pub async fn call(&self, method: &str, path: &str, body: Value) -> Answer {
        self.send(method, &format!("/iceberg/v1/{path}"), &[], &body).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.call("GET", path, Value::Null).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.call("POST", path, body).await
    }

    /// A request of the Nessie API v2.
    pub async fn nessie(&self, method: &str, path: &str, body: Value) -> Value {
        self.send(method, &format!("/api/v2/{path}"), &[], &body).await.ok()
    }

    /// The newest commit of a branch: its metadata, with its hash.
    pub async fn last_commit(&self, branch: &str) -> Value {
        let log = self.nessie("GET", &format!("trees/{branch}/history?max-records=1"), Value::Null).await;
        log["logEntries"][0]["commitMeta"].clone()
    }

    /// Makes a branch from another.
    pub async fn branch(&self, name: &str, from: &str) {
        let head = self.nessie("GET", &format!("trees/{from}"), Value::Null).await;
        let hash = head["reference"]["hash"].clone();
        let body = json!({"type": "BRANCH", "name": from, "hash": hash});
        self.nessie("POST", &format!("trees?name={name}&type=BRANCH"), body).await;
    }

    pub async fn merge(&self, from: &str, into: &str) -> Value {
        let head = |name: &str| format!("trees/{name}");
        let source = self.nessie("GET", &head(from), Value::Null).await;
        let target = self.nessie("GET", &head(into), Value::Null).await;
        let path = format!("trees/{into}@{}/history/merge", target["reference"]["hash"].as_str().unwrap());
        self.nessie("POST", &path, json!({"fromRefName": from, "fromHash": source["reference"]["hash"]}))
            .await
    }

    /// A namespace on a branch.
    pub async fn namespace(&self, prefix: &str, name: &str) {
        self.post(&format!("{prefix}/namespaces"), json!({"namespace": [name]})).await.ok();
    }

    /// A table with the columns `id` and `data`; its metadata.
    pub async fn table(&self, prefix: &str, namespace: &str, name: &str) -> Value {
        let body = json!({"name": name, "schema": schema()});
        self.post(&format!("{prefix}/namespaces/{namespace}/tables"), body).await.ok()["metadata"].clone()
    }

    pub async fn load(&self, prefix: &str, namespace: &str, table: &str) -> Value {
        self.get(&format!("{prefix}/namespaces/{namespace}/tables/{table}")).await.ok()
    }

    pub async fn commit(&self, path: &str, requirements: Value, updates: Value) -> Answer {
        self.post(path, json!({"requirements": requirements, "updates": updates})).await
    }

    /// What the warehouses were asked for so far.
    pub fn io(&self) -> IoCounts {
        let mut sum = IoCounts::default();
        for warehouse in self.warehouses.iter() {
            let counts = warehouse.io_counts();
            sum.puts += counts.puts;
            sum.gets += counts.gets;
            sum.heads += counts.heads;
            sum.deletes += counts.deletes;
        }
        sum
    }

    /// The path of a location on disk.
    pub fn path(&self, location: &Value) -> PathBuf {
        PathBuf::from(location.as_str().unwrap().trim_start_matches("file://"))
    }

    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Metadata files below the warehouses.
    pub fn metadata_files(&self) -> usize {
        fn count(folder: &std::path::Path) -> usize {
            let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            entries
                .map(|path| match path.is_dir() {
                    true => count(&path),
                    false => usize::from(path.to_str().unwrap().ends_with(".metadata.json")),
                })
                .sum()
        }
        count(self.folder.path())
    }

    pub async fn stop(self) {
        self.engine.stop(std::time::Duration::from_secs(10)).await;
    }
}

pub fn schema() -> Value {
    json!({"type": "struct", "schema-id": 0, "fields": [
        {"id": 1, "name": "id", "type": "long", "required": false},
        {"id": 2, "name": "data", "type": "string", "required": false}]})
}

/// `add-snapshot` and `set-snapshot-ref` of an append onto `metadata`.
pub fn append(metadata: &Value, id: i64) -> Value {
    let parent = metadata["current-snapshot-id"].as_i64().filter(|id| *id > 0);
    let mut snapshot = json!({
        "snapshot-id": id, "sequence-number": metadata["last-sequence-number"].as_i64().unwrap() + 1,
        "timestamp-ms": metadata["last-updated-ms"].as_i64().unwrap() + 1, "schema-id": 0,
        "manifest-list": format!("{}/metadata/snap-{id}.avro", metadata["location"].as_str().unwrap()),
        "summary": {"operation": "append"}});
    if let Some(parent) = parent {
        snapshot["parent-snapshot-id"] = parent.into();
    }
    json!([{"action": "add-snapshot", "snapshot": snapshot},
           {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": id}])
}

/// What an append relies on.
pub fn unmoved(metadata: &Value) -> Value {
    let current = metadata["current-snapshot-id"].as_i64().filter(|id| *id > 0);
    json!([{"type": "assert-table-uuid", "uuid": metadata["table-uuid"]},
           {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": current}])
}

pub fn set(key: &str, value: &str) -> Value {
    json!([{"action": "set-properties", "updates": {key: value}}])
}

pub fn snapshot_ids(loaded: &Value) -> Vec<i64> {
    let snapshots = loaded["metadata"]["snapshots"].as_array().unwrap();
    snapshots.iter().map(|snapshot| snapshot["snapshot-id"].as_i64().unwrap()).collect()
}

/// A view's body.
pub fn view(name: &str, sql: &str) -> Value {
    json!({"name": name, "schema": {"type": "struct", "schema-id": 0, "fields": [
               {"id": 0, "name": "c", "type": "long", "required": false}]},
           "view-version": version(1, sql)})
}

pub fn version(id: i32, sql: &str) -> Value {
    json!({"version-id": id, "timestamp-ms": 1_766_000_000_000_i64, "schema-id": 0, "summary": {},
           "default-namespace": ["eu"], "representations": [{"type": "sql", "dialect": "spark", "sql": sql}]})
}

/// A key for the `Idempotency-Key` header; another number, another key.
pub fn key(number: u32) -> String {
    let mut text = String::from("0192f0c1-");
    write!(text, "{:04x}-7abc-8def-0123456789ab", number).unwrap();
    text
}

//! What a commit leaves behind when the store fails it.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use lochan_storage_model::{ObjectId, ObjectKind, RefName};
use lochan_storage_odb::memory::Memory;
use lochan_storage_odb::{
    Batch, DerivedSpace, DerivedWrite, Outcome, Record, RecordSpace, RefLogEntry, Reference, Store,
    StoreError, Writes,
};
use serde_json::{Value, json};

use crate::harness::{Server, append, set, unmoved};

/// A store that fails its next write as it is told.
struct Failing {
    inner: Memory,
    next: Mutex<Option<StoreError>>,
}

#[async_trait]
impl Store for Failing {
    async fn object(&self, kind: ObjectKind, id: ObjectId) -> Result<Option<Bytes>, StoreError> {
        self.inner.object(kind, id).await
    }

    async fn reference(&self, name: &RefName) -> Result<Option<Reference>, StoreError> {
        self.inner.reference(name).await
    }

    async fn references(&self, after: Option<&RefName>, limit: usize) -> Result<Vec<Reference>, StoreError> {
        self.inner.references(after, limit).await
    }

    async fn record(&self, space: RecordSpace, key: &[u8]) -> Result<Option<Record>, StoreError> {
        self.inner.record(space, key).await
    }

    async fn records(
        &self,
        space: RecordSpace,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<(Bytes, Record)>, StoreError> {
        self.inner.records(space, after, limit).await
    }

    async fn ref_log(
        &self,
        name: &RefName,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<RefLogEntry>, StoreError> {
        self.inner.ref_log(name, before, limit).await
    }

    async fn ref_log_names(&self, after: Option<&RefName>, limit: usize) -> Result<Vec<RefName>, StoreError> {
        self.inner.ref_log_names(after, limit).await
    }

    async fn request(&self, key: &[u8; 32]) -> Result<Option<RefLogEntry>, StoreError> {
        self.inner.request(key).await
    }

    async fn derived(&self, space: DerivedSpace, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        self.inner.derived(space, key).await
    }

    async fn derived_scan(
        &self,
        space: DerivedSpace,
        prefix: &[u8],
        from: Option<&[u8]>,
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<(Bytes, Bytes)>, StoreError> {
        self.inner.derived_scan(space, prefix, from, reverse, limit).await
    }

    async fn put_derived(&self, rows: Vec<DerivedWrite>) -> Result<(), StoreError> {
        self.inner.put_derived(rows).await
    }

    async fn commit(&self, batch: Batch) -> Result<Outcome, StoreError> {
        let failure = self.next.lock().unwrap().take();
        match failure {
            Some(error) => Err(error),
            None => self.inner.commit(batch).await,
        }
    }

    fn writes(&self) -> Writes {
        self.inner.writes()
    }
}

async fn server() -> (Arc<Failing>, Server, Value) {
    let store = Arc::new(Failing { inner: Memory::new(), next: Mutex::new(None) });
    let server = Server::on(store.clone()).await;
    server.namespace("main", "a").await;
    let table = server.table("main", "a", "t").await;
    (store, server, table)
}

/// A commit whose outcome nobody knows keeps its file, for the commit may name it; the client is told so.
#[tokio::test]
async fn unknown_outcome() {
    let (store, server, table) = server().await;
    *store.next.lock().unwrap() = Some(StoreError::Unknown("power".into()));
    let path = "main/namespaces/a/tables/t";
    let answer = server.commit(path, unmoved(&table), append(&table, 1)).await;
    assert_eq!(answer.body["error"]["type"], "CommitStateUnknownException", "{answer:?}");
    assert_eq!((answer.status, server.metadata_files()), (500, 2));
    let body = json!({"table-changes": [{"identifier": {"namespace": ["a"], "name": "t"}, "updates": set("k", "v")}]});
    *store.next.lock().unwrap() = Some(StoreError::Unknown("power".into()));
    let answer = server.post("main/transactions/commit", body).await;
    assert_eq!((answer.status, &answer.body["error"]["type"]), (500, &json!("CommitStateUnknownException")));
}

/// A commit that surely failed leaves no file and no trace.
#[tokio::test]
async fn certain_failure() {
    let (store, server, table) = server().await;
    for (error, status) in
        [(StoreError::WritesRefused("disk".into()), 503), (StoreError::Full("disk".into()), 507)]
    {
        *store.next.lock().unwrap() = Some(error);
        let path = "main/namespaces/a/tables/t";
        let answer = server.commit(path, unmoved(&table), append(&table, 1)).await;
        assert_eq!((answer.status, server.metadata_files()), (status, 1), "{answer:?}");
        assert!(answer.headers.contains_key("retry-after"));
    }
    let path = "main/namespaces/a/tables/t";
    server.commit(path, unmoved(&table), append(&table, 1)).await.ok();
    let loaded = server.load("main", "a", "t").await;
    assert_eq!(loaded["metadata"]["current-snapshot-id"], 1);
}

/// A commit whose client is gone before it is admitted leaves no file and no trace.
#[tokio::test]
async fn abandoned() {
    let (_, server, table) = server().await;
    let body = json!({"requirements": unmoved(&table), "updates": append(&table, 1)});
    server.leave("main/namespaces/a/tables/t", &body).await;
    assert_eq!(server.metadata_files(), 1);
    let loaded = server.load("main", "a", "t").await;
    assert_eq!(loaded["metadata"]["current-snapshot-id"], -1);
    server.post("main/namespaces/a/tables/t", body).await.ok();
    assert_eq!(server.metadata_files(), 2);
}

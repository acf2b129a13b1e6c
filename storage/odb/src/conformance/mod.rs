//! What every backend must do, as tests that a backend calls from its own in a dozen lines.
//!
//! Each check begins with a fresh store, says in its name what it demands, and panics where the backend falls short. Call
//! [`run`] on a runtime with several threads, so that the racing checks race.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a panic here is a failed test of a backend"
)]

mod batches;
mod derived;
mod durable;
mod objects;
mod points;
mod racing;
mod records;
mod references;
mod sweep;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use lochan_storage_model::{CommitId, ObjectId, ObjectKind, RefName};

use crate::{
    Batch, Change, ExpectedReference, LogMeta, NewObject, Outcome, RefKind, RefOperation, ReferenceChange,
    Store, Sweep,
};

/// How the suite gets stores.
#[async_trait]
pub trait Backend: Send + Sync {
    /// A new, empty store.
    async fn create(&self) -> Arc<dyn Sweep>;

    /// Closes `store`, to which the suite holds no other handle, and opens it again; `None` if the backend keeps
    /// nothing.
    async fn reopen(&self, store: Arc<dyn Sweep>) -> Option<Arc<dyn Sweep>>;
}

/// Runs the whole suite.
pub async fn run(backend: &dyn Backend) {
    run_store(backend).await;
    objects::run(backend).await;
    sweep::run(backend).await;
    points::run(backend).await;
    durable::run(backend).await;
}

/// Runs the part that needs no [`Sweep`], for wrappers that are only a [`Store`].
pub async fn run_store(backend: &dyn Backend) {
    batches::run(backend).await;
    references::run(backend).await;
    records::run(backend).await;
    derived::run(backend).await;
    racing::run(backend).await;
}

fn name(text: &str) -> RefName {
    RefName::new(text).unwrap()
}

fn object(kind: ObjectKind, bytes: impl Into<Bytes>) -> NewObject {
    let bytes = bytes.into();
    NewObject { kind, id: ObjectId::of(kind, &bytes), bytes }
}

/// A commit object that differs from those of all other seeds.
fn commit(seed: &str) -> NewObject {
    object(ObjectKind::Commit, format!("commit {seed}"))
}

fn target(object: &NewObject) -> CommitId {
    CommitId::new(object.id)
}

fn log(operation: RefOperation) -> LogMeta {
    LogMeta { operation, principal: "ann".into(), request: None, run: None, time: 1_000 }
}

fn create(name: &RefName, kind: RefKind, to: CommitId) -> ReferenceChange {
    let log = log(RefOperation::Create);
    ReferenceChange { name: name.clone(), expected: ExpectedReference::Absent, new: Some((kind, to)), log }
}

fn advance(name: &RefName, from: CommitId, to: CommitId) -> ReferenceChange {
    ReferenceChange {
        name: name.clone(),
        expected: ExpectedReference::At(RefKind::Branch, from),
        new: Some((RefKind::Branch, to)),
        log: log(RefOperation::Commit),
    }
}

fn delete(name: &RefName, from: CommitId) -> ReferenceChange {
    ReferenceChange {
        name: name.clone(),
        expected: ExpectedReference::At(RefKind::Branch, from),
        new: None,
        log: log(RefOperation::Delete),
    }
}

fn moving(objects: Vec<NewObject>, references: Vec<ReferenceChange>) -> Change {
    Change { objects, references, ..Change::default() }
}

async fn apply(store: &dyn Store, changes: Vec<Change>) -> Outcome {
    store.commit(Batch { changes }).await.unwrap()
}

/// Applies one change that must land.
async fn land(store: &dyn Store, change: Change) {
    assert_eq!(apply(store, vec![change]).await, Outcome::default());
}

async fn head(store: &dyn Store, name: &RefName) -> Option<CommitId> {
    store.reference(name).await.unwrap().map(|reference| reference.target)
}

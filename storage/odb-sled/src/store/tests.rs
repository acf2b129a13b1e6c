//! Tests of this backend beyond the conformance suite.

mod bridge;
mod damage;
mod failing;
mod format;
mod journal;
mod large;
mod opening;
mod positions;
mod rows;
mod snapshots;

use std::{
    ops::{Deref, DerefMut},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, RwLockWriteGuard},
};

use async_trait::async_trait;
use lochan_storage_model::{CommitId, ObjectId, ObjectKind, RefName};
use lochan_storage_odb::{
    Batch, Change, ExpectedReference, LogMeta, NewObject, RefKind, RefOperation, ReferenceChange, Store,
    Sweep,
    conformance::{self, Backend},
};
use tempfile::TempDir;

use super::*;

/// The open session of a store, held alone.
struct Opened<'a>(RwLockWriteGuard<'a, keeper::Current>);

fn session(store: &SledStore) -> Opened<'_> {
    Opened(store.keeper.current_mut())
}

impl Deref for Opened<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        match &*self.0 {
            keeper::Current::Open(session) => session,
            keeper::Current::Closed { why, .. } => panic!("{why}"),
        }
    }
}

impl DerefMut for Opened<'_> {
    fn deref_mut(&mut self) -> &mut Session {
        match &mut *self.0 {
            keeper::Current::Open(session) => {
                // The keeper may be looking at it.
                while Arc::strong_count(session) > 1 {
                    std::thread::yield_now();
                }
                Arc::get_mut(session).unwrap()
            }
            keeper::Current::Closed { why, .. } => panic!("{why}"),
        }
    }
}

/// Where a process started by [`child`] finds its store.
const CHILD_FOLDER: &str = "LOCHAN_TEST_CHILD_FOLDER";

/// Starts one of these tests as a process of its own, on the store in `folder`; what it says is on its standard error.
fn child(test: &str, folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &format!("store::tests::{test}"), "--nocapture"])
        .env(CHILD_FOLDER, folder)
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until what was acknowledged has arrived in the engine.
fn settle(store: &SledStore) {
    session(store).table.pending.settle().unwrap();
}

#[derive(Default)]
struct InFolders {
    folders: Mutex<Vec<TempDir>>,
}

impl InFolders {
    fn last(&self) -> SledConfig {
        SledConfig::new(self.folders.lock().unwrap().last().unwrap().path().join("store"))
    }
}

#[async_trait]
impl Backend for InFolders {
    async fn create(&self) -> Arc<dyn Sweep> {
        self.folders.lock().unwrap().push(tempfile::tempdir().unwrap());
        Arc::new(SledStore::open(&self.last()).unwrap())
    }

    async fn reopen(&self, store: Arc<dyn Sweep>) -> Option<Arc<dyn Sweep>> {
        drop(store);
        Some(Arc::new(SledStore::open(&self.last()).unwrap()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conforms() {
    let backend = InFolders::default();
    conformance::run(&backend).await;
    // sled never syncs what it puts there, so nothing may be put there, whatever was stored.
    for folder in backend.folders.lock().unwrap().iter() {
        let blobs = folder.path().join("store/sled/blobs");
        assert_eq!(std::fs::read_dir(blobs).unwrap().count(), 0);
    }
}

fn main() -> RefName {
    RefName::new("main").unwrap()
}

fn commit(text: &str) -> NewObject {
    let bytes = text.as_bytes().to_vec();
    NewObject { kind: ObjectKind::Commit, id: ObjectId::of(ObjectKind::Commit, &bytes), bytes: bytes.into() }
}

/// A move of `main` that stores what it points at.
fn moved(from: Option<CommitId>, to: &NewObject) -> Batch {
    let reference = ReferenceChange {
        name: main(),
        expected: from.map_or(ExpectedReference::Absent, |from| ExpectedReference::At(RefKind::Branch, from)),
        new: Some((RefKind::Branch, CommitId::new(to.id))),
        log: LogMeta {
            operation: if from.is_some() { RefOperation::Commit } else { RefOperation::Create },
            principal: "ann".into(),
            request: None,
            run: None,
            time: 5,
        },
    };
    let change = Change { objects: vec![to.clone()], references: vec![reference], ..Change::default() };
    Batch { changes: vec![change] }
}

async fn land(store: &dyn Store, batch: Batch) {
    assert_eq!(store.commit(batch).await.unwrap().refused, []);
}

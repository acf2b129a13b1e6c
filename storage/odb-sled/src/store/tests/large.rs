//! Batches that are too large for the engine to take in at once.

#![allow(clippy::await_holding_lock, reason = "nobody else wants the session")]

use std::{
    io,
    path::Path,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use lochan_storage_odb::{DerivedSpace, DerivedWrite, ExpectedRecord, RecordChange, RecordSpace};

use super::{
    damage::{copy, whole},
    *,
};
use crate::{engine::Engine, mark, positions::Positions, trouble::Trouble};

/// What a freed segment of the log is away from being used anew, at least, in bytes.
const REUSE_BYTES: i64 = 2 * 512 * 1024;

fn object(kind: ObjectKind, number: usize, size: usize) -> NewObject {
    let bytes: Vec<u8> = number.to_be_bytes().into_iter().cycle().take(size).collect();
    NewObject { kind, id: ObjectId::of(kind, &bytes), bytes: bytes.into() }
}

fn parts(from: usize, count: usize, size: usize) -> Vec<NewObject> {
    (from..from + count).map(|number| object(ObjectKind::MetadataPart, number, size)).collect()
}

fn put(objects: Vec<NewObject>) -> Batch {
    Batch { changes: vec![Change { objects, ..Change::default() }] }
}

fn with_record(mut batch: Batch, fill: u8) -> Batch {
    let (space, expected) = (RecordSpace::Setting, ExpectedRecord::Any);
    let value = Some(vec![fill; 200_000].into());
    batch.changes[0].records.push(RecordChange { space, key: "large".into(), expected, value });
    batch
}

/// Syncs nothing, and notes how far the log went at each sync.
#[derive(Default)]
struct Noting {
    engine: OnceLock<Arc<Engine>>,
    logs: Mutex<Vec<i64>>,
}

impl Syncer for Arc<Noting> {
    fn sync(&self) -> io::Result<()> {
        if let Some(engine) = self.engine.get() {
            self.logs.lock().unwrap().push(engine.reached().log);
        }
        Ok(())
    }

    fn sync_journal(&self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

impl Noting {
    /// How often was synced since the last time, and how much of the log was written in between on average. Not at most: a
    /// thread of the engine writes too, with syncs of its own.
    fn take(&self) -> (i64, i64) {
        let mut logs = self.logs.lock().unwrap();
        let count = logs.len() - 1;
        let written = logs[count] - logs[0];
        logs.drain(..count);
        (count as i64, written / count.max(1) as i64)
    }
}

#[tokio::test]
async fn no_freed_segment_is_used_anew_before_a_sync_whatever_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let noting = Arc::new(Noting::default());
    let store = SledStore::open_with(&config, |_, _| Box::new(Arc::clone(&noting))).unwrap();
    let engine = Arc::clone(&session(&store).sink.engine);
    assert!(noting.engine.set(engine).is_ok());
    land(&store, put(parts(0, 1, 100))).await;
    settle(&store);
    noting.take();
    let look = |what: &str| {
        settle(&store);
        // Whatever is written without a journal is synced with the next group.
        let (syncs, written) = noting.take();
        assert!(syncs > 2, "{what}: {syncs} syncs");
        assert!(written < REUSE_BYTES, "{what}: {written} bytes of the log between two syncs");
    };
    land(&store, put(parts(1_000, 100, 30_000))).await;
    look("an import");
    land(&store, with_record(put(parts(2_000, 1_000, 1_000)), 1)).await;
    look("many objects");
    let rows = (0..600u64).map(|number| DerivedWrite {
        space: DerivedSpace::Node,
        key: bytes::Bytes::copy_from_slice(blake3::hash(&number.to_be_bytes()).as_bytes()),
        value: Some(vec![7; 4_000].into()),
    });
    store.put_derived(rows.collect()).await.unwrap();
    land(&store, put(parts(1, 1, 100))).await;
    look("derived rows");
    let epoch = store.begin_epoch().await.unwrap();
    noting.take();
    let ids: Vec<_> = parts(1_000, 100, 30_000).iter().map(|object| (object.kind, object.id)).collect();
    assert_eq!(store.delete_objects(&ids, epoch).await.unwrap(), ids.len());
    look("a deletion");
    // One batch whose positions fill a run and more.
    land(&store, put(parts(10_000, 9_000, 20))).await;
    while session(&store).positions.waiting() > 0 {
        tokio::task::yield_now().await;
    }
    look("positions");
    assert_eq!(store.audit().await.unwrap(), []);
}

/// Fails once, as the system tells a failure once.
struct FailsOnce(AtomicBool);

impl Syncer for FailsOnce {
    fn sync(&self) -> io::Result<()> {
        if self.0.swap(false, Ordering::AcqRel) { Err(io::Error::other("the disk is gone")) } else { Ok(()) }
    }

    fn sync_journal(&self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_failed_sync_is_not_followed_by_a_good_one_of_somebody_else() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let store = SledStore::open_with(&config, |_, _| Box::new(FailsOnce(AtomicBool::new(true)))).unwrap();
    let engine = Arc::clone(&session(&store).sink.engine);
    let first = engine.sync().unwrap_err();
    assert!(first.text.contains("the disk is gone"));
    assert_eq!(engine.sync().unwrap_err(), first);
}

/// A store with a batch that is only in the journal, and nobody who takes it in.
async fn waiting(config: &SledConfig) -> SledStore {
    let store = SledStore::open(config).unwrap();
    let first = commit("first");
    land(&store, with_record(moved(None, &first), 1)).await;
    settle(&store);
    session(&store).drain = None;
    let mut batch = with_record(moved(Some(CommitId::new(first.id)), &commit("second")), 2);
    let objects = &mut batch.changes[0].objects;
    objects.extend(parts(0, 40, 1_000).into_iter().chain(parts(50, 4, 30_000)));
    objects.extend((0..30).map(|number| commit(&format!("{number}"))));
    land(&store, batch).await;
    store
}

/// Takes the first pieces of what waits into the tree.
fn take_in(store: &SledStore, from: usize) -> bool {
    let session = session(store);
    let group = session.table.pending.next().unwrap();
    let pieces = group.pieces();
    let stored = session.sink.state().batch;
    assert!(pieces.len() > 10, "{} pieces", pieces.len());
    let Some(piece) = pieces.get(from) else { return false };
    let is_last = from + 1 == pieces.len();
    session.sink.put(piece, if is_last { group.through } else { stored }).unwrap();
    session.sink.engine.flush().unwrap();
    true
}

#[tokio::test]
async fn a_batch_cut_off_anywhere_is_whole_after_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let store = waiting(&SledConfig::new(path("store"))).await;
    let expected = whole(&store).await.unwrap();
    for pieces in 0.. {
        let cut = path(&format!("cut-{pieces}"));
        copy(&path("store"), &cut);
        let is_stored = mark::read(&cut).unwrap().unwrap();
        assert!(is_stored.stored < is_stored.batch);
        check(&cut, &expected).await;
        std::fs::remove_dir_all(cut).unwrap();
        if !take_in(&store, pieces) {
            break;
        }
        assert_eq!(whole(&store).await.unwrap(), expected, "readers see it whole in between, too");
    }
}

async fn check(folder: &Path, expected: &super::damage::Whole) {
    let config = SledConfig::new(folder);
    // Once from the journal, once from the tree alone.
    for _ in 0..2 {
        let store = SledStore::open(&config).unwrap();
        assert_eq!(whole(&store).await.unwrap(), *expected);
        assert_eq!(store.audit().await.unwrap(), []);
        let value = store.record(RecordSpace::Setting, b"large").await.unwrap().unwrap().value;
        assert!(value.len() == 200_000 && value.iter().all(|byte| *byte == 2));
    }
    let salvaged = SledStore::salvage(&config).unwrap();
    assert_eq!(whole(&salvaged).await.unwrap(), *expected);
}

#[tokio::test]
async fn the_watermark_stays_below_a_batch_of_which_a_part_is_in_the_tree() {
    let folder = tempfile::tempdir().unwrap();
    let store = waiting(&SledConfig::new(folder.path().join("store"))).await;
    let stored = session(&store).sink.state().batch;
    assert!((0..12).all(|from| take_in(&store, from)));
    let through = Arc::new(Mutex::new(None));
    let trouble = Arc::new(Trouble::none(Arc::default()));
    let write = {
        let through = Arc::clone(&through);
        move |_: &Engine, run: &mut crate::positions::Run| {
            assert!(run.entries.iter().any(|(_, at)| at.batch > run.through), "a part of it is there");
            *through.lock().unwrap() = Some(run.through);
            Ok(())
        }
    };
    let engine = Arc::clone(&session(&store).sink.engine);
    let missing = Positions::find(&engine.tree, stored).unwrap();
    let last = missing.last_batch;
    let mut positions = Positions::open_with(engine, missing, trouble, write).unwrap();
    positions.close();
    assert!(last > stored, "its number is not given out again");
    assert_eq!(*through.lock().unwrap(), Some(stored));
}

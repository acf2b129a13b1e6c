use std::{
    io::{self, BufRead, BufReader},
    sync::{
        Condvar,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use lochan_storage_odb::{
    DerivedSpace, DerivedWrite, ExpectedRecord, RecordChange, RecordSpace, RequestKey, Writes,
};

use super::*;
use crate::{positions::Positions, sync::FileSyncer, trouble::Trouble};

/// A disk that fails when told.
struct Failing(Arc<AtomicBool>);

impl Syncer for Failing {
    fn sync(&self) -> io::Result<()> {
        if self.0.load(Ordering::Acquire) { Err(io::Error::other("the disk is gone")) } else { Ok(()) }
    }

    fn sync_journal(&self, _: &File) -> io::Result<()> {
        self.sync()
    }
}

/// A store on such a disk, and what tells it.
pub(super) fn failing(config: &SledConfig) -> (SledStore, Arc<AtomicBool>) {
    let fails = Arc::new(AtomicBool::new(false));
    let store = SledStore::open_with(config, |_, _| Box::new(Failing(Arc::clone(&fails)))).unwrap();
    (store, fails)
}

/// Waits until the store takes writes again.
pub(super) async fn recovered(store: &SledStore) {
    while store.writes() != Writes::Allowed {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn after_a_failed_sync_writes_are_refused_until_the_disk_takes_them_and_reads_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let (store, fails) = failing(&config);
    let (first, second, third) = (commit("first"), commit("second"), commit("third"));
    let (at_first, at_second) = (CommitId::new(first.id), CommitId::new(second.id));
    land(&store, moved(None, &first)).await;
    settle(&store);
    fails.store(true, Ordering::Release);
    let result = store.commit(moved(Some(at_first), &second)).await;
    assert!(
        matches!(&result, Err(StoreError::Unknown(cause)) if cause.contains("the disk is gone")),
        "{result:?}"
    );

    let result = store.commit(moved(Some(at_first), &third)).await;
    assert!(matches!(&result, Err(StoreError::WritesRefused(_))), "{result:?}");
    assert!(matches!(store.begin_epoch().await, Err(StoreError::WritesRefused(_))));
    let row = DerivedWrite { space: DerivedSpace::Node, key: "k".into(), value: None };
    assert!(matches!(store.put_derived(vec![row]).await, Err(StoreError::WritesRefused(_))));
    assert!(matches!(store.writes(), Writes::Refused(cause) if cause.contains("the disk is gone")));
    assert_eq!(store.unreadable(), None);

    let found = store.reference(&main()).await.unwrap().unwrap();
    assert_eq!((found.target, found.number), (at_first, 1));
    assert_eq!(store.references(None, 5).await.unwrap(), [found]);
    assert_eq!(store.ref_log(&main(), None, 5).await.unwrap().len(), 1);
    assert!(store.object(ObjectKind::Commit, first.id).await.unwrap().is_some());

    // Then the batch is there or not; here it is, since only the sync was made to fail.
    fails.store(false, Ordering::Release);
    recovered(&store).await;
    let found = store.reference(&main()).await.unwrap().unwrap();
    assert_eq!((found.target, found.number), (at_second, 2));
    assert!(store.object(ObjectKind::Commit, second.id).await.unwrap().is_some());
    land(&store, moved(Some(at_second), &third)).await;

    drop(store);
    let store = SledStore::open(&config).unwrap();
    assert_eq!(store.reference(&main()).await.unwrap().unwrap().number, 3);
}

#[tokio::test]
async fn a_disk_that_has_lost_what_was_acknowledged_is_told_and_not_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let (store, fails) = failing(&config);
    let (first, second) = (commit("first"), commit("second"));
    land(&store, moved(None, &first)).await;
    settle(&store);
    session(&store).table.tree.remove(keys::reference(&main())).unwrap();
    fails.store(true, Ordering::Release);
    assert!(matches!(store.commit(put(0..1)).await, Err(StoreError::Unknown(_))));
    fails.store(false, Ordering::Release);
    loop {
        match store.writes() {
            Writes::Refused(cause) if cause.contains("reference main") => break,
            Writes::Allowed => panic!("a reference is missing"),
            _ => tokio::task::yield_now().await,
        }
    }
    let result = store.commit(moved(Some(CommitId::new(first.id)), &second)).await;
    assert!(matches!(&result, Err(StoreError::WritesRefused(_))), "{result:?}");
    assert!(store.object(ObjectKind::Commit, first.id).await.unwrap().is_some(), "reads go on");
}

#[tokio::test]
async fn a_full_disk_is_told_apart_and_passes_by_itself() {
    struct Full(Arc<AtomicBool>);
    impl Syncer for Full {
        fn sync(&self) -> io::Result<()> {
            if self.0.load(Ordering::Acquire) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }

        fn sync_journal(&self, _: &File) -> io::Result<()> {
            self.sync()
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let is_full = Arc::new(AtomicBool::new(true));
    let config = SledConfig::new(folder.path().join("store"));
    let store = SledStore::open_with(&config, |_, _| Box::new(Full(Arc::clone(&is_full)))).unwrap();
    assert!(matches!(store.commit(put(0..1)).await, Err(StoreError::Unknown(_))));
    assert!(matches!(store.commit(put(0..1)).await, Err(StoreError::Full(_))));
    assert!(matches!(store.writes(), Writes::Full(_)));
    is_full.store(false, Ordering::Release);
    recovered(&store).await;
    land(&store, put(0..1)).await;
}

#[tokio::test]
async fn numbers_of_batches_go_on_after_an_engine_was_opened_anew() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let (store, fails) = failing(&config);
    land(&store, put(0..1)).await;
    settle(&store);
    fails.store(true, Ordering::Release);
    assert!(matches!(store.commit(put(1..2)).await, Err(StoreError::Unknown(_))));
    let used = session(&store).writer.lock().unwrap().batch;
    fails.store(false, Ordering::Release);
    recovered(&store).await;
    assert!(session(&store).writer.lock().unwrap().batch >= used);
}

/// Tells when a sync of the journal begins, and ends it when told.
struct Gate {
    begun: Sender<()>,
    end: Mutex<Receiver<()>>,
}

impl Syncer for Gate {
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn sync_journal(&self, _: &File) -> io::Result<()> {
        self.begun.send(()).map_err(io::Error::other)?;
        self.end.lock().unwrap().recv().map_err(io::Error::other)
    }
}

/// Syncs that do not come back while it is held.
#[derive(Default)]
struct Held {
    is_held: Mutex<bool>,
    changed: Condvar,
}

impl Held {
    fn set(&self, is_held: bool) {
        *self.is_held.lock().unwrap() = is_held;
        self.changed.notify_all();
    }
}

impl Syncer for Arc<Held> {
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn sync_journal(&self, _: &File) -> io::Result<()> {
        drop(self.changed.wait_while(self.is_held.lock().unwrap(), |held| *held).unwrap());
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_that_does_not_come_back_is_not_waited_for_and_reads_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let held = Arc::new(Held::default());
    let patience = Duration::from_secs(3);
    let store = SledStore::open_impatient(&config, patience, |_, _| Box::new(Arc::clone(&held))).unwrap();
    let store = Arc::new(store);
    let (first, second, third) = (commit("first"), commit("second"), commit("third"));
    let (at_first, at_second) = (CommitId::new(first.id), CommitId::new(second.id));
    land(&*store, moved(None, &first)).await;
    held.set(true);
    let writing = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.commit(moved(Some(at_first), &second)).await }
    });
    let why = store.stalled().await;
    assert!(why.contains("has not been answered"), "{why}");
    assert_eq!(store.writes(), Writes::Refused(why));
    let refused = store.commit(put(0..1)).await;
    assert!(matches!(&refused, Err(StoreError::WritesRefused(_))), "{refused:?}");
    assert_eq!(store.unreadable(), None);
    assert_eq!(store.reference(&main()).await.unwrap().unwrap().number, 1, "reads show what was durable");
    assert!(!writing.is_finished());

    // It comes back after all, and then the store by itself.
    held.set(false);
    assert_eq!(writing.await.unwrap().unwrap().refused, []);
    recovered(&store).await;
    assert_eq!(store.reference(&main()).await.unwrap().unwrap().number, 2);
    land(&*store, moved(Some(at_second), &third)).await;
    let stalled = tokio::time::timeout(Duration::ZERO, store.stalled()).await;
    assert!(stalled.is_err(), "it answers again");
}

const PATIENCE: Duration = Duration::from_secs(1);

/// Not a test by itself: what the next test runs in a process that it stops now and then.
#[tokio::test]
async fn child_that_is_paused() {
    let Ok(folder) = std::env::var(CHILD_FOLDER) else { return };
    let config = SledConfig::new(folder);
    let store =
        SledStore::open_impatient(&config, PATIENCE, |main, engine| Box::new(FileSyncer::new(main, engine)));
    let store = store.unwrap();
    let mut at = None;
    for number in 0.. {
        let object = commit(&format!("commit {number}"));
        let done = store.commit(moved(at, &object)).await;
        eprintln!("{}", if done.is_ok_and(|done| done.refused.is_empty()) { "ack" } else { "refused" });
        at = Some(CommitId::new(object.id));
    }
}

/// Found by `lochan-bench --beside`, which stops a server while it measures another.
#[test]
fn a_process_that_stood_still_takes_writes_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = child("failing::child_that_is_paused", &folder.path().join("store"));
    let id = rustix::process::Pid::from_child(&child);
    let signal = |signal| rustix::process::kill_process(id, signal).unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let mut acknowledged = |count: usize| {
        let said: Vec<_> =
            lines.by_ref().filter(|line| line == "ack" || line == "refused").take(count).collect();
        assert!(said.len() == count && said.iter().all(|line| line == "ack"), "{said:?}");
    };
    acknowledged(10);
    for _ in 0..3 {
        signal(rustix::process::Signal::STOP);
        // It is the clock that must go on.
        std::thread::sleep(PATIENCE * 3 / 2);
        signal(rustix::process::Signal::CONT);
        acknowledged(300);
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

fn with_record(mut batch: Batch, value: &str) -> Batch {
    batch.changes[0].records.push(RecordChange {
        space: RecordSpace::Run,
        key: "k".into(),
        expected: ExpectedRecord::Any,
        value: Some(bytes::Bytes::copy_from_slice(value.as_bytes())),
    });
    batch
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_shows_before_it_is_synced() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let ((begun, has_begun), (end, may_end)) = (channel(), channel());
    let gate = Gate { begun, end: Mutex::new(may_end) };
    let store = Arc::new(SledStore::open_with(&config, |_, _| Box::new(gate)).unwrap());
    let (first, second) = (commit("first"), commit("second"));
    end.send(()).unwrap();
    land(&*store, with_record(moved(None, &first), "old")).await;
    has_begun.recv().unwrap();

    let mut batch = with_record(moved(Some(CommitId::new(first.id)), &second), "new");
    batch.changes[0].references[0].log.request = Some(RequestKey { key: [1; 32], fingerprint: [2; 32] });
    let other = RefName::new("other").unwrap();
    let mut create = batch.changes[0].references[0].clone();
    create.name = other.clone();
    create.expected = ExpectedReference::Absent;
    create.log.request = None;
    batch.changes[0].references.push(create);
    let writing = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.commit(batch).await }
    });
    has_begun.recv().unwrap();
    let found = store.reference(&main()).await.unwrap().unwrap();
    assert_eq!((found.target, found.number), (CommitId::new(first.id), 1));
    assert_eq!(store.references(None, 5).await.unwrap(), [found]);
    assert_eq!(store.reference(&other).await.unwrap(), None);
    assert_eq!(store.ref_log(&main(), None, 5).await.unwrap().len(), 1);
    assert_eq!(store.ref_log(&other, None, 5).await.unwrap(), []);
    assert_eq!(store.ref_log_names(None, 5).await.unwrap(), [main()]);
    assert_eq!(store.request(&[1; 32]).await.unwrap(), None);
    let record = store.record(RecordSpace::Run, b"k").await.unwrap().unwrap();
    assert_eq!((record.version, &record.value[..]), (1, &b"old"[..]));
    let listed = store.records(RecordSpace::Run, None, 5).await.unwrap();
    assert_eq!((listed.len(), &listed[0].1), (1, &record));
    end.send(()).unwrap();
    assert_eq!(writing.await.unwrap().unwrap().refused, []);
    assert_eq!(store.references(None, 5).await.unwrap().len(), 2);
    assert_eq!(store.request(&[1; 32]).await.unwrap().unwrap().number, 2);
    assert_eq!(store.record(RecordSpace::Run, b"k").await.unwrap().unwrap().version, 2);
    drop(end);
}

#[tokio::test]
async fn damaged_bytes_are_an_error_and_never_data() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(&SledConfig::new(folder.path().join("store"))).unwrap();
    let first = commit("first");
    land(&store, moved(None, &first)).await;
    settle(&store);
    let key = keys::object(session(&store).positions.recent(first.id).unwrap());
    let mut row = session(&store).table.tree.get(key).unwrap().unwrap().to_vec();
    *row.last_mut().unwrap() ^= 1;
    session(&store).table.tree.insert(key, row).unwrap();
    let result = store.object(ObjectKind::Commit, first.id).await;
    assert!(matches!(&result, Err(StoreError::Corrupt { .. })), "{result:?}");
    session(&store).table.tree.insert(keys::reference(&main()), &[9][..]).unwrap();
    // As after a restart: a batch keeps what it moved in memory.
    session(&store).table.pending.forget_moved();
    let result = store.reference(&main()).await;
    assert!(matches!(&result, Err(StoreError::Corrupt { .. })), "{result:?}");
}

fn value(number: usize) -> NewObject {
    let bytes = format!("value {number}").into_bytes();
    NewObject { kind: ObjectKind::Value, id: ObjectId::of(ObjectKind::Value, &bytes), bytes: bytes.into() }
}

fn put(numbers: std::ops::Range<usize>) -> Batch {
    let change = Change { objects: numbers.map(value).collect(), ..Change::default() };
    Batch { changes: vec![change] }
}

/// A session whose thread of positions waits for an end that the caller decides, and its end.
fn with_positions(
    config: &SledConfig,
    end: impl Fn() -> sled::Result<()> + Send + 'static,
) -> (Session, Sender<()>) {
    drop(SledStore::open(config).unwrap());
    let trouble = Arc::new(Trouble::none(Arc::default()));
    let folder = Arc::new(Folder::open(&config.path, |_| Ok(())).unwrap());
    let journal = crate::journal::Files::open(&config.path).unwrap();
    let how = session::How {
        cache_bytes: config.cache_bytes,
        replay_bytes: config.replay_bytes,
        reserve_bytes: config.reserve_bytes,
        trust: Trust::Marked,
        is_durable: true,
    };
    let mut session =
        Session::open(&folder, how, Arc::new(NoSyncer), &journal, Arc::clone(&trouble), 0).unwrap();
    session.positions.close();
    let (tell, told) = channel();
    let told = Mutex::new(told);
    let write = move |_: &crate::engine::Engine, _: &mut crate::positions::Run| {
        told.lock().unwrap().recv().unwrap();
        end().map_err(|error| crate::trouble::Cause::engine("write failed", &error))
    };
    let engine = Arc::clone(&session.sink.engine);
    let missing = Positions::find(&engine.tree, u64::MAX).unwrap();
    session.positions = Positions::open_with(engine, missing, trouble, write).unwrap();
    (session, tell)
}

/// Objects of a batch in these tests.
const OBJECTS: usize = 8 * 1024;

async fn check_dead_positions(end: impl Fn() -> sled::Result<()> + Send + 'static, word: &'static str) {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let (session, tell) = with_positions(&config, end);
    let session = Arc::new(session);
    // The thread has taken the first run; eight more fill the room, and the one behind them waits.
    session.write_batch(put(0..OBJECTS)).unwrap();
    while session.positions.waiting() > 0 {
        tokio::task::yield_now().await;
    }
    for batch in 1..9 {
        session.write_batch(put(batch * OBJECTS..(batch + 1) * OBJECTS)).unwrap();
    }
    let waits = tokio::task::spawn_blocking({
        let session = Arc::clone(&session);
        move || session.write_batch(put(0..1))
    });
    tell.send(()).unwrap();
    let result = waits.await.unwrap();
    assert!(matches!(&result, Err(StoreError::WritesRefused(cause)) if cause.contains(word)), "{result:?}");
    assert!(session.trouble.cause().unwrap().text.contains(word));

    let held = session.positions.waiting();
    for _ in 0..3 {
        let result = session.write_batch(put(90 * OBJECTS..91 * OBJECTS));
        assert!(matches!(&result, Err(StoreError::WritesRefused(_))), "{result:?}");
    }
    assert_eq!(session.positions.waiting(), held, "nothing grows any more");
    for number in [0, 5 * OBJECTS] {
        let object = value(number);
        assert_eq!(session.object(object.kind, object.id).unwrap(), Some(object.bytes), "reads go on");
    }
    drop(session);
    let store = SledStore::open(&config).unwrap();
    assert_eq!(store.writes(), Writes::Allowed);
    land(&store, put(0..1)).await;
    let object = value(8 * OBJECTS);
    assert_eq!(store.object(object.kind, object.id).await.unwrap(), Some(object.bytes));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_of_the_positions_thread_refuses_writes_instead_of_blocking_them() {
    check_dead_positions(|| panic!("injected"), "panicked").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_of_the_positions_thread_refuses_writes_with_its_cause() {
    let fails = || Err(sled::Error::Io(io::Error::other("the disk is gone")));
    check_dead_positions(fails, "the disk is gone").await;
}

#[tokio::test]
async fn a_panic_in_a_write_is_a_failed_write() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(&SledConfig::new(folder.path().join("store"))).unwrap();
    land(&store, put(0..1)).await;
    let result = {
        let session = session(&store);
        let result = session.trouble.attempt(|| panic!("injected"));
        assert!(matches!(session.write_batch(put(1..2)), Err(StoreError::WritesRefused(_))));
        result
    };
    assert!(matches!(&result, Err(StoreError::Unknown(cause)) if cause.contains("panicked")), "{result:?}");
    recovered(&store).await;
    land(&store, put(1..2)).await;
    assert!(store.object(ObjectKind::Value, value(0).id).await.unwrap().is_some());
}

/// Opens a store whose engine's snapshot files were changed by `damage`, and looks for what was put.
async fn check_snapshots(damage: impl Fn(&std::path::Path)) {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let mut engine = std::path::PathBuf::new();
    for _ in 0..2 {
        // The second opening writes a snapshot of what the first has left.
        let store = SledStore::open(&config).unwrap();
        land(&store, put(0..50)).await;
        engine = store.keeper.folder.engine();
    }
    damage(&engine);
    let store = SledStore::open(&config).unwrap();
    for number in 0..50 {
        let object = value(number);
        assert_eq!(store.object(object.kind, object.id).await.unwrap(), Some(object.bytes));
    }
    land(&store, put(50..60)).await;
}

fn snapshots(engine: &std::path::Path) -> Vec<std::path::PathBuf> {
    let files = std::fs::read_dir(engine).unwrap().map(|entry| entry.unwrap().path());
    let found: Vec<_> =
        files.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("snap.")).collect();
    assert!(!found.is_empty(), "the engine has a snapshot");
    found
}

#[tokio::test]
async fn what_a_killed_start_leaves_of_a_snapshot_spoils_no_later_start() {
    check_snapshots(|engine| {
        for snapshot in snapshots(engine) {
            // The engine writes over this file without emptying it.
            let name = format!("{}.generating", snapshot.file_name().unwrap().to_str().unwrap());
            std::fs::write(engine.join(name), vec![7; 1 << 20]).unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn a_damaged_snapshot_is_set_aside_and_nothing_is_lost() {
    check_snapshots(|engine| {
        for snapshot in snapshots(engine) {
            let mut bytes = std::fs::read(&snapshot).unwrap();
            bytes.extend_from_slice(&[7; 100]);
            std::fs::write(snapshot, bytes).unwrap();
        }
    })
    .await;
}

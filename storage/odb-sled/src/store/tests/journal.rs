//! What stands in the journal alone, through salvage, failures, damage and racing readers.

#![allow(clippy::await_holding_lock, reason = "only the thread that takes in waits for it, which is meant")]

use std::{
    fs,
    os::unix::fs::FileExt as _,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use lochan_storage_odb::{ExpectedRecord, RecordChange, RecordSpace, RequestKey, Writes};

use super::{
    damage::copy,
    failing::{failing, recovered},
    *,
};

/// A commit that fails, and what comes after it.
async fn fail_once(store: &SledStore, fails: &AtomicBool, batch: Batch) {
    settle(store);
    fails.store(true, Ordering::Release);
    assert!(matches!(store.commit(batch).await, Err(StoreError::Unknown(_))));
    fails.store(false, Ordering::Release);
    loop {
        match store.writes() {
            Writes::Allowed => return,
            Writes::Refused(cause) if cause.contains("does not hold") => panic!("{cause}"),
            _ => tokio::task::yield_now().await,
        }
    }
}

fn object(number: u8) -> NewObject {
    let bytes = vec![number; 500];
    let id = ObjectId::of(ObjectKind::MetadataPart, &bytes);
    NewObject { kind: ObjectKind::MetadataPart, id, bytes: bytes.into() }
}

fn put(object: &NewObject) -> Batch {
    Batch { changes: vec![Change { objects: vec![object.clone()], ..Change::default() }] }
}

fn set(key: &str, value: Vec<u8>) -> Batch {
    let (space, expected) = (RecordSpace::Setting, ExpectedRecord::Any);
    let change = RecordChange { space, key: key.to_owned().into(), expected, value: Some(value.into()) };
    Batch { changes: vec![Change { records: vec![change], ..Change::default() }] }
}

/// Runs `work` while nothing enters the tree, and copies the store as a kill would leave it.
async fn killed(store: &SledStore, to: &Path, work: impl AsyncFnOnce()) {
    let pending = session(store).table.pending.clone();
    let still = pending.still();
    work().await;
    copy(store.keeper.folder.path(), to);
    drop(still);
}

#[tokio::test]
async fn a_deletion_of_unknown_outcome_is_no_loss_at_the_next_failure() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let (store, fails) = failing(&config);
    let gone = object(1);
    land(&store, put(&gone)).await;
    store.begin_epoch().await.unwrap();
    settle(&store);
    fails.store(true, Ordering::Release);
    assert!(matches!(store.delete_objects(&[(gone.kind, gone.id)], 1).await, Err(StoreError::Unknown(_))));
    fails.store(false, Ordering::Release);
    recovered(&store).await;
    assert_eq!(store.object(gone.kind, gone.id).await.unwrap(), None, "the record was whole");
    fail_once(&store, &fails, put(&object(2))).await;
    land(&store, put(&gone)).await;
    drop(store);
    let store = SledStore::open(&config).unwrap();
    assert_eq!(store.object(gone.kind, gone.id).await.unwrap(), Some(gone.bytes));
    assert_eq!(store.audit().await.unwrap(), []);
}

#[tokio::test]
async fn salvage_reads_what_waits() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(&SledConfig::new(folder.path().join("store"))).unwrap();
    let left = folder.path().join("left");
    let first = commit("first");
    killed(&store, &left, async || land(&store, moved(None, &first)).await).await;
    let store = SledStore::salvage(&SledConfig::new(left)).unwrap();
    let (load, damage) = Sweep::salvage(&store).await.unwrap();
    assert_eq!((load.point.references.len(), load.log.len(), damage), (1, 1, vec![]));
    assert_eq!(store.read_objects(None, 9, usize::MAX).await.unwrap().len(), 1);
    assert_eq!(
        store.audit().await.unwrap(),
        [],
        "the rows of the tree are counted, and nobody waits for the others"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_in_chunks_is_read_whole_while_it_changes() {
    const BYTES: usize = 400_000;
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SledStore::open(&SledConfig::new(folder.path().join("store"))).unwrap());
    land(&*store, set("k", vec![0; BYTES])).await;
    let done = Arc::new(AtomicBool::new(false));
    let reading = tokio::spawn({
        let (store, done) = (Arc::clone(&store), Arc::clone(&done));
        async move {
            let is_whole = |value: &[u8]| value.len() == BYTES && value.iter().all(|byte| *byte == value[0]);
            while !done.load(Ordering::Acquire) {
                let record = store.record(RecordSpace::Setting, b"k").await.unwrap().unwrap();
                assert!(is_whole(&record.value));
                let listed = store.records(RecordSpace::Setting, None, 9).await.unwrap();
                assert!(is_whole(&listed[0].1.value));
            }
        }
    });
    for number in 0..60 {
        land(&*store, set("k", vec![number; BYTES])).await;
    }
    done.store(true, Ordering::Release);
    reading.await.unwrap();
}

#[tokio::test]
async fn a_point_does_not_reach_over_a_batch_of_unknown_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let (store, fails) = failing(&SledConfig::new(folder.path().join("store")));
    land(&store, put(&object(1))).await;
    settle(&store);
    fails.store(true, Ordering::Release);
    assert!(matches!(store.commit(moved(None, &commit("x"))).await, Err(StoreError::Unknown(_))));
    let (point, end) = store.point().await.unwrap();
    assert_eq!(point.references, []);
    assert_eq!(store.scan_objects(None, 9).await.unwrap().len(), 1);
    fails.store(false, Ordering::Release);
    recovered(&store).await;
    let (point, _) = store.point().await.unwrap();
    let later = store.scan_objects(Some(end), 9).await.unwrap();
    assert_eq!(
        (point.references.len(), later.len()),
        (1, 1),
        "what the reference needs comes behind the point"
    );
}

#[tokio::test]
async fn scans_show_what_waits_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let store = SledStore::open(&SledConfig::new(folder.path().join("store"))).unwrap();
    land(&store, put(&object(1))).await;
    settle(&store);
    let pending = session(&store).table.pending.clone();
    let still = pending.still();
    for number in 2..5 {
        land(&store, put(&object(number))).await;
    }
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = store.scan_objects(after.take(), 2).await.unwrap();
        let Some((token, _)) = page.last() else { break };
        after = Some(token.clone());
        found.extend(page.into_iter().map(|(_, info)| info.unwrap().id));
    }
    drop(still);
    assert_eq!(found, (1..5).map(|number| object(number).id).collect::<Vec<_>>());
}

fn request(at: Option<CommitId>, to: &NewObject, number: u32) -> Batch {
    let key = *blake3::hash(&number.to_be_bytes()).as_bytes();
    let mut batch = moved(at, to);
    batch.changes[0].references[0].log.request = Some(RequestKey { key, fingerprint: [2; 32] });
    batch
}

#[tokio::test]
async fn a_batch_for_a_page_that_cannot_be_read_is_refused_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let mut at = None;
    for opening in 0..3 {
        let store = SledStore::open(&config).unwrap();
        for number in opening * 200..(opening + 1) * 200 {
            let to = commit(&format!("commit {number}"));
            land(&store, request(at, &to, number)).await;
            at = Some(CommitId::new(to.id));
        }
    }
    // Turned under an open engine, which has not read that page yet: at open it would look at the end of its log.
    let main = config.path.join("sled/db");
    let key = *blake3::hash(&7u32.to_be_bytes()).as_bytes();
    let store = SledStore::open(&config).unwrap();
    let turned = turn_bits_behind(&main, &key);
    assert!(store.request(&key).await.is_err());
    let result = store.commit(request(at, &commit("later"), 7)).await;
    assert!(matches!(&result, Err(StoreError::Corrupt { .. })), "{result:?}");
    assert_eq!(store.writes(), Writes::Allowed);
    land(&store, moved(at, &commit("other"))).await;
    settle(&store);
    drop(store);
    turn_back(&main, &turned);
    let store = SledStore::open(&config).unwrap();
    assert_eq!(store.reference(&main_name()).await.unwrap().unwrap().number, 601);
    assert!(store.request(&key).await.unwrap().is_some());
    assert_eq!(store.audit().await.unwrap(), []);
}

/// Turns a bit behind every place in a file where the end of `key` stands; returns the places and the bytes that were
/// there. A leaf leaves out what its keys have in common, so the beginning may be missing.
fn turn_bits_behind(file: &Path, key: &[u8; 32]) -> Vec<(u64, u8)> {
    let bytes = fs::read(file).unwrap();
    let opened = fs::OpenOptions::new().write(true).open(file).unwrap();
    let places = bytes.windows(24).enumerate().filter(|(_, part)| *part == &key[8..]).map(|(at, _)| at + 24);
    let turned: Vec<(u64, u8)> = places.map(|place| (place as u64, bytes[place])).collect();
    assert!(!turned.is_empty());
    for (place, byte) in &turned {
        opened.write_all_at(&[byte ^ 1], *place).unwrap();
    }
    turned
}

/// Undoes [`turn_bits_behind`], but where the engine has written something else since.
fn turn_back(file: &Path, turned: &[(u64, u8)]) {
    let bytes = fs::read(file).unwrap();
    let opened = fs::OpenOptions::new().write(true).open(file).unwrap();
    for (place, byte) in turned.iter().filter(|(place, byte)| bytes[*place as usize] == byte ^ 1) {
        opened.write_all_at(&[*byte], *place).unwrap();
    }
}

fn main_name() -> RefName {
    super::main()
}

#[tokio::test]
async fn a_missing_file_of_the_journal_is_refused_by_all_but_salvage() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let store = SledStore::open(&config).unwrap();
    land(&store, put(&object(1))).await;
    drop(store);
    fs::remove_file(config.path.join("JOURNAL-1")).unwrap();
    match SledStore::open(&config).map(drop) {
        Err(StoreError::Corrupt { detail, .. }) => assert!(detail.contains("journal is missing"), "{detail}"),
        other => panic!("{other:?}"),
    }
    let store = SledStore::salvage(&config).unwrap();
    assert!(store.object(object(1).kind, object(1).id).await.unwrap().is_some());
}

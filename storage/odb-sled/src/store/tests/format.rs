//! A store of each released format is opened.

use std::{fmt::Write, fs};

use lochan_storage_odb::{DerivedSpace, DerivedWrite, ExpectedRecord, RecordChange, RecordSpace, RequestKey};

use super::*;

const FORMAT_1: &str = include_str!("format-1.rows");
const FORMAT_2: &str = include_str!("format-2.rows");

/// What the fixture holds. It was written by this, dumped, and stays as it is.
async fn fill(store: &SledStore) {
    let first = commit("first");
    let large = vec![7u8; 200_000];
    let mut batch = moved(None, &first);
    let change = &mut batch.changes[0];
    let id = ObjectId::of(ObjectKind::MetadataPart, &large);
    change.objects.push(NewObject { kind: ObjectKind::MetadataPart, id, bytes: large.clone().into() });
    change.references[0].log.request = Some(RequestKey { key: [3; 32], fingerprint: [4; 32] });
    for (key, value) in [("small", &b"v"[..]), ("large", &large), ("gone", b"x")] {
        let value = Some(bytes::Bytes::copy_from_slice(value));
        let expected = ExpectedRecord::Absent;
        change.records.push(RecordChange { space: RecordSpace::Setting, key: key.into(), expected, value });
    }
    change.derived.push(DerivedWrite {
        space: DerivedSpace::Document,
        key: "d".into(),
        value: Some("row".into()),
    });
    land(store, batch).await;
    let second = commit("second");
    let mut batch = moved(Some(CommitId::new(first.id)), &second);
    batch.changes[0].records.push(RecordChange {
        space: RecordSpace::Setting,
        key: "gone".into(),
        expected: ExpectedRecord::Version(1),
        value: None,
    });
    land(store, batch).await;
    let mut batch = moved(None, &second);
    batch.changes[0].references[0].name = RefName::new("left").unwrap();
    land(store, batch.clone()).await;
    let reference = &mut batch.changes[0].references[0];
    reference.expected = ExpectedReference::At(RefKind::Branch, CommitId::new(second.id));
    reference.new = None;
    reference.log.operation = RefOperation::Delete;
    land(store, batch).await;
    assert_eq!(store.begin_epoch().await.unwrap(), 1);
}

/// All rows, as text; runs of one byte are written short.
fn dump(store: &SledStore) -> String {
    let mut text = String::new();
    for row in session(store).table.tree.iter() {
        let (key, value) = row.unwrap();
        let tail = value.last().copied().unwrap_or_default();
        let run = value.iter().rev().take_while(|byte| **byte == tail).count();
        let head = hex::encode(&value[..value.len() - run]);
        writeln!(text, "{} {head} {run} {tail:02x}", hex::encode(&key)).unwrap();
    }
    text
}

#[tokio::test]
async fn rows_written_today_are_those_of_formats_2_and_3() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let store = SledStore::open(&config).unwrap();
    fill(&store).await;
    drop(store);
    let store = SledStore::open(&config).unwrap();
    let found = dump(&store);
    if let Ok(path) = std::env::var("LOCHAN_TEST_WRITE_FIXTURE") {
        fs::write(path, &found).unwrap();
    }
    assert_eq!(found, FORMAT_2);
    assert_eq!(store.audit().await.unwrap(), []);
}

#[tokio::test]
async fn format_1_is_read_and_becomes_format_3() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let store = SledStore::open(&config).unwrap();
    let identity = store.identity();
    session(&store).table.tree.remove(keys::state()).unwrap();
    put_rows(&store, FORMAT_1);
    drop(store);
    let manifest = fs::read_to_string(config.path.join("MANIFEST")).unwrap();
    let old: Vec<_> =
        manifest.lines().filter(|line| !line.contains("instance") && !line.contains("check")).collect();
    fs::write(config.path.join("MANIFEST"), old.join("\n").replace("format = 3", "format = 1") + "\n")
        .unwrap();
    fs::remove_file(config.path.join("MARK")).unwrap();
    let store = SledStore::open(&config).unwrap();
    assert_eq!(store.manifest().format, 3);
    assert_eq!(store.identity().repository, identity.repository);
    assert_ne!(store.identity().instance, identity.instance);
    check_fixture(&store).await;
    let instance = store.identity();
    drop(store);
    let store = SledStore::open(&config).unwrap();
    assert_eq!(store.identity(), instance);
    assert_eq!(store.audit().await.unwrap(), []);
}

#[tokio::test]
async fn format_2_is_read_and_becomes_format_3() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let store = SledStore::open(&config).unwrap();
    let identity = store.identity();
    put_rows(&store, FORMAT_2);
    drop(store);
    let manifest = crate::read_manifest(&config.path).unwrap();
    let old = Manifest { format: 2, ..manifest };
    fs::write(config.path.join("MANIFEST"), old.to_string()).unwrap();
    for name in ["JOURNAL-0", "JOURNAL-1"] {
        fs::remove_file(config.path.join(name)).unwrap();
    }
    let store = SledStore::open(&config).unwrap();
    assert_eq!(store.manifest().format, 3);
    assert_eq!(store.identity(), identity, "a backup goes on where it was");
    check_fixture(&store).await;
    drop(store);
    let store = SledStore::open(&config).unwrap();
    assert_eq!(store.audit().await.unwrap(), []);
}

fn put_rows(store: &SledStore, rows: &str) {
    for line in rows.lines() {
        let [key, head, run, tail] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let mut value = hex::decode(head).unwrap();
        let tail = hex::decode(tail).unwrap()[0];
        value.resize(value.len() + run.parse::<usize>().unwrap(), tail);
        session(store).table.tree.insert(hex::decode(key).unwrap(), value).unwrap();
    }
}

async fn check_fixture(store: &SledStore) {
    let (first, second) = (commit("first"), commit("second"));
    let found = store.reference(&main()).await.unwrap().unwrap();
    assert_eq!((found.target, found.number), (CommitId::new(second.id), 2));
    let large = vec![7u8; 200_000];
    for (kind, bytes) in [
        (ObjectKind::Commit, first.bytes.to_vec()),
        (ObjectKind::Commit, second.bytes.to_vec()),
        (ObjectKind::MetadataPart, large.clone()),
    ] {
        let found = store.object(kind, ObjectId::of(kind, &bytes)).await.unwrap();
        assert!(found.unwrap() == bytes);
    }
    let entries = store.ref_log(&main(), None, 10).await.unwrap();
    assert_eq!(entries.len(), 2);
    assert_eq!(store.request(&[3; 32]).await.unwrap().as_ref(), entries.last());
    let left = RefName::new("left").unwrap();
    assert_eq!(store.reference(&left).await.unwrap(), None);
    assert_eq!(store.ref_log_names(None, 10).await.unwrap(), [left, main()]);
    let records = store.records(RecordSpace::Setting, None, 10).await.unwrap();
    let records: Vec<_> = records.iter().map(|(key, r)| (&key[..], r.version, r.value.len())).collect();
    assert_eq!(records, [(&b"large"[..], 1, 200_000), (b"small", 1, 1)]);
    assert_eq!(store.derived(DerivedSpace::Document, b"d").await.unwrap(), Some("row".into()));
    assert_eq!(store.epoch().await.unwrap(), 1);
    land(store, moved(Some(CommitId::new(second.id)), &commit("third"))).await;
}

use std::collections::HashSet;

use lochan_storage_model::ObjectKind;
use lochan_storage_odb::{ExpectedRecord, RecordChange, RecordSpace};

use super::*;

/// Batch of so many values that the lazy thread gets to work.
const VALUES: usize = 6_000;

fn values(from: usize) -> Vec<NewObject> {
    (from..from + VALUES)
        .map(|i| {
            let bytes = format!("value {i}").into_bytes();
            let id = ObjectId::of(ObjectKind::Value, &bytes);
            NewObject { kind: ObjectKind::Value, id, bytes: bytes.into() }
        })
        .collect()
}

fn put(objects: Vec<NewObject>) -> Batch {
    Batch { changes: vec![Change { objects, ..Change::default() }] }
}

#[tokio::test]
async fn objects_are_found_before_during_and_after_the_lazy_write() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let mut store = SledStore::open(&config).unwrap();
    for round in 0..3 {
        land(&store, put(values(round * VALUES))).await;
        for object in values(0).iter().chain(&values(round * VALUES)).step_by(7) {
            assert!(store.object(object.kind, object.id).await.unwrap().is_some());
        }
        // Putting all of them again adds nothing, wherever they are.
        land(&store, put(values(0))).await;
    }
    drop(store);
    store = SledStore::open(&config).unwrap();
    let id = values(5)[0].id;
    assert_eq!(session(&store).positions.recent(id), None, "a clean end leaves nothing to catch up");
    assert!(store.object(ObjectKind::Value, id).await.unwrap().is_some());

    // A watermark and a table lost in a crash are caught up at open.
    session(&store).positions.close();
    session(&store).table.tree.remove(keys::watermark()).unwrap();
    for object in values(0) {
        session(&store).table.tree.remove(keys::position(object.id)).unwrap();
    }
    drop(store);
    store = SledStore::open(&config).unwrap();
    for object in values(0).iter().step_by(11) {
        assert_eq!(store.object(object.kind, object.id).await.unwrap().as_ref(), Some(&object.bytes));
    }
    assert_eq!(store.scan_objects(None, usize::MAX).await.unwrap().len(), 3 * VALUES);
    drop(store);
    store = SledStore::open(&config).unwrap();

    let epoch = store.begin_epoch().await.unwrap();
    let ids: Vec<_> = values(0).iter().map(|object| (object.kind, object.id)).collect();
    assert_eq!(store.delete_objects(&ids, epoch).await.unwrap(), VALUES);
    assert_eq!(store.delete_objects(&ids, epoch).await.unwrap(), 0);
    assert_eq!(store.scan_objects(None, usize::MAX).await.unwrap().len(), 2 * VALUES);
    assert!(session(&store).table.tree.get(keys::position(ids[0].1)).unwrap().is_none());
}

#[tokio::test]
async fn a_commit_put_again_much_later_is_still_one_object_to_its_readers() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let object = commit("again");
    let store = SledStore::open(&config).unwrap();
    land(&store, put(vec![object.clone()])).await;
    drop(store);
    let store = SledStore::open(&config).unwrap();
    let epoch = store.begin_epoch().await.unwrap();
    land(&store, put(vec![object.clone()])).await;
    drop(store);
    let store = SledStore::open(&config).unwrap();
    let ids = [(object.kind, object.id)];
    assert_eq!(store.delete_objects(&ids, epoch).await.unwrap(), 0, "its latest put counts");
    assert_eq!(store.object(object.kind, object.id).await.unwrap(), Some(object.bytes));
    let epoch = store.begin_epoch().await.unwrap();
    assert_eq!(store.delete_objects(&ids, epoch).await.unwrap(), 1);
    assert!(store.scan_objects(None, 10).await.unwrap().is_empty(), "no copy stays behind");
}

#[tokio::test]
async fn commits_of_a_batch_share_rows_and_live_and_die_alone() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let store = SledStore::open(&config).unwrap();
    // From nearly nothing to beyond what goes into a row with others.
    let commits: Vec<_> = (0..60).map(|n| commit(&format!("{n} {}", "x".repeat(n * 40)))).collect();
    land(&store, put(commits.clone())).await;
    let object_rows = |store: &SledStore| {
        session(store).table.tree.scan_prefix(keys::key(keys::Space::Object, &[])).count()
    };
    let rows = object_rows(&store);
    assert!(rows < commits.len() / 2, "{rows} rows");
    drop(store);

    let store = SledStore::open(&config).unwrap();
    for object in &commits {
        assert_eq!(store.object(object.kind, object.id).await.unwrap().as_ref(), Some(&object.bytes));
    }
    let (mut scanned, mut token) = (Vec::new(), None);
    while let Some((next, info)) = store.scan_objects(token, 1).await.unwrap().pop() {
        scanned.push(info.unwrap().id);
        token = Some(next);
    }
    let ids: Vec<_> = commits.iter().map(|object| object.id).collect();
    assert_eq!(scanned.len(), ids.len());
    assert!(ids.iter().all(|id| scanned.contains(id)));

    let epoch = store.begin_epoch().await.unwrap();
    let (kept, gone): (Vec<_>, Vec<_>) = commits.into_iter().enumerate().partition(|(n, _)| n % 3 == 0);
    land(&store, put(kept.iter().map(|(_, object)| object.clone()).collect())).await;
    let all: Vec<_> = ids.iter().map(|id| (ObjectKind::Commit, *id)).collect();
    assert_eq!(store.delete_objects(&all, epoch).await.unwrap(), gone.len());
    for (_, object) in &kept {
        assert_eq!(store.object(object.kind, object.id).await.unwrap().as_ref(), Some(&object.bytes));
    }
    for (_, object) in &gone {
        assert_eq!(store.object(object.kind, object.id).await.unwrap(), None);
    }
    let left = store.scan_objects(None, usize::MAX).await.unwrap();
    let left: HashSet<_> = left.into_iter().map(|(_, info)| info.unwrap().id).collect();
    assert_eq!(left, kept.iter().map(|(_, object)| object.id).collect());
    let epoch = store.begin_epoch().await.unwrap();
    assert_eq!(store.delete_objects(&all, epoch).await.unwrap(), kept.len());
    assert_eq!(object_rows(&store), 0, "an empty row stays nowhere");
}

#[tokio::test]
async fn a_place_is_never_given_out_twice() {
    let folder = tempfile::tempdir().unwrap();
    let config = SledConfig::new(folder.path().join("store"));
    let large = |fill: u8| vec![fill; 300_000];
    for round in 0..3u8 {
        let store = SledStore::open(&config).unwrap();
        let record = RecordChange {
            space: RecordSpace::Run,
            key: vec![round].into(),
            expected: ExpectedRecord::Absent,
            value: Some(large(round).into()),
        };
        // The last batch before the end holds no object, and its chunks must stay what they are.
        let change = Change { records: vec![record], ..Change::default() };
        land(&store, Batch { changes: vec![change] }).await;
        drop(store);
        let store = SledStore::open(&config).unwrap();
        let bytes = large(round + 100);
        let id = ObjectId::of(ObjectKind::Value, &bytes);
        land(&store, put(vec![NewObject { kind: ObjectKind::Value, id, bytes: bytes.into() }])).await;
        for seen in 0..=round {
            let record = store.record(RecordSpace::Run, &[seen]).await.unwrap().unwrap();
            assert!(record.value == large(seen));
            let id = ObjectId::of(ObjectKind::Value, &large(seen + 100));
            assert!(store.object(ObjectKind::Value, id).await.unwrap().unwrap() == large(seen + 100));
        }
        // An object may be deleted, its number stays taken.
        let epoch = store.begin_epoch().await.unwrap();
        assert_eq!(store.delete_objects(&[(ObjectKind::Value, id)], epoch).await.unwrap(), 1);
        let bytes = large(round + 100);
        land(&store, put(vec![NewObject { kind: ObjectKind::Value, id, bytes: bytes.into() }])).await;
    }
}

//! The whole at one moment: taken while writes go on, and put into another store.

use std::sync::Arc;

use bytes::Bytes;
use lochan_storage_model::{CommitId, ObjectKind};

use super::{Backend, advance, apply, commit, create, delete, land, moving, name, object, target};
use crate::{
    Change, ExpectedRecord, Load, Point, RecordChange, RecordSpace, RefKind, RefLogEntry, RequestKey, Store,
    Sweep,
};

/// Moves of a branch that race a point.
const MOVES: usize = 60;

pub(super) async fn run(backend: &dyn Backend) {
    a_point_comes_back_elsewhere(backend).await;
    a_point_lies_between_two_batches(backend).await;
    every_store_is_an_instance_of_its_own(backend).await;
}

fn record(key: &str, value: Option<&str>) -> Change {
    let value = value.map(|value| Bytes::copy_from_slice(value.as_bytes()));
    let key = Bytes::copy_from_slice(key.as_bytes());
    let expected = ExpectedRecord::Any;
    let change = RecordChange { space: RecordSpace::Setting, key, expected, value };
    Change { records: vec![change], ..Change::default() }
}

/// The log up to a point, oldest first by name.
async fn log(store: &dyn Store, point: &Point) -> Vec<RefLogEntry> {
    let live = point.references.iter().map(|reference| (&reference.name, reference.number));
    let deleted = point.deleted.iter().map(|(name, number)| (name, *number));
    let mut found = Vec::new();
    for (name, number) in live.chain(deleted) {
        let mut entries = store.ref_log(name, Some(number + 1), usize::MAX).await.unwrap();
        assert_eq!(entries.first().map(|entry| entry.number), Some(number), "the log of {name}");
        entries.reverse();
        found.extend(entries);
    }
    found
}

async fn a_point_comes_back_elsewhere(backend: &dyn Backend) {
    let store = backend.create().await;
    let root = CommitId::NO_ANCESTOR;
    let (main, gone) = (name("main"), name("gone"));
    let (first, large) = (commit("first"), object(ObjectKind::MetadataPart, vec![9; 100_000]));
    let mut made = create(&main, RefKind::Branch, target(&first));
    made.log.request = Some(RequestKey { key: [1; 32], fingerprint: [2; 32] });
    land(
        &*store,
        moving(vec![first.clone(), large.clone()], vec![made, create(&gone, RefKind::Branch, root)]),
    )
    .await;
    land(&*store, moving(vec![], vec![delete(&gone, root)])).await;
    let text = "s".repeat(50_000);
    for change in [("kept", Some("1")), ("kept", Some(text.as_str())), ("gone", Some("x")), ("gone", None)] {
        land(&*store, record(change.0, change.1)).await;
    }
    store.begin_epoch().await.unwrap();
    let (point, end) = store.point().await.unwrap();
    assert_eq!(point.references.iter().map(|r| (&r.name, r.number)).collect::<Vec<_>>(), [(&main, 1)]);
    assert_eq!(point.deleted, [(gone.clone(), 2)]);
    assert_eq!(point.versions, [(RecordSpace::Setting, Bytes::from("gone"), 1)]);
    assert_eq!((point.records.len(), point.records[0].2.version, point.epoch), (1, 2, 1));
    let scanned = store.scan_objects(None, 10).await.unwrap();
    assert_eq!(scanned.len(), 2);
    assert!(scanned.iter().all(|(token, _)| *token <= end));
    land(&*store, moving(vec![commit("later")], vec![])).await;
    let later = store.scan_objects(Some(end.clone()), 10).await.unwrap();
    assert_eq!(later.len(), 1, "a scan that goes on at the end of a point finds what was put since");
    assert!(later[0].0 > end);

    let copy = backend.create().await;
    let entries = log(&*store, &point).await;
    copy.adopt(store.identity().repository).await.unwrap();
    copy.load(Load { objects: vec![first.clone(), large.clone()], ..Load::default() }).await.unwrap();
    copy.load(Load { log: entries.clone(), point: point.clone(), ..Load::default() }).await.unwrap();
    let check = async |copy: &Arc<dyn Sweep>| {
        assert_eq!(copy.point().await.unwrap().0, point);
        assert_eq!(log(&**copy, &point).await, entries);
        assert_eq!(copy.audit().await.unwrap(), []);
        let (rows, losses) = copy.salvage().await.unwrap();
        assert_eq!((rows.point, losses), (point.clone(), vec![]));
        assert_eq!(rows.log.len(), entries.len());
        for object in [&first, &large] {
            assert!(copy.object(object.kind, object.id).await.unwrap().as_ref() == Some(&object.bytes));
        }
        assert_eq!(copy.request(&[1; 32]).await.unwrap().unwrap().name, main);
        assert_eq!(copy.identity().repository, store.identity().repository);
        assert_ne!(copy.identity().instance, store.identity().instance);
    };
    check(&copy).await;
    let Some(copy) = backend.reopen(copy).await else { return };
    check(&copy).await;
    // Numbers and versions go on where they were.
    land(&*copy, moving(vec![], vec![create(&gone, RefKind::Branch, root)])).await;
    assert_eq!(copy.reference(&gone).await.unwrap().unwrap().number, 3);
    land(&*copy, record("gone", Some("y"))).await;
    assert_eq!(copy.record(RecordSpace::Setting, b"gone").await.unwrap().unwrap().version, 2);
    assert_eq!(copy.audit().await.unwrap(), []);
}

async fn a_point_lies_between_two_batches(backend: &dyn Backend) {
    let store = backend.create().await;
    let (left, right) = (name("left"), name("right"));
    let root = CommitId::NO_ANCESTOR;
    let both = |a, b| moving(vec![], vec![a, b]);
    land(&*store, both(create(&left, RefKind::Branch, root), create(&right, RefKind::Branch, root))).await;
    let writer = tokio::spawn({
        let store = Arc::clone(&store);
        let (left, right) = (left.clone(), right.clone());
        async move {
            let mut at = root;
            for i in 0..MOVES {
                let made = commit(&format!("{i}"));
                let to = target(&made);
                let moves = vec![advance(&left, at, to), advance(&right, at, to)];
                let mut change = moving(vec![made], moves);
                change.records = record("n", Some(&i.to_string())).records;
                assert_eq!(apply(&*store, vec![change]).await.refused, []);
                at = to;
                tokio::task::yield_now().await;
            }
        }
    });
    let mut points = 0;
    while !writer.is_finished() || points == 0 {
        let (point, end) = store.point().await.unwrap();
        let [left, right] = &point.references[..] else { panic!("{point:?}") };
        assert_eq!((left.target, left.number), (right.target, right.number));
        let moves = point.records.first().map_or(0, |(_, _, record)| record.version);
        assert_eq!(left.number, 1 + moves);
        let mut objects = store.scan_objects(None, usize::MAX).await.unwrap();
        objects.retain(|(token, _)| *token <= end);
        assert_eq!(objects.len() as u64, moves, "the objects of a point are those put by then");
        points += 1;
        tokio::task::yield_now().await;
    }
    writer.await.unwrap();
    assert_eq!(store.audit().await.unwrap(), []);
}

async fn every_store_is_an_instance_of_its_own(backend: &dyn Backend) {
    let (b, a) = (backend.create().await, backend.create().await);
    assert_ne!(a.identity().instance, b.identity().instance);
    assert_ne!(a.identity().repository, b.identity().repository);
    let identity = a.identity();
    let Some(again) = backend.reopen(a).await else { return };
    assert_eq!(again.identity(), identity);
    let again: Arc<dyn Sweep> = again;
    again.adopt([5; 16]).await.unwrap();
    assert_eq!((again.identity().repository, again.identity().instance), ([5; 16], identity.instance));
}

//! What a store still knows after it was closed and opened again.

use std::sync::Arc;

use bytes::Bytes;
use lochan_storage_model::{CommitId, ObjectKind};

use super::{Backend, advance, apply, commit, create, delete, land, moving, name, object, target};
use crate::{
    Change, DerivedSpace, DerivedWrite, ExpectedRecord, RecordChange, RecordSpace, RefKind, RequestKey, Sweep,
};

/// Rounds of writing, closing and opening.
const ROUNDS: u64 = 3;
const COMMITS: u64 = 40;

pub(super) async fn run(backend: &dyn Backend) {
    let mut store = backend.create().await;
    let (main, gone) = (name("main"), name("gone"));
    let root = CommitId::NO_ANCESTOR;
    land(&*store, moving(vec![], vec![create(&main, RefKind::Branch, root)])).await;
    let mut at = root;
    let mut objects = Vec::new();
    for round in 1..=ROUNDS {
        let mut changes = Vec::new();
        for i in 0..COMMITS {
            let made = commit(&format!("{round}.{i}"));
            let large = object(ObjectKind::MetadataPart, vec![(round * COMMITS + i) as u8; 120_000]);
            let mut change = advance(&main, at, target(&made));
            change.log.request =
                Some(RequestKey { key: [(round * COMMITS + i) as u8; 32], fingerprint: [0; 32] });
            changes.push(moving(vec![made.clone(), large.clone()], vec![change]));
            at = target(&made);
            objects.extend([made, large]);
        }
        assert_eq!(apply(&*store, changes).await.refused, []);
        land(&*store, moving(vec![], vec![create(&gone, RefKind::Branch, root)])).await;
        land(&*store, moving(vec![], vec![delete(&gone, root)])).await;
        land(&*store, record("k", Some("v"))).await;
        land(&*store, record("k", None)).await;
        land(&*store, record("stays", Some(&"s".repeat(150_000)))).await;
        land(&*store, derived(round)).await;
        assert_eq!(u64::from(store.begin_epoch().await.unwrap()), round);
        store = match backend.reopen(store).await {
            Some(store) => store,
            None => return,
        };
        check(&store, round, &objects, at).await;
    }
}

async fn check(store: &Arc<dyn Sweep>, round: u64, objects: &[crate::NewObject], at: CommitId) {
    let (main, gone) = (name("main"), name("gone"));
    let moves = round * COMMITS;
    let found = store.reference(&main).await.unwrap().unwrap();
    assert_eq!((found.target, found.number), (at, 1 + moves));
    assert_eq!(store.ref_log(&main, None, 10_000).await.unwrap().len() as u64, 1 + moves);
    for object in objects {
        assert!(store.object(object.kind, object.id).await.unwrap().as_ref() == Some(&object.bytes));
    }
    let last = [(round * COMMITS + COMMITS - 1) as u8; 32];
    assert_eq!(store.request(&last).await.unwrap().unwrap().number, 1 + moves);
    assert_eq!(store.reference(&gone).await.unwrap(), None);
    assert_eq!(store.ref_log(&gone, None, 1).await.unwrap()[0].number, 2 * round);
    assert_eq!(u64::from(store.epoch().await.unwrap()), round);
    let record = store.record(RecordSpace::Setting, b"stays").await.unwrap().unwrap();
    assert_eq!((record.version, record.value.len()), (round, 150_000));
    assert_eq!(store.record(RecordSpace::Setting, b"k").await.unwrap(), None);
    let kept = store.derived(DerivedSpace::Checkpoint, b"d").await.unwrap();
    assert_eq!(kept, Some(Bytes::from(round.to_string())), "written in a batch, so it is as durable as that");
    // The version of a deleted record goes on where it was: it has been set once in each round.
    land(&**store, self::record("k", Some("v"))).await;
    let again = store.record(RecordSpace::Setting, b"k").await.unwrap().unwrap();
    assert_eq!(again.version, 2 * round);
    land(&**store, self::record("k", None)).await;
    assert_eq!(store.scan_objects(None, 10_000).await.unwrap().len(), objects.len());
}

fn record(key: &'static str, value: Option<&str>) -> Change {
    Change {
        records: vec![RecordChange {
            space: RecordSpace::Setting,
            key: key.into(),
            expected: ExpectedRecord::Any,
            value: value.map(|value| Bytes::copy_from_slice(value.as_bytes())),
        }],
        ..Change::default()
    }
}

fn derived(round: u64) -> Change {
    let value = Some(Bytes::from(round.to_string()));
    Change {
        derived: vec![DerivedWrite { space: DerivedSpace::Checkpoint, key: "d".into(), value }],
        ..Change::default()
    }
}

//! Several writers and readers on one store.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use lochan_storage_model::{CommitId, ObjectKind};

use super::{Backend, advance, apply, commit, create, head, land, moving, name, target};
use crate::{ExpectedRecord, RecordChange, RecordSpace, RefKind, Sweep};

const ROUNDS: usize = 60;

pub(super) async fn run(backend: &dyn Backend) {
    two_writers_lose_nothing(backend).await;
    readers_never_see_half_a_change(backend).await;
}

async fn two_writers_lose_nothing(backend: &dyn Backend) {
    let store = backend.create().await;
    let names = [name("x"), name("y")];
    let creates = names.iter().map(|name| create(name, RefKind::Branch, CommitId::NO_ANCESTOR)).collect();
    land(&*store, moving(vec![], creates)).await;
    let writers = ["first", "second"].map(|writer| {
        let (store, names) = (Arc::clone(&store), names.clone());
        tokio::spawn(async move { write(&*store, &names, writer).await })
    });
    let mut acknowledged = 0;
    for writer in writers {
        acknowledged += writer.await.unwrap();
    }
    let mut counted = 0;
    for name in &names {
        let entries = store.ref_log(name, None, 10_000).await.unwrap();
        counted += entries.len() as u64 - 1;
        assert_eq!(entries.first().unwrap().new, head(&*store, name).await);
        for pair in entries.windows(2) {
            assert_eq!((pair[0].old, pair[0].number), (pair[1].new, pair[1].number + 1));
        }
    }
    assert!(acknowledged > 0);
    assert_eq!(counted, acknowledged, "what was acknowledged is exactly what was done");
}

/// Moves both references in one batch a number of times; returns how many moves landed.
async fn write(store: &dyn Sweep, names: &[lochan_storage_model::RefName; 2], writer: &str) -> u64 {
    let mut landed = 0;
    for round in 0..ROUNDS {
        let mut changes = Vec::new();
        for name in names {
            let object = commit(&format!("{writer} {round} {name}"));
            let at = head(store, name).await.unwrap();
            changes.push(moving(vec![object.clone()], vec![advance(name, at, target(&object))]));
        }
        tokio::task::yield_now().await;
        let outcome = apply(store, changes).await;
        landed += (names.len() - outcome.refused.len()) as u64;
        for name in names {
            let seen = head(store, name).await.unwrap();
            assert!(store.object(ObjectKind::Commit, seen.object()).await.unwrap().is_some());
        }
        tokio::task::yield_now().await;
    }
    landed
}

async fn readers_never_see_half_a_change(backend: &dyn Backend) {
    let store = backend.create().await;
    let main = name("main");
    let root = CommitId::NO_ANCESTOR;
    land(&*store, moving(vec![], vec![create(&main, RefKind::Branch, root)])).await;
    let done = Arc::new(AtomicBool::new(false));
    let reader = tokio::spawn({
        let (store, main, done) = (Arc::clone(&store), main.clone(), Arc::clone(&done));
        async move {
            let mut seen = 0;
            while !done.load(Ordering::Acquire) {
                let reference = store.reference(&main).await.unwrap().unwrap();
                assert!(reference.number >= seen, "a reader never goes back");
                seen = reference.number;
                // A later look sees at least as much, and what a reference points at is there.
                let record = store.record(RecordSpace::Run, b"count").await.unwrap();
                assert!(record.map_or(0, |record| record.version) * 3 + 1 >= seen);
                let entries = store.ref_log(&main, None, 1).await.unwrap();
                assert!(entries[0].number >= seen);
                assert_eq!((entries[0].number - 1) % 3, 0, "three moves of one batch show together");
                if reference.target != root {
                    let found = store.object(ObjectKind::Commit, reference.target.object()).await.unwrap();
                    assert!(found.is_some());
                }
                let listed = store.references(None, 10).await.unwrap();
                assert_eq!(listed.len(), 1);
                assert!(listed[0].number >= seen);
                tokio::task::yield_now().await;
            }
        }
    });
    let mut at = root;
    for round in 0..ROUNDS {
        let mut changes = Vec::new();
        for step in 0..3 {
            let object = commit(&format!("{round}.{step}"));
            let mut change = moving(vec![object.clone()], vec![advance(&main, at, target(&object))]);
            if step == 2 {
                change.records.push(RecordChange {
                    space: RecordSpace::Run,
                    key: "count".into(),
                    expected: ExpectedRecord::Any,
                    value: Some(round.to_string().into()),
                });
            }
            changes.push(change);
            at = target(&object);
        }
        assert_eq!(apply(&*store, changes).await.refused, []);
        tokio::task::yield_now().await;
    }
    done.store(true, Ordering::Release);
    reader.await.unwrap();
}

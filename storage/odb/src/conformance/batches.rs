//! Batches of many changes.

use lochan_storage_model::{CommitId, ObjectKind, RefName};

use super::{Backend, advance, apply, commit, create, head, land, moving, name, target};
use crate::{
    Batch, Change, ExpectedRecord, ExpectedReference, FailedPrecondition, Outcome, RecordSpace, RefKind,
    Refusal, Requirement, StoreError, Writes,
};

/// Commits in the large batch; what the writer gathers at most is of this order.
const COMMITS: usize = 64;
const BRANCHES: usize = 4;

pub(super) async fn run(backend: &dyn Backend) {
    an_empty_batch_changes_nothing(backend).await;
    many_commits_on_several_references_land_together(backend).await;
    refused_changes_are_named_and_left_out_whole(backend).await;
    requirements_are_checked_where_they_stand(backend).await;
    a_change_refused_late_takes_back_its_early_parts(backend).await;
    an_oversized_part_refuses_the_batch(backend).await;
}

async fn an_empty_batch_changes_nothing(backend: &dyn Backend) {
    let store = backend.create().await;
    assert_eq!(store.writes(), Writes::Allowed);
    assert_eq!(store.commit(Batch::default()).await.unwrap(), Outcome::default());
    assert_eq!(store.references(None, 10).await.unwrap(), []);
    assert_eq!(store.ref_log_names(None, 10).await.unwrap(), []);
}

async fn many_commits_on_several_references_land_together(backend: &dyn Backend) {
    let store = backend.create().await;
    let names: Vec<_> = (0..BRANCHES).map(|i| name(&format!("b{i}"))).collect();
    let root = CommitId::NO_ANCESTOR;
    let creates = names.iter().map(|name| create(name, RefKind::Branch, root)).collect();
    land(&*store, moving(vec![], creates)).await;
    let mut heads = vec![root; BRANCHES];
    let mut changes = Vec::new();
    for i in 0..COMMITS {
        let object = commit(&i.to_string());
        let branch = i % BRANCHES;
        changes.push(moving(
            vec![object.clone()],
            vec![advance(&names[branch], heads[branch], target(&object))],
        ));
        heads[branch] = target(&object);
    }
    assert_eq!(apply(&*store, changes).await, Outcome::default());
    for (name, expected) in names.iter().zip(&heads) {
        let reference = store.reference(name).await.unwrap().unwrap();
        assert_eq!((reference.target, reference.number), (*expected, 1 + (COMMITS / BRANCHES) as u64));
        let entries = store.ref_log(name, None, 1_000).await.unwrap();
        let numbers: Vec<u64> = entries.iter().map(|entry| entry.number).collect();
        assert_eq!(numbers, (1..=reference.number).rev().collect::<Vec<_>>());
        for pair in entries.windows(2) {
            assert_eq!(pair[0].old, pair[1].new, "each entry begins where the one before it ended");
        }
        for entry in &entries {
            let to = entry.new.unwrap();
            let stored = store.object(ObjectKind::Commit, to.object()).await.unwrap();
            assert_eq!(stored.is_some(), to != root);
        }
    }
}

async fn refused_changes_are_named_and_left_out_whole(backend: &dyn Backend) {
    let store = backend.create().await;
    let main = name("main");
    let (a, b, c) = (commit("a"), commit("b"), commit("c"));
    let root = CommitId::NO_ANCESTOR;
    let outcome = apply(
        &*store,
        vec![
            moving(vec![], vec![create(&main, RefKind::Branch, root)]),
            moving(vec![a.clone()], vec![advance(&main, root, target(&a))]),
            moving(vec![b.clone()], vec![advance(&main, root, target(&b))]),
            moving(vec![c.clone()], vec![advance(&main, target(&a), target(&c))]),
        ],
    )
    .await;
    assert_eq!(outcome.refused.len(), 1);
    let Refusal { change, cause } = &outcome.refused[0];
    assert_eq!(*change, 2);
    let FailedPrecondition::Reference { name: refused, found: Some(found) } = cause else {
        panic!("{cause:?}")
    };
    assert_eq!((refused, found.target, found.number), (&main, target(&a), 2));
    assert_eq!(head(&*store, &main).await, Some(target(&c)));
    assert_eq!(store.object(ObjectKind::Commit, b.id).await.unwrap(), None);
    assert_eq!(store.object(ObjectKind::Commit, a.id).await.unwrap(), Some(a.bytes));
    assert_eq!(store.ref_log(&main, None, 10).await.unwrap().len(), 3);
}

async fn requirements_are_checked_where_they_stand(backend: &dyn Backend) {
    let store = backend.create().await;
    let (main, other) = (name("main"), name("other"));
    let root = CommitId::NO_ANCESTOR;
    let absent = Requirement::Reference(main.clone(), ExpectedReference::Absent);
    let present = Requirement::Reference(main.clone(), ExpectedReference::At(RefKind::Branch, root));
    let protected = Requirement::Record(RecordSpace::Reference, "main".into(), ExpectedRecord::Absent);
    let requiring = |requires, made: &RefName| Change {
        requires,
        references: vec![create(made, RefKind::Branch, root)],
        ..Change::default()
    };
    let outcome = apply(
        &*store,
        vec![
            requiring(vec![present.clone()], &other),
            requiring(vec![absent.clone(), protected], &main),
            requiring(vec![absent], &name("third")),
            requiring(vec![present], &name("fourth")),
        ],
    )
    .await;
    assert_eq!(outcome.refused.iter().map(|refusal| refusal.change).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(outcome.refused[0].cause, FailedPrecondition::Reference { name: main.clone(), found: None });
    let names: Vec<_> =
        store.references(None, 10).await.unwrap().into_iter().map(|found| found.name).collect();
    assert_eq!(names, [name("fourth"), main]);
    let wrong = Requirement::Record(RecordSpace::Reference, "main".into(), ExpectedRecord::Version(3));
    let outcome = apply(&*store, vec![requiring(vec![wrong], &other)]).await;
    assert_eq!(
        outcome.refused[0].cause,
        FailedPrecondition::Record { space: RecordSpace::Reference, key: "main".into(), found: None }
    );
    // A requirement alone writes nothing and is answered all the same.
    let wrong = Requirement::Reference(other, ExpectedReference::At(RefKind::Tag, root));
    let outcome = apply(&*store, vec![Change { requires: vec![wrong], ..Change::default() }]).await;
    assert_eq!(outcome.refused.len(), 1);
}

async fn a_change_refused_late_takes_back_its_early_parts(backend: &dyn Backend) {
    let store = backend.create().await;
    let (main, other) = (name("main"), name("other"));
    let root = CommitId::NO_ANCESTOR;
    let (a, b) = (commit("a"), commit("b"));
    land(&*store, moving(vec![], vec![create(&main, RefKind::Branch, root)])).await;
    let outcome = apply(
        &*store,
        vec![
            moving(
                vec![a.clone()],
                vec![advance(&main, root, target(&a)), advance(&other, root, target(&a))],
            ),
            moving(vec![b.clone()], vec![advance(&main, root, target(&b))]),
        ],
    )
    .await;
    assert_eq!(outcome.refused.len(), 1);
    assert_eq!(outcome.refused[0].change, 0);
    assert_eq!(head(&*store, &main).await, Some(target(&b)));
    let entries = store.ref_log(&main, None, 10).await.unwrap();
    assert_eq!(entries.iter().map(|entry| entry.number).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(store.object(ObjectKind::Commit, a.id).await.unwrap(), None);
}

async fn an_oversized_part_refuses_the_batch(backend: &dyn Backend) {
    let store = backend.create().await;
    let main = name("main");
    let mut change = moving(vec![], vec![create(&main, RefKind::Branch, CommitId::NO_ANCESTOR)]);
    change.records.push(crate::RecordChange {
        space: RecordSpace::Setting,
        key: "k".into(),
        expected: ExpectedRecord::Any,
        value: Some(vec![0; crate::RECORD_BYTES_MAX + 1].into()),
    });
    let result = store.commit(Batch { changes: vec![change] }).await;
    assert!(matches!(result, Err(StoreError::TooLarge { .. })), "{result:?}");
    assert_eq!(head(&*store, &main).await, None);
    assert_eq!(store.writes(), Writes::Allowed);
}

//! References, their log, the index of requests.

use lochan_storage_model::CommitId;

use super::{Backend, advance, apply, commit, create, delete, head, land, log, moving, name, target};
use crate::{ExpectedReference, RefKind, RefOperation, ReferenceChange, RequestKey};

pub(super) async fn run(backend: &dyn Backend) {
    branches_and_tags_share_one_name_space(backend).await;
    kind_is_part_of_the_expectation(backend).await;
    numbers_go_on_after_delete_and_create(backend).await;
    one_batch_may_create_move_and_delete(backend).await;
    the_log_says_everything(backend).await;
    references_and_log_are_paged(backend).await;
    names_that_start_alike_keep_apart(backend).await;
    requests_lead_to_their_entry(backend).await;
}

async fn branches_and_tags_share_one_name_space(backend: &dyn Backend) {
    let store = backend.create().await;
    let root = CommitId::NO_ANCESTOR;
    land(&*store, moving(vec![], vec![create(&name("x"), RefKind::Tag, root)])).await;
    let outcome = apply(&*store, vec![moving(vec![], vec![create(&name("x"), RefKind::Branch, root)])]).await;
    assert_eq!(outcome.refused.len(), 1);
    assert_eq!(store.reference(&name("x")).await.unwrap().unwrap().kind, RefKind::Tag);
}

async fn kind_is_part_of_the_expectation(backend: &dyn Backend) {
    let store = backend.create().await;
    let root = CommitId::NO_ANCESTOR;
    land(&*store, moving(vec![], vec![create(&name("x"), RefKind::Tag, root)])).await;
    let outcome = apply(&*store, vec![moving(vec![], vec![delete(&name("x"), root)])]).await;
    assert_eq!(outcome.refused.len(), 1);
    assert!(store.reference(&name("x")).await.unwrap().is_some());
}

async fn numbers_go_on_after_delete_and_create(backend: &dyn Backend) {
    let store = backend.create().await;
    let main = name("main");
    let root = CommitId::NO_ANCESTOR;
    for round in 0..3 {
        land(&*store, moving(vec![], vec![create(&main, RefKind::Branch, root)])).await;
        assert_eq!(store.reference(&main).await.unwrap().unwrap().number, 2 * round + 1);
        land(&*store, moving(vec![], vec![delete(&main, root)])).await;
        assert_eq!(store.reference(&main).await.unwrap(), None);
        assert_eq!(store.references(None, 10).await.unwrap(), []);
        let logged = store.ref_log_names(None, 10).await.unwrap();
        assert_eq!(logged, std::slice::from_ref(&main), "the log is kept");
    }
    let entries = store.ref_log(&main, None, 100).await.unwrap();
    assert_eq!(entries.iter().map(|entry| entry.number).collect::<Vec<_>>(), [6, 5, 4, 3, 2, 1]);
}

async fn one_batch_may_create_move_and_delete(backend: &dyn Backend) {
    let store = backend.create().await;
    let (main, gone) = (name("main"), name("gone"));
    let root = CommitId::NO_ANCESTOR;
    let a = commit("a");
    let outcome = apply(
        &*store,
        vec![
            moving(vec![], vec![create(&main, RefKind::Branch, root), create(&gone, RefKind::Branch, root)]),
            moving(vec![a.clone()], vec![advance(&gone, root, target(&a))]),
            moving(vec![], vec![delete(&gone, target(&a))]),
            moving(vec![], vec![delete(&main, root)]),
            moving(vec![], vec![create(&main, RefKind::Tag, target(&a))]),
        ],
    )
    .await;
    assert_eq!(outcome.refused, []);
    assert_eq!(head(&*store, &gone).await, None);
    assert_eq!(store.ref_log(&gone, None, 10).await.unwrap().len(), 3);
    let found = store.reference(&main).await.unwrap().unwrap();
    assert_eq!((found.kind, found.target, found.number), (RefKind::Tag, target(&a), 3));
    land(&*store, moving(vec![], vec![create(&gone, RefKind::Branch, root)])).await;
    assert_eq!(store.reference(&gone).await.unwrap().unwrap().number, 4);
}

async fn the_log_says_everything(backend: &dyn Backend) {
    let store = backend.create().await;
    let main = name("main");
    let root = CommitId::NO_ANCESTOR;
    let a = commit("a");
    land(&*store, moving(vec![], vec![create(&main, RefKind::Branch, root)])).await;
    let mut assign = advance(&main, root, target(&a));
    assign.log = log(RefOperation::Assign);
    assign.log.principal = "bob".into();
    assign.log.run = Some("run-7".into());
    assign.log.request = Some(RequestKey { key: [1; 32], fingerprint: [2; 32] });
    assign.log.time = -5;
    land(&*store, moving(vec![a.clone()], vec![assign.clone()])).await;
    land(&*store, moving(vec![], vec![delete(&main, target(&a))])).await;
    let entries = store.ref_log(&main, None, 10).await.unwrap();
    let [deleted, assigned, created] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!((created.old, created.new, created.operation), (None, Some(root), RefOperation::Create));
    assert_eq!(assigned.name, main);
    assert_eq!((assigned.old, assigned.new), (Some(root), Some(target(&a))));
    assert_eq!((assigned.kind, assigned.operation), (RefKind::Branch, RefOperation::Assign));
    assert_eq!((assigned.principal.as_str(), assigned.run.as_deref()), ("bob", Some("run-7")));
    assert_eq!((assigned.request, assigned.time), (assign.log.request, -5));
    assert_eq!((deleted.old, deleted.new), (Some(target(&a)), None));
    assert_eq!((deleted.kind, deleted.operation), (RefKind::Branch, RefOperation::Delete));
}

async fn references_and_log_are_paged(backend: &dyn Backend) {
    let store = backend.create().await;
    let root = CommitId::NO_ANCESTOR;
    let mut names: Vec<_> = (0..50).map(|i| name(&format!("r{i}"))).collect();
    for (i, name) in names.iter().enumerate() {
        let kind = if i % 2 == 0 { RefKind::Branch } else { RefKind::Tag };
        land(&*store, moving(vec![], vec![create(name, kind, root)])).await;
    }
    names.sort();
    for limit in [1, 7, 50, 100] {
        let (mut listed, mut logged) = (Vec::new(), Vec::new());
        loop {
            let page = store.references(listed.last(), limit).await.unwrap();
            assert!(page.len() <= limit);
            if page.is_empty() {
                break;
            }
            listed.extend(page.into_iter().map(|reference| reference.name));
        }
        loop {
            let page = store.ref_log_names(logged.last(), limit).await.unwrap();
            if page.is_empty() {
                break;
            }
            logged.extend(page);
        }
        assert_eq!(listed, names);
        assert_eq!(logged, names);
    }
    assert_eq!(store.references(Some(&name("r10a")), 1).await.unwrap()[0].name, name("r11"));
    let main = name("main");
    land(&*store, moving(vec![], vec![create(&main, RefKind::Branch, root)])).await;
    let mut at = root;
    for batch in 0..5 {
        let mut changes = Vec::new();
        for i in 0..5 {
            let object = commit(&format!("{batch}.{i}"));
            changes.push(moving(vec![object.clone()], vec![advance(&main, at, target(&object))]));
            at = target(&object);
        }
        assert_eq!(apply(&*store, changes).await.refused, []);
    }
    for limit in [1, 3, 26, 40] {
        let mut numbers: Vec<u64> = Vec::new();
        loop {
            let page = store.ref_log(&main, numbers.last().copied(), limit).await.unwrap();
            assert!(page.len() <= limit);
            if page.is_empty() {
                break;
            }
            numbers.extend(page.iter().map(|entry| entry.number));
        }
        assert_eq!(numbers, (1..=26).rev().collect::<Vec<_>>());
    }
    assert_eq!(store.ref_log(&main, Some(0), 5).await.unwrap(), []);
    assert_eq!(store.ref_log(&name("nobody"), None, 5).await.unwrap(), []);
}

async fn names_that_start_alike_keep_apart(backend: &dyn Backend) {
    let store = backend.create().await;
    let root = CommitId::NO_ANCESTOR;
    let names = ["a", "a-b", "a/b", "a/b/c", "ab"].map(name);
    for name in &names {
        land(&*store, moving(vec![], vec![create(name, RefKind::Branch, root)])).await;
    }
    land(&*store, moving(vec![], vec![delete(&names[0], root)])).await;
    for (i, name) in names.iter().enumerate() {
        let entries = store.ref_log(name, None, 10).await.unwrap();
        assert_eq!(entries.len(), if i == 0 { 2 } else { 1 });
        assert!(entries.iter().all(|entry| entry.name == *name));
    }
    let listed = store.references(None, 10).await.unwrap();
    assert_eq!(listed.into_iter().map(|found| found.name).collect::<Vec<_>>(), names[1..]);
}

async fn requests_lead_to_their_entry(backend: &dyn Backend) {
    let store = backend.create().await;
    let main = name("main");
    let root = CommitId::NO_ANCESTOR;
    land(&*store, moving(vec![], vec![create(&main, RefKind::Branch, root)])).await;
    let mut at = root;
    let mut changes = Vec::new();
    for i in 0..8u8 {
        let object = commit(&i.to_string());
        let mut change = advance(&main, at, target(&object));
        change.log.request = Some(RequestKey { key: [i; 32], fingerprint: [i + 100; 32] });
        changes.push(moving(vec![object.clone()], vec![change]));
        at = target(&object);
    }
    let refused = ReferenceChange {
        log: crate::LogMeta {
            request: Some(RequestKey { key: [77; 32], fingerprint: [0; 32] }),
            ..log(RefOperation::Commit)
        },
        expected: ExpectedReference::Absent,
        ..advance(&main, at, root)
    };
    changes.push(moving(vec![], vec![refused]));
    assert_eq!(apply(&*store, changes).await.refused.len(), 1);
    for i in 0..8u8 {
        let entry = store.request(&[i; 32]).await.unwrap().unwrap();
        assert_eq!((entry.name, entry.number), (main.clone(), u64::from(i) + 2));
        assert_eq!(entry.request.unwrap().fingerprint, [i + 100; 32]);
    }
    assert_eq!(store.request(&[77; 32]).await.unwrap(), None, "a refused change leaves no trace");
}

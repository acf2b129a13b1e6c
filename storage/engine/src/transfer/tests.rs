use std::{collections::HashSet, sync::Arc};

use lochan_storage_model::{CommitId, CommitMeta, Entry, Operation, ports::SystemRng};
use lochan_storage_odb::{ExpectedReference, RefKind, RefOperation, Store, memory::Memory};

use super::*;
use crate::{
    Engine, Error, Options,
    history::{LogEntry, Place},
    index::Edit,
    merge::Rules,
    testing::{assert_sound, branch, commit, contents, engine, engine_with, head, merge, name, put, table},
    writer::Who,
};

/// Every commit of an inventory, read in pieces of `step`.
async fn all(engine: &Engine, inventory: &Inventory, step: usize) -> Vec<LogEntry> {
    let mut found = Vec::new();
    loop {
        let more = inventory.read(engine, found.len() as u64, step).await.unwrap();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// Branches that fork and merge, some of them gone.
async fn tangled() -> Engine {
    let engine = engine().await;
    for n in 0..5 {
        commit(&engine, "main", vec![put(&format!("m{n}"), table(n))]).await;
    }
    for side in ["one", "two"] {
        branch(&engine, side, "main").await;
        for n in 0..3 {
            commit(&engine, side, vec![put(&format!("{side}{n}"), table(n))]).await;
        }
    }
    merge(&engine, "one", "two").await;
    commit(&engine, "main", vec![put("late", table(1))]).await;
    merge(&engine, "two", "main").await;
    commit(&engine, "main", vec![put("last", table(1))]).await;
    let gone = head(&engine, "one").await;
    engine.delete_reference(&name("one"), gone, Who::default()).await.unwrap();
    engine
        .create_reference(&name("v1"), RefKind::Tag, head(&engine, "main").await, Who::default())
        .await
        .unwrap();
    engine
}

#[tokio::test]
async fn an_inventory_has_every_commit_once_and_parents_first() {
    let engine = tangled().await;
    let inventory = engine.inventory(engine.moment().await.unwrap()).await.unwrap();
    let names: Vec<&str> = inventory.references().iter().map(|reference| reference.name.as_str()).collect();
    assert_eq!(names, ["main", "two", "v1"]);
    for step in [1, 2, 7, 1_000] {
        let commits = all(&engine, &inventory, step).await;
        assert_eq!(commits.len() as u64, inventory.commits());
        let mut seen = HashSet::from([CommitId::NO_ANCESTOR]);
        for LogEntry { id, commit } in &commits {
            assert!(commit.header.parents.iter().all(|parent| seen.contains(parent)), "step {step}");
            assert!(seen.insert(*id));
        }
        // main 5 + late + merge + last, one 3, two 3 + merge
        assert_eq!(commits.len(), 15);
    }
}

#[tokio::test]
async fn no_more_commits_are_taken_stock_of_than_the_bound() {
    assert_eq!(super::inventory::COMMITS_MAX, 10_000_000);
    // Told by the depth of a reference, and by what all references reach together.
    let line = engine().await;
    for n in 0..5 {
        commit(&line, "main", vec![put(&format!("m{n}"), table(n))]).await;
    }
    for engine in [line, tangled().await] {
        let at = engine.moment().await.unwrap();
        let commits = engine.inventory(at).await.unwrap().commits();
        assert_eq!(engine.inventory_within(at, commits).await.unwrap().commits(), commits);
        let refused = engine.inventory_within(at, commits - 1).await;
        assert!(matches!(refused, Err(Error::BadRequest(_))), "{refused:?}");
    }
}

#[tokio::test]
async fn an_inventory_shows_its_moment_whatever_comes_after() {
    let engine = tangled().await;
    let at = engine.moment().await.unwrap();
    let before = engine.inventory(at).await.unwrap();
    commit(&engine, "main", vec![put("after", table(1))]).await;
    let tag = head(&engine, "v1").await;
    engine.delete_reference(&name("v1"), tag, Who::default()).await.unwrap();
    engine.create_reference(&name("new"), RefKind::Branch, tag, Who::default()).await.unwrap();
    assert_eq!(engine.inventory(at).await.unwrap(), before);
    let now = engine.inventory(engine.moment().await.unwrap()).await.unwrap();
    assert_eq!(now.commits(), before.commits() + 1);
    assert_eq!(now.references().len(), 3);
}

#[tokio::test]
async fn a_moment_cuts_between_changes_made_at_one_time() {
    let engine = stopped_clock().await;
    let mut moments = Vec::new();
    for n in 0..5 {
        commit(&engine, "main", vec![put(&format!("k{n}"), table(n))]).await;
        moments.push(engine.moment().await.unwrap());
    }
    for (n, at) in moments.into_iter().enumerate() {
        assert_eq!(engine.inventory(at).await.unwrap().commits(), n as u64 + 1);
    }
}

struct Stopped;

impl lochan_storage_model::Clock for Stopped {
    fn now(&self) -> i64 {
        1_000
    }
}

async fn stopped_clock() -> Engine {
    let shared: Arc<dyn Store> = Arc::new(Memory::new());
    let engine =
        Engine::start(shared, Arc::new(Stopped), Arc::new(SystemRng), Rules::default(), Options::default())
            .unwrap();
    engine
        .create_reference(&name("main"), RefKind::Branch, CommitId::NO_ANCESTOR, Who::default())
        .await
        .unwrap();
    engine
}

fn graft_of(entry: &LogEntry) -> Graft {
    let commit = &entry.commit;
    Graft {
        parents: commit.header.parents.clone(),
        time: commit.header.time,
        meta: commit.meta.clone(),
        attachments: commit.attachments.clone(),
        edits: commit.operations.iter().map(edit_of).collect(),
        objects: Vec::new(),
    }
}

fn edit_of(operation: &Operation) -> Edit {
    Edit { key: operation.key().clone(), entry: operation.entry().cloned() }
}

#[tokio::test]
async fn commits_made_again_are_the_same_commits() {
    let source = tangled().await;
    let inventory = source.inventory(source.moment().await.unwrap()).await.unwrap();
    let store = Arc::new(Memory::new());
    let options = Options { checkpoint_commits_min: 3, ..Options::default() };
    let target = crate::testing::open(&store, Rules::default(), options);
    for part in all(&source, &inventory, 100).await.chunks(4) {
        let mut grafting = target.graft();
        for entry in part {
            let grafted = grafting.add(graft_of(entry)).await.unwrap();
            assert_eq!(grafted, Grafted { id: entry.id, raised: false });
        }
        grafting.store(Vec::new()).await.unwrap();
    }
    let published = inventory
        .references()
        .iter()
        .map(|Snapshot { name, kind, target }| Published {
            name: name.clone(),
            expected: ExpectedReference::Absent,
            kind: *kind,
            target: *target,
        })
        .collect();
    target.publish_references(published, Vec::new(), Who::default()).await.unwrap();
    let again = target.inventory(target.moment().await.unwrap()).await.unwrap();
    assert_eq!(again.references(), inventory.references());
    for of in ["main", "two", "v1"] {
        assert_eq!(contents(&target, of).await, contents(&source, of).await);
        assert_eq!(target.ref_log(&name(of), None, 9).await.unwrap()[0].operation, RefOperation::Import);
    }
    assert_sound(&store).await;
    // The target goes on like any other.
    commit(&target, "main", vec![put("more", table(1))]).await;
}

#[tokio::test]
async fn times_that_do_not_grow_are_raised_and_parents_must_be_there() {
    let engine = engine().await;
    let graft = |parents, time, key: &str| Graft {
        parents,
        time,
        meta: CommitMeta::default(),
        attachments: Vec::new(),
        edits: vec![Edit {
            key: crate::testing::key(key).index_key(),
            entry: Some(Entry::of(lochan_storage_model::ContentId::from_bytes([1; 16]), &table(1)).0),
        }],
        objects: Vec::new(),
    };
    let mut grafting = engine.graft();
    let first = grafting.add(graft(Vec::new(), 50, "a")).await.unwrap();
    let second = grafting.add(graft(vec![first.id], 50, "b")).await.unwrap();
    let third = grafting.add(graft(vec![second.id], 40, "c")).await.unwrap();
    let fourth = grafting.add(graft(vec![third.id], 60, "d")).await.unwrap();
    assert_eq!([first, second, third, fourth].map(|grafted| grafted.raised), [false, true, true, false]);
    let unknown = CommitId::new(lochan_storage_model::ObjectId::from_bytes([7; 32]));
    assert!(matches!(grafting.add(graft(vec![unknown], 60, "e")).await, Err(Error::CommitNotFound(_))));
    let fifth = grafting.add(graft(vec![first.id, fourth.id], 70, "e")).await.unwrap();
    grafting.store(Vec::new()).await.unwrap();
    let mut times = Vec::new();
    for grafted in [first, second, third, fourth, fifth] {
        times.push(engine.commits().load(grafted.id).await.unwrap().header.time);
    }
    assert_eq!(times, [50, 51, 52, 60, 70]);
    // What was made and not stored is not there.
    let dropped = {
        let mut grafting = engine.graft();
        grafting.add(graft(vec![fifth.id], 80, "f")).await.unwrap().id
    };
    assert!(engine.commits().find(dropped).await.unwrap().is_none());
}

#[tokio::test]
async fn references_appear_together_or_not_at_all() {
    let (engine, store) = engine_with(Rules::default(), Options::default()).await;
    let at = commit(&engine, "main", vec![put("a", table(1))]).await.head;
    let published =
        |of: &str, expected| Published { name: name(of), expected, kind: RefKind::Branch, target: at };
    let wanted = vec![
        published("x", ExpectedReference::Absent),
        published("main", ExpectedReference::At(RefKind::Branch, CommitId::NO_ANCESTOR)),
    ];
    match engine.publish_references(wanted, Vec::new(), Who::default()).await {
        Err(Error::ReferenceMoved(found)) => assert_eq!(found.name, name("main")),
        other => panic!("{other:?}"),
    }
    assert!(engine.find_reference(&name("x")).await.unwrap().is_none());
    // Beside commits to the same branches nothing is lost.
    let wanted = vec![published("x", ExpectedReference::Absent), published("y", ExpectedReference::Absent)];
    engine.publish_references(wanted, Vec::new(), Who::default()).await.unwrap();
    commit(&engine, "y", vec![put("b", table(1))]).await;
    assert_sound(&store).await;
}

#[tokio::test]
async fn logs_of_several_references_are_one() {
    let engine = tangled().await;
    let names: Vec<_> = ["main", "one", "two", "v1"].map(name).to_vec();
    let mut entries = Vec::new();
    let mut log = engine.reflog(names.clone(), None, None).await.unwrap();
    while let Some(entry) = log.next().await.unwrap() {
        entries.push(entry);
    }
    // Creates 4, commits 5 + 3 + 3 + 1 + 1, merges 2, delete 1
    assert_eq!(entries.len(), 20);
    assert!(entries.is_sorted_by(|newer, older| Place::of(newer) > Place::of(older)));
    for at in 0..entries.len() {
        let place = Place::of(&entries[at]);
        let mut rest = engine.reflog(names.clone(), Some(&place), None).await.unwrap();
        for expected in &entries[at + 1..] {
            assert_eq!(rest.next().await.unwrap().as_ref(), Some(expected));
        }
        assert_eq!(rest.next().await.unwrap(), None);
        let mut until = engine.reflog(names.clone(), None, Some(place.time)).await.unwrap();
        let newest = until.next().await.unwrap().unwrap();
        assert!(newest.time <= place.time && Place::of(&newest) >= place);
    }
}

use std::sync::Arc;

use lochan_storage_odb::memory::Memory;

use super::*;
use crate::{
    Options,
    merge::Rules,
    testing::{assert_sound, branch, commit, engine_with, head, name, put, table},
};

async fn newest(engine: &Engine, of: &str) -> RefLogEntry {
    engine.ref_log(&name(of), None, 1).await.unwrap().remove(0)
}

async fn restore(engine: &Engine, of: &str, entry: u64, side: Side) -> Result<Restored, Error> {
    let expected = newest(engine, of).await.number;
    let way = engine.find_restoration(&name(of), entry, side, expected).await?;
    engine.restore_reference(way, Who { principal: "ada".into(), ..Who::default() }).await
}

/// A branch of three commits: entries 1 (create) to 4.
async fn grown() -> Engine {
    grown_on().await.0
}

async fn grown_on() -> (Engine, Arc<Memory>) {
    let (engine, store) = engine_with(Rules::default(), Options::default()).await;
    branch(&engine, "dev", "main").await;
    for key in ["a", "b", "c"] {
        commit(&engine, "dev", vec![put(key, table(1))]).await;
    }
    (engine, store)
}

#[tokio::test]
async fn a_deleted_branch_comes_back_where_it_was() {
    let engine = grown().await;
    let was = head(&engine, "dev").await;
    engine.delete_reference(&name("dev"), was, Who::default()).await.unwrap();
    let restored = restore(&engine, "dev", 5, Side::Old).await.unwrap();
    assert!(restored.changed);
    assert_eq!(head(&engine, "dev").await, was);
    let entry = newest(&engine, "dev").await;
    assert_eq!(entry, restored.entry);
    assert_eq!((entry.number, entry.operation, entry.old), (6, RefOperation::Restore, None));
    assert_eq!(entry.principal, "ada");
}

#[tokio::test]
async fn a_moved_branch_goes_back_and_the_way_back_is_undone_in_turn() {
    let (engine, store) = grown_on().await;
    let last = head(&engine, "dev").await;
    // Before entry 3: the state after the first commit.
    restore(&engine, "dev", 3, Side::Old).await.unwrap();
    let first = head(&engine, "dev").await;
    assert_eq!(engine.commits().depth(first).await.unwrap(), 1);
    // Undo of the undo, and undo of that.
    restore(&engine, "dev", 5, Side::Old).await.unwrap();
    assert_eq!(head(&engine, "dev").await, last);
    restore(&engine, "dev", 6, Side::Old).await.unwrap();
    assert_eq!(head(&engine, "dev").await, first);
    // To a state by its other side; nothing of the log is lost.
    restore(&engine, "dev", 4, Side::New).await.unwrap();
    assert_eq!(head(&engine, "dev").await, last);
    let log = engine.ref_log(&name("dev"), None, 100).await.unwrap();
    assert_eq!(log.iter().map(|entry| entry.number).collect::<Vec<_>>(), [8, 7, 6, 5, 4, 3, 2, 1]);
    assert_sound(&store).await;
}

#[tokio::test]
async fn before_a_create_there_was_nothing() {
    let engine = grown().await;
    let restored = restore(&engine, "dev", 1, Side::Old).await.unwrap();
    assert!(restored.changed && restored.reference.is_none());
    assert!(engine.find_reference(&name("dev")).await.unwrap().is_none());
    // That deletion is undone like any other.
    restore(&engine, "dev", 5, Side::Old).await.unwrap();
    assert_eq!(engine.commits().depth(head(&engine, "dev").await).await.unwrap(), 3);
}

#[tokio::test]
async fn where_it_is_already_nothing_is_written() {
    let engine = grown().await;
    let restored = restore(&engine, "dev", 4, Side::New).await.unwrap();
    assert!(!restored.changed);
    assert_eq!(restored.entry.number, 4);
    assert_eq!(newest(&engine, "dev").await.number, 4);
}

#[tokio::test]
async fn what_has_moved_meanwhile_is_left_alone() {
    let engine = grown().await;
    let way = engine.find_restoration(&name("dev"), 3, Side::Old, 4).await.unwrap();
    commit(&engine, "dev", vec![put("d", table(1))]).await;
    let now = head(&engine, "dev").await;
    match engine.find_restoration(&name("dev"), 3, Side::Old, 4).await {
        Err(Error::LogMoved { expected: 4, found }) => assert_eq!(found.number, 5),
        other => panic!("{other:?}"),
    }
    match engine.restore_reference(way, Who::default()).await {
        Err(Error::LogMoved { expected: 4, found }) => assert_eq!(found.number, 5),
        other => panic!("{other:?}"),
    }
    assert_eq!(head(&engine, "dev").await, now);
}

#[tokio::test]
async fn names_entries_and_types_are_checked() {
    let engine = grown().await;
    let find = |of: &'static str, entry, expected| {
        let engine = engine.clone();
        async move { engine.find_restoration(&name(of), entry, Side::Old, expected).await }
    };
    assert!(matches!(find("never", 1, 1).await, Err(Error::ReferenceNotFound(_))));
    for entry in [0, 5, u64::MAX] {
        assert!(matches!(find("dev", entry, 4).await, Err(Error::NoLogEntry { .. })), "{entry}");
    }
    let was = head(&engine, "dev").await;
    engine.delete_reference(&name("dev"), was, Who::default()).await.unwrap();
    engine.create_reference(&name("dev"), RefKind::Tag, was, Who::default()).await.unwrap();
    assert!(matches!(find("dev", 4, 6).await, Err(Error::OtherKind(_))));
}

//! Stored indexes that a crash has left without some of their nodes, and a store that does not answer.

use std::{sync::Arc, time::Duration};

use lochan_storage_model::{CommitId, ContentKey};
use lochan_storage_odb::{
    DerivedSpace, DerivedWrite, Store, StoreError,
    memory::{Hold, Memory},
};

use crate::{Engine, Error, Options, fsck, index::Range, merge::Rules, testing::*};

/// An engine that has made a commit for each of so many tables and has stopped, which checkpoints them; and its store.
async fn stopped(tables: i64) -> (Engine, Arc<Memory>) {
    let (engine, store) = engine_with(Rules::default(), Options::default()).await;
    for n in 0..tables {
        commit(&engine, "main", vec![put(&format!("t{n}"), table(n))]).await;
    }
    engine.stop(Duration::from_secs(10)).await;
    (engine, store)
}

/// Loses every stored node but the root of a checkpoint.
async fn lose_all_but(store: &Memory, root: lochan_storage_model::ObjectId) {
    let rows = store.derived_scan(DerivedSpace::Node, &[], None, false, 10_000).await.unwrap();
    let lost = rows.into_iter().filter(|(key, _)| key[..] != root.as_bytes()[..]);
    let lost: Vec<DerivedWrite> =
        lost.map(|(key, _)| DerivedWrite { space: DerivedSpace::Node, key, value: None }).collect();
    assert!(lost.len() > 10);
    store.put_derived(lost).await.unwrap();
}

#[tokio::test]
async fn an_index_whose_checkpoint_outlived_its_nodes_heals_when_written() {
    let (engine, store) = stopped(300).await;
    let root = engine.commits().load(head(&engine, "main").await).await.unwrap().header.root;
    lose_all_but(&store, root).await;
    let again = open(&store, Rules::default(), Options::default());
    commit(&again, "main", vec![put("x", table(1))]).await;
    assert_eq!(contents(&again, "main").await.len(), 301);
}

#[tokio::test]
async fn indexes_above_a_checkpoint_that_outlived_its_nodes_heal() {
    let (engine, store) = stopped(300).await;
    let root = engine.commits().load(head(&engine, "main").await).await.unwrap().header.root;
    let engine = open(&store, Rules::default(), Options::default());
    commit(&engine, "main", vec![put("x", table(1))]).await;
    branch(&engine, "dev", "main").await;
    commit(&engine, "dev", vec![put("y", table(1))]).await;
    commit(&engine, "main", vec![put("z", table(1))]).await;
    lose_all_but(&store, root).await;
    let again = open(&store, Rules::default(), Options::default());
    assert_eq!(contents(&again, "main").await.len(), 302);
    assert!(merge(&again, "dev", "main").await.applied);
    assert_eq!(contents(&again, "main").await.len(), 303);
}

#[tokio::test]
async fn a_diff_with_the_empty_state_heals_the_other_side() {
    let (engine, store) = stopped(300).await;
    let head = head(&engine, "main").await;
    lose_all_but(&store, engine.commits().load(head).await.unwrap().header.root).await;
    let again = open(&store, Rules::default(), Options::default());
    let (none, all) = (again.at(CommitId::NO_ANCESTOR).await.unwrap(), again.at(head).await.unwrap());
    assert_eq!(none.diff(&all, &Range::all()).await.unwrap().all().await.unwrap().len(), 300);
}

#[tokio::test]
async fn a_damaged_checkpoint_row_is_no_checkpoint() {
    let (_, store) = stopped(100).await;
    let rows = store.derived_scan(DerivedSpace::Checkpoint, &[], None, false, 10).await.unwrap();
    for (key, row) in rows {
        // The height, which no hash vouches for.
        let mut row = row.to_vec();
        row[1] += 1;
        let value = Some(row.into());
        store.put_derived(vec![DerivedWrite { space: DerivedSpace::Checkpoint, key, value }]).await.unwrap();
    }
    let again = open(&store, Rules::default(), Options::default());
    for n in 0..20 {
        commit(&again, "main", vec![put(&format!("x{n}"), table(n))]).await;
    }
    assert_eq!(contents(&again, "main").await.len(), 120);
}

#[tokio::test]
async fn the_history_of_a_key_is_whole_across_blocks_and_without_its_rows() {
    let (engine, store) =
        engine_with(Rules::default(), Options { checkpoint_commits_min: 500, ..Options::default() }).await;
    let id = commit(&engine, "main", vec![put("t", table(0))]).await.added[0].1;
    for n in 1..300 {
        commit(&engine, "main", vec![update("t", table(n), id)]).await;
    }
    engine.stop(Duration::from_secs(10)).await;
    // One key alone fills several blocks.
    let rows = store.derived_scan(DerivedSpace::KeyHistory, &[], None, false, 100).await.unwrap();
    assert_eq!(rows.len(), 4, "three blocks and the head row");
    let again = open(&store, Rules::default(), Options::default());
    let on = head(&again, "main").await;
    let whole = again.key_history(on, &key("t").index_key(), 1_000).await.unwrap();
    assert_eq!(whole.len(), 300);
    assert!(
        whole.windows(2).all(|pair| pair[1].id == pair[0].commit.header.parent()),
        "newest first, without a gap"
    );
    assert_eq!(again.key_history(on, &key("t").index_key(), 7).await.unwrap().len(), 7);
    assert_eq!(again.key_history(on, &key("other").index_key(), 7).await.unwrap().len(), 0);
    for (key, _) in rows {
        let value = Some(vec![9u8; 5].into());
        store.put_derived(vec![DerivedWrite { space: DerivedSpace::KeyHistory, key, value }]).await.unwrap();
    }
    let without = again.key_history(on, &key("t").index_key(), 1_000).await.unwrap();
    assert_eq!(without.len(), 300, "the commits are the truth");
}

/// Two engines on one store, as two servers have it: nothing acknowledged is lost, and every root holds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_writers_on_one_store_lose_nothing() {
    let options = Options { checkpoint_commits_min: 6, ..Options::default() };
    let (engine, store) = engine_with(Rules::default(), options.clone()).await;
    branch(&engine, "dev", "main").await;
    let engines = [engine, open(&store, Rules::default(), options)];
    let tasks: Vec<_> = (0..6)
        .map(|task: usize| {
            let engine = engines[task % 2].clone();
            tokio::spawn(async move {
                let at = if task < 4 { "main" } else { "dev" };
                let table_key = format!("t{task}");
                let id = commit(&engine, at, vec![put(&table_key, table(0))]).await.added[0].1;
                for n in 1..=25 {
                    commit(&engine, at, vec![update(&table_key, table(n), id)]).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert!(merge(&engines[1], "dev", "main").await.applied);
    let main = contents(&engines[0], "main").await;
    assert_eq!(main.len(), 6);
    assert!(main.values().all(|(_, content)| *content == table(25)));
    let report = fsck::fsck(store, fsck::Depth::Full, &mut |_, _| {}).await.unwrap();
    assert_eq!(report.findings, []);
    assert_eq!(report.commits, 6 * 26 + 1);
}

#[tokio::test]
async fn nobody_waits_for_a_store_that_does_not_answer() {
    let (engine, store) = engine_with(Rules::default(), Options::default()).await;
    store.hold(Hold::Held);
    let admitted = tokio::spawn({
        let engine = engine.clone();
        async move { try_commit(&engine, "main", vec![put("a", table(0))]).await }
    });
    while store.held() == 0 {
        tokio::task::yield_now().await;
    }
    store.hold(Hold::Stalled("no answer".into()));
    let admitted = admitted.await.unwrap();
    assert!(
        matches!(&admitted, Err(Error::Store(StoreError::Unknown(why))) if why == "no answer"),
        "{admitted:?}"
    );
    let refused = try_commit(&engine, "main", vec![put("b", table(1))]).await;
    assert!(
        matches!(&refused, Err(Error::Store(StoreError::WritesRefused(why))) if why == "no answer"),
        "{refused:?}"
    );

    // What was admitted is done when it answers, what was refused is not.
    store.hold(Hold::Free);
    commit(&engine, "main", vec![put("c", table(2))]).await;
    let contents = contents(&engine, "main").await;
    let keys: Vec<&ContentKey> = contents.keys().collect();
    assert_eq!(keys, [&key("a"), &key("c")]);
}

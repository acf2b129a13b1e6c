//! The seam that ingest and hooks stand on: a reading position that moves in the same commit as the data; and recovery.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use lochan_storage_model::{CommitId, CommitMeta, Conflict, SystemPath};
use lochan_storage_odb::{
    ExpectedRecord, RecordChange, RecordSpace, RefKind, Requirement, Store, overlay::Overlay,
};

use crate::{
    Engine, Error, Options,
    commit::{ExpectedSystem, GivenId, Operation, Request, SystemPut},
    fsck,
    merge::{Rule, RuleFn, RuleOutcome, Rules, Sides},
    testing::*,
    writer::Who,
};

fn position() -> SystemPath {
    SystemPath::new(["ingest", "state", "orders", "kafka:a/orders/0"]).unwrap()
}

fn json(next: u64) -> Bytes {
    Bytes::from(format!("{{\"next\":{next}}}"))
}

/// One batch of a reader: an append to the table and the position behind it, on the state the reader has loaded.
async fn load_batch(
    engine: &Engine,
    branch: &str,
    on: CommitId,
    from: Option<u64>,
    to: u64,
) -> Result<CommitId, Error> {
    let state = engine.at(on).await?;
    let id = match state.content(&key("raw")).await? {
        Some((entry, _)) => GivenId::Id(entry.content_id),
        None => GivenId::New,
    };
    let mut request = Request::new(name(branch), on, CommitMeta::default(), Who::default());
    request.operations = vec![Operation::Put { key: key("raw"), content: table(to as i64), id }];
    request.system = vec![SystemPut { path: position(), value: Some(json(to)) }];
    request.expected_system = vec![ExpectedSystem { path: position(), value: from.map(json) }];
    Ok(engine.commit(request).await?.head)
}

async fn read(engine: &Engine, branch: &str) -> (Option<i64>, Option<Vec<u8>>) {
    let (_, state) = engine.at_head(&name(branch)).await.unwrap();
    let data = contents(engine, branch).await.get(&key("raw")).map(|(_, content)| match content {
        lochan_storage_model::Content::IcebergTable { snapshot_id, .. } => *snapshot_id,
        other => panic!("{other:?}"),
    });
    (data, state.system(&position()).await.unwrap())
}

fn both(next: u64) -> (Option<i64>, Option<Vec<u8>>) {
    (Some(next as i64), Some(json(next).to_vec()))
}

/// Takes the source's position when the target's is where they parted, with the table it belongs to.
struct Follow;

#[async_trait]
impl RuleFn for Follow {
    async fn merge(&self, path: &SystemPath, sides: &Sides) -> Result<RuleOutcome, Error> {
        let (base, source, target) = (
            sides.base.system(path).await?,
            sides.source.system(path).await?,
            sides.target.system(path).await?,
        );
        if target == base {
            return Ok(RuleOutcome::Take { value: source, with: vec![key("raw")] });
        }
        Ok(RuleOutcome::Conflicts(vec![Conflict::on_path(path)]))
    }
}

fn rules() -> Rules {
    Rules::default()
        .with("ingest/state/*/*", Rule::Function(Arc::new(Follow)))
        .with("modelstate/*/*", Rule::NotMerged)
}

#[tokio::test]
async fn position_and_data_move_together_through_merge_transplant_and_reset() {
    let (engine, _) = engine_with(rules(), Options::default()).await;
    let first = load_batch(&engine, "main", head(&engine, "main").await, None, 10).await.unwrap();
    branch(&engine, "dev", "main").await;
    branch(&engine, "copy", "main").await;
    let second = load_batch(&engine, "dev", first, Some(10), 20).await.unwrap();
    assert_eq!(read(&engine, "main").await, both(10));
    assert_eq!(read(&engine, "dev").await, both(20));

    assert!(merge(&engine, "dev", "main").await.applied);
    assert_eq!(read(&engine, "main").await, both(20));
    assert!(transplant(&engine, vec![second], "copy").await.applied);
    assert_eq!(read(&engine, "copy").await, both(20));
    let now = head(&engine, "main").await;
    engine.assign_reference(&name("main"), now, first, Who::default()).await.unwrap();
    assert_eq!(read(&engine, "main").await, both(10));
}

#[tokio::test]
async fn positions_that_parted_conflict_and_nothing_moves() {
    let (engine, _) = engine_with(rules(), Options::default()).await;
    let first = load_batch(&engine, "main", head(&engine, "main").await, None, 10).await.unwrap();
    branch(&engine, "dev", "main").await;
    load_batch(&engine, "dev", first, Some(10), 20).await.unwrap();
    load_batch(&engine, "main", first, Some(10), 15).await.unwrap();
    let before = head(&engine, "main").await;
    let outcome = merge(&engine, "dev", "main").await;
    assert!(!outcome.successful && !outcome.applied);
    assert_eq!(outcome.system_conflicts.len(), 1);
    assert_eq!(head(&engine, "main").await, before);
    assert_eq!(read(&engine, "main").await, both(15));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_racing_readers_one_wins_each_range_and_the_other_is_fenced() {
    let (engine, _) = engine_with(rules(), Options::default()).await;
    let mut at = load_batch(&engine, "main", head(&engine, "main").await, None, 0).await.unwrap();
    for round in 0..50u64 {
        let attempt = |engine: Engine| async move {
            load_batch(&engine, "main", at, Some(round * 10), (round + 1) * 10).await
        };
        let (one, two) =
            tokio::join!(tokio::spawn(attempt(engine.clone())), tokio::spawn(attempt(engine.clone())));
        let (one, two) = (one.unwrap(), two.unwrap());
        assert_eq!(usize::from(one.is_ok()) + usize::from(two.is_ok()), 1, "round {round}: {one:?} {two:?}");
        at = one.or(two).unwrap();
        assert_eq!(read(&engine, "main").await, both((round + 1) * 10));
    }
}

#[tokio::test]
async fn everything_is_there_after_a_kill_with_and_without_checkpoints() {
    let (engine, store) =
        engine_with(rules(), Options { checkpoint_commits_min: 7, ..Options::default() }).await;
    let mut at = head(&engine, "main").await;
    let mut from = None;
    for round in 1..=40u64 {
        at = load_batch(&engine, "main", at, from, round).await.unwrap();
        from = Some(round);
    }
    // The first engine is abandoned as it stands, as by a kill.
    store.restart();
    let again = open(&store, rules(), Options::default());
    assert_eq!(head(&again, "main").await, at);
    assert_eq!(read(&again, "main").await, both(40));
    let mut log = again.log(at);
    let mut depth = 40;
    while let Some(entry) = log.next().await.unwrap() {
        let by_checkpoint = again.core.indexed(entry.id).await.unwrap().tree.id();
        let by_operations = again.core.replay(entry.id, false).await.unwrap().tree.id();
        assert_eq!(by_checkpoint, by_operations, "at depth {depth}");
        assert_eq!(by_operations, entry.commit.header.root);
        depth -= 1;
    }
    let report = fsck::fsck(store, fsck::Depth::Full, &mut |_, _| {}).await.unwrap();
    assert_eq!(report.findings, []);
    assert_eq!((report.commits, report.roots), (40, 40));
}

#[tokio::test]
async fn a_change_of_the_system_map_alone_is_a_commit_and_merges_as_one() {
    let (engine, _) = engine_with(rules(), Options::default()).await;
    commit(&engine, "main", vec![put("t", table(1))]).await;
    branch(&engine, "dev", "main").await;
    let document = SystemPath::new(["checks", "not-empty"]).unwrap();
    let model = SystemPath::new(["modelstate", "a", "b"]).unwrap();
    let set = |branch: &'static str, path: SystemPath, text: &'static str| {
        let engine = engine.clone();
        async move {
            let on = head(&engine, branch).await;
            let mut request = Request::new(name(branch), on, CommitMeta::default(), Who::default());
            request.system = vec![SystemPut { path, value: Some(Bytes::from_static(text.as_bytes())) }];
            engine.commit(request).await.unwrap();
        }
    };
    set("dev", document.clone(), "{}").await;
    set("dev", model.clone(), "{}").await;
    let outcome = merge(&engine, "dev", "main").await;
    assert!(outcome.applied && outcome.details.is_empty());
    let (_, state) = engine.at_head(&name("main")).await.unwrap();
    assert_eq!(state.system(&document).await.unwrap().as_deref(), Some(&b"{}"[..]));
    assert_eq!(state.system(&model).await.unwrap(), None, "a state that is recomputed does not travel");
    assert_eq!(contents(&engine, "main").await.len(), 1, "nothing of the system map shows among contents");

    set("main", document.clone(), "{\"a\":1}").await;
    set("dev", document.clone(), "{\"a\":2}").await;
    let outcome = merge(&engine, "dev", "main").await;
    assert!(!outcome.successful);
    assert_eq!(outcome.system_conflicts[0].path.as_ref(), Some(&document));
}

#[tokio::test]
async fn records_are_changed_and_required_in_the_batch_of_a_commit() {
    let (engine, store) = engine_with(rules(), Options::default()).await;
    let with = |expected: ExpectedRecord, operation: Operation| {
        let engine = engine.clone();
        async move {
            let on = head(&engine, "main").await;
            let mut request = Request::new(name("main"), on, CommitMeta::default(), Who::default());
            request.operations = vec![operation];
            let key = Bytes::from_static(b"lease");
            request.requires = vec![Requirement::Record(RecordSpace::Lease, key.clone(), expected)];
            let value = Some(Bytes::from_static(b"me"));
            request.records =
                vec![RecordChange { space: RecordSpace::Run, key, expected: ExpectedRecord::Any, value }];
            engine.commit(request).await
        }
    };
    with(ExpectedRecord::Absent, put("a", table(1))).await.unwrap();
    assert!(store.record(RecordSpace::Run, b"lease").await.unwrap().is_some());
    let refused = with(ExpectedRecord::Version(3), put("b", table(1))).await;
    assert!(matches!(refused, Err(Error::RecordChanged)), "{refused:?}");
    assert_eq!(contents(&engine, "main").await.len(), 1);
}

#[tokio::test]
async fn a_candidate_in_an_overlay_is_invisible_below() {
    let (engine, store) = engine_with(rules(), Options::default()).await;
    commit(&engine, "main", vec![put("t", table(1))]).await;
    let base: Arc<dyn Store> = store.clone();
    let overlay: Arc<dyn Store> = Arc::new(Overlay::new(base));
    let candidate = Engine::start(
        overlay,
        Arc::new(lochan_storage_model::ports::SystemClock),
        Arc::new(lochan_storage_model::ports::SystemRng),
        rules(),
        Options::default(),
    )
    .unwrap();
    let made = commit(&candidate, "main", vec![put("u", table(2))]).await.head;
    assert_eq!(contents(&candidate, "main").await.len(), 2);
    assert_eq!(contents(&engine, "main").await.len(), 1);
    assert!(matches!(engine.at(made).await, Err(Error::CommitNotFound(_))));
}

#[tokio::test]
async fn the_history_of_a_key_is_found_above_and_below_checkpoints() {
    let (engine, _) = engine_with(rules(), Options { checkpoint_commits_min: 5, ..Options::default() }).await;
    let id = commit(&engine, "main", vec![put("t", table(0))]).await.added[0].1;
    let mut wanted = vec![head(&engine, "main").await];
    for n in 1..30i64 {
        if n % 3 == 0 {
            wanted.push(commit(&engine, "main", vec![update("t", table(n), id)]).await.head);
        } else {
            commit(&engine, "main", vec![put(&format!("x{n}"), table(n))]).await;
        }
    }
    branch(&engine, "dev", "main").await;
    commit(&engine, "dev", vec![update("t", table(99), id)]).await;
    engine.stop(std::time::Duration::from_secs(10)).await;
    let found = engine.key_history(head(&engine, "main").await, &key("t").index_key(), 100).await.unwrap();
    let found: Vec<CommitId> = found.into_iter().rev().map(|entry| entry.id).collect();
    assert_eq!(found, wanted);
}

#[tokio::test]
async fn ancestors_are_found_at_any_distance() {
    let engine = engine().await;
    let mut chain = vec![CommitId::NO_ANCESTOR];
    let mut times = BTreeMap::new();
    for n in 0..200 {
        let made = commit(&engine, "main", vec![put(&format!("t{n}"), table(n))]).await.head;
        times.insert(made, engine.commits().load(made).await.unwrap().header.time);
        chain.push(made);
    }
    let top = *chain.last().unwrap();
    for (depth, id) in chain.iter().enumerate() {
        assert_eq!(engine.commits().ancestor_at(top, depth as u64).await.unwrap(), *id);
        assert!(engine.commits().is_ancestor(*id, top).await.unwrap());
        if depth > 0 {
            assert_eq!(engine.commits().at_time(top, times[id]).await.unwrap(), *id);
            assert_eq!(engine.commits().at_time(top, times[id] - 1).await.unwrap(), chain[depth - 1]);
            assert!(!engine.commits().is_ancestor(top, *id).await.unwrap() || *id == top);
        }
    }
    branch(&engine, "side", "main").await;
    let side = commit(&engine, "side", vec![put("s", table(1))]).await.head;
    assert!(!engine.commits().is_ancestor(side, top).await.unwrap());
    let distance = engine.distance(side, chain[150]).await.unwrap();
    assert_eq!((distance.ahead, distance.behind, distance.common), (51, 0, chain[150]));
    let tag = engine.create_reference(&name("main"), RefKind::Tag, top, Who::default()).await;
    assert!(matches!(tag, Err(Error::ReferenceExists(_))), "branches and tags share one name space");
}

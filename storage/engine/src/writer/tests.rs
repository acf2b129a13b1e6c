//! The machine, driven step by step.

mod bench;

use std::{sync::Arc, time::Duration};

use lochan_storage_model::{Clock, CommitId, CommitMeta, Micros, ports::SystemRng};
use lochan_storage_odb::{
    Batch, Change, ExpectedReference, RefKind, Store, StoreError,
    memory::{Failure, Memory},
};
use tokio::sync::oneshot;

use self::bench::*;
use super::*;
use crate::{
    commit::{CommitPlan, GivenId, Operation, Request},
    engine::Options,
    merge::{MergePlan, MergeRequest, Rules},
    testing,
};

#[tokio::test]
async fn unrelated_commits_planned_on_one_head_all_land_in_one_batch() {
    let mut bench = Bench::new(&["main"], 128).await;
    let mut waiting = Vec::new();
    for n in 0..64 {
        waiting.push(bench.put("main", &format!("t{n}")).await);
    }
    assert_eq!(bench.step().await, 64);
    let mut last = CommitId::NO_ANCESTOR;
    for verdict in waiting {
        let landed = landed(verdict);
        assert_eq!(landed.on, last, "each commit stands on the one before");
        last = landed.head;
    }
    let reference = bench.store.reference(&name("main")).await.unwrap().unwrap();
    assert_eq!(reference.target, last);
    let commit = bench.core.commits.load(last).await.unwrap();
    assert_eq!(commit.header.depth, 64);
    let log = bench.store.ref_log(&name("main"), None, 100).await.unwrap();
    assert_eq!(log.len(), 65, "one entry a move, and the creation");
}

#[tokio::test]
async fn times_increase_although_the_clock_stands() {
    let mut bench = Bench::new(&["main"], 128).await;
    let (first, second) = (bench.put("main", "a").await, bench.put("main", "b").await);
    bench.step().await;
    let time = async |landed: Landed| bench.core.commits.load(landed.head).await.unwrap().header.time;
    assert_eq!(time(landed(first)).await, 1_000_000);
    assert_eq!(time(landed(second)).await, 1_000_001);
}

#[tokio::test]
async fn the_same_key_planned_twice_on_one_head_is_stale_the_second_time() {
    let mut bench = Bench::new(&["main"], 128).await;
    let (first, second) = (bench.put("main", "t").await, bench.put("main", "t").await);
    bench.step().await;
    landed(first);
    assert_eq!(second.blocking_recv_now().unwrap(), Verdict::Stale);
}

#[tokio::test]
async fn lanes_take_turns() {
    let mut bench = Bench::new(&["busy", "quiet"], 2).await;
    let mut busy = Vec::new();
    for n in 0..6 {
        busy.push(bench.put("busy", &format!("t{n}")).await);
    }
    let mut quiet = bench.put("quiet", "t").await;
    assert_eq!(bench.step().await, 2);
    assert!(
        quiet.try_recv().is_ok(),
        "the quiet branch is in the first batch, whatever waits on the busy one"
    );
    for _ in 0..3 {
        bench.step().await;
    }
    busy.into_iter().for_each(|verdict| drop(landed(verdict)));
}

#[tokio::test]
async fn one_change_more_than_share_a_sync_takes_the_next() {
    let group_max = Options::default().group_max;
    assert_eq!(group_max, 128);
    for more in [0, 1] {
        let mut bench = Bench::new(&["main"], group_max).await;
        let mut waiting = Vec::new();
        for n in 0..group_max + more {
            waiting.push(bench.put("main", &format!("t{n}")).await);
        }
        assert_eq!(bench.step().await, group_max);
        assert_eq!(bench.step().await, more);
        waiting.into_iter().for_each(|verdict| drop(landed(verdict)));
    }
}

#[tokio::test]
async fn a_checkpoint_is_due_with_the_commit_that_comes_to_the_bound() {
    let bound = 5;
    let mut bench =
        Bench::with(&["main"], Options { checkpoint_commits_min: bound, ..Options::default() }).await;
    for n in 1..=bound {
        bench.put("main", &format!("t{n}")).await;
        bench.step().await;
        assert_eq!(bench.machine.due_checkpoints().len(), usize::from(n == bound), "commit {n}");
    }
}

#[tokio::test]
async fn a_reference_change_ends_what_is_planned_on_its_branch_in_the_batch() {
    let mut bench = Bench::new(&["main"], 128).await;
    let first = bench.put("main", "a").await;
    bench.step().await;
    let head = landed(first).head;
    let planned_before = bench.put("main", "b").await;
    let moved = bench.refs(vec![reset(head)]);
    let planned_after = bench.put("main", "c").await;
    bench.step().await;
    // The commit in front moved the head, so the reset's expectation fails; the reset lands nowhere by halves.
    landed(planned_before);
    assert!(matches!(moved.blocking_recv_now(), Err(Error::ReferenceMoved(_))));
    bench.step().await;
    // The lane was opened anew and remembers nothing below its head: planning again is always safe.
    assert_eq!(planned_after.blocking_recv_now().unwrap(), Verdict::Stale);
}

#[tokio::test]
async fn a_commit_planned_before_a_reset_is_stale_after_it() {
    let mut bench = Bench::new(&["main"], 128).await;
    let first = bench.put("main", "a").await;
    bench.step().await;
    let head = landed(first).head;
    let moved = bench.refs(vec![reset(head)]);
    let late = bench.put("main", "b").await;
    bench.step().await;
    moved.blocking_recv_now().unwrap();
    bench.step().await;
    assert_eq!(late.blocking_recv_now().unwrap(), Verdict::Stale);
}

#[tokio::test]
async fn a_failed_write_fails_everyone_in_the_batch_and_leaves_nothing_in_memory() {
    let mut bench = Bench::new(&["main"], 128).await;
    let (first, second) = (bench.put("main", "a").await, bench.put("main", "b").await);
    bench.store.fail_next_commit(Failure::UnknownLost);
    bench.step().await;
    for verdict in [first, second] {
        assert!(verdict.blocking_recv_now().unwrap_err().is_unknown());
    }
    let head = bench.core.head(&name("main")).await.unwrap();
    assert!(head.reference.target.is_no_ancestor(), "readers stay at the last durable head");
}

#[tokio::test]
async fn another_writer_on_the_store_makes_a_proposal_stale_and_loses_nothing() {
    let mut bench = Bench::new(&["main"], 128).await;
    let first = bench.put("main", "a").await;
    bench.step().await;
    let head = landed(first).head;
    let late = bench.put("main", "b").await;
    // Somebody else moves the branch without this machine's knowledge.
    let references = vec![reset(head)];
    bench.store.commit(Batch { changes: vec![Change { references, ..Change::default() }] }).await.unwrap();
    bench.step().await;
    assert_eq!(late.blocking_recv_now().unwrap(), Verdict::Stale);
    let reference = bench.store.reference(&name("main")).await.unwrap().unwrap();
    assert!(reference.target.is_no_ancestor(), "the other's move stands");
}

/// A put of a table that the writer plans itself.
fn hold(bench: &mut Bench, expected: CommitId, table_name: &str) -> Waiting {
    let mut request = Request::new(name("main"), expected, CommitMeta::default(), Who::default());
    let (at, content) = (key(table_name), table(table_name));
    request.operations.push(Operation::Put { key: at, content, id: GivenId::New });
    let (reply, verdict) = oneshot::channel();
    let plan = Arc::new(Mutex::new(CommitPlan::new(request).unwrap()));
    bench.machine.admit(Job::Held { branch: name("main"), plan, reply });
    verdict
}

#[tokio::test]
async fn a_held_plan_is_made_on_what_the_store_holds_whoever_moved_the_branch() {
    let mut bench = Bench::new(&["main"], 128).await;
    let first = bench.put("main", "t").await;
    bench.step().await;
    let head = landed(first).head;
    let references = vec![reset(head)];
    bench.store.commit(Batch { changes: vec![Change { references, ..Change::default() }] }).await.unwrap();
    let held = hold(&mut bench, CommitId::NO_ANCESTOR, "t");
    bench.step().await;
    assert!(landed(held).on.is_no_ancestor(), "the table is not there any more");
}

#[tokio::test]
async fn a_held_plan_waits_for_the_batch_that_moves_its_branch() {
    let mut bench = Bench::new(&["main"], 128).await;
    let first = bench.put("main", "t").await;
    let held = hold(&mut bench, CommitId::NO_ANCESTOR, "t");
    bench.store.fail_next_commit(Failure::Full);
    assert_eq!(bench.step().await, 1);
    assert!(matches!(first.blocking_recv_now(), Err(Error::Store(StoreError::Full(_)))));
    assert_eq!(bench.machine.waiting(), 1, "nothing is refused for a commit that never was");
    bench.step().await;
    landed(held);
}

#[tokio::test]
async fn a_change_that_holds_too_much_fails_alone() {
    let mut bench = Bench::new(&["main"], 128).await;
    let good = bench.put("main", "a").await;
    let mut change =
        ref_change("other", ExpectedReference::Absent, Some((RefKind::Branch, CommitId::NO_ANCESTOR)));
    change.log.principal = "p".repeat(lochan_storage_odb::stage::LOG_TEXT_BYTES_MAX + 1);
    let refused = bench.refs(vec![change]);
    assert_eq!(bench.step().await, 1);
    landed(good);
    let refused = refused.blocking_recv_now();
    assert!(matches!(refused, Err(Error::Store(StoreError::TooLarge { .. }))), "{refused:?}");
}

#[tokio::test]
async fn a_condition_on_a_reference_that_fails_is_answered_not_tried_for_ever() {
    let (engine, _) = testing::engine_with(Rules::default(), Options::default()).await;
    testing::branch(&engine, "dev", "main").await;
    for required in ["dev", "main"] {
        let on = testing::head(&engine, "main").await;
        let mut request = Request::new(name("main"), on, CommitMeta::default(), Who::default());
        request.operations = vec![testing::put("t", table("t"))];
        request.requires = vec![Requirement::Reference(name(required), ExpectedReference::Absent)];
        let answer = tokio::time::timeout(Duration::from_secs(10), engine.commit(request)).await;
        let answer = answer.expect("an answer comes at once");
        assert!(matches!(answer, Err(Error::ReferenceMoved(_))), "{answer:?}");
    }
}

/// The merge base moves with every merge, also where none of the keys relied on does.
#[tokio::test]
async fn a_merge_planned_before_another_merge_landed_is_stale() {
    let (engine, store) = testing::engine_with(Rules::default(), Options::default()).await;
    let id = testing::commit(&engine, "main", vec![testing::put("k", testing::table(0))]).await.added[0].1;
    testing::branch(&engine, "dev", "main").await;
    let update = |n| vec![testing::update("k", testing::table(n), id)];
    let earlier = testing::commit(&engine, "dev", update(1)).await.head;
    testing::commit(&engine, "dev", update(0)).await;
    let later = testing::commit(&engine, "dev", vec![testing::put("p", testing::table(0))]).await.head;
    let core = engine.core.clone();
    let on = core.head(&name("main")).await.unwrap();
    let mut machine = Machine::new(core.clone());
    let mut waiting = Vec::new();
    for from in [later, earlier] {
        let request = MergeRequest {
            branch: name("main"),
            expected: on.reference.target,
            from,
            source: None,
            unrelated: true,
            options: testing::merge_options(),
            meta: CommitMeta::default(),
            who: Who::default(),
        };
        let proposal = MergePlan::new(request).plan(&core, &on).await.unwrap().unwrap();
        let (reply, verdict) = oneshot::channel();
        machine.admit(Job::Propose { branch: name("main"), proposal: Box::new(proposal), reply });
        waiting.push(verdict);
    }
    let mut prepared = machine.prepare().await;
    let outcome = store.commit(std::mem::take(&mut prepared.batch)).await;
    machine.settle(prepared, outcome).await;
    let second = waiting.pop().unwrap().blocking_recv_now().unwrap();
    landed(waiting.pop().unwrap());
    assert_eq!(
        second,
        Verdict::Stale,
        "planned again it has nothing to bring; published it would undo the later source"
    );
}

#[tokio::test]
async fn a_branch_set_elsewhere_during_a_checkpoint_keeps_its_own_count() {
    let mut bench = Bench::with(&["main"], Options { checkpoint_commits_min: 5, ..Options::default() }).await;
    for n in 0..10 {
        bench.put("main", &format!("t{n}")).await;
        bench.step().await;
    }
    let (_, saving) = bench.machine.due_checkpoints().pop().unwrap();
    drop(bench.refs(vec![reset(saving.reference.target)]));
    bench.step().await;
    for n in 0..3 {
        bench.put("main", &format!("u{n}")).await;
        bench.step().await;
    }
    bench.machine.checkpointed(&name("main"), saving.reference.target, Some(Default::default()));
    let head = bench.core.head(&name("main")).await.unwrap();
    let pending = bench.core.indexed(head.reference.target).await.unwrap().pending;
    assert_eq!((pending.commits, pending.operations), (3, 3));
}

#[tokio::test]
async fn a_checkpoint_takes_off_what_was_pending_when_it_began() {
    let mut bench = Bench::with(&["main"], Options { checkpoint_commits_min: 5, ..Options::default() }).await;
    for n in 0..7 {
        bench.put("main", &format!("t{n}")).await;
        bench.step().await;
    }
    let (_, saving) = bench.machine.due_checkpoints().pop().unwrap();
    bench.put("main", "later").await;
    bench.step().await;
    assert!(bench.machine.due_checkpoints().is_empty(), "one at a time");
    bench.machine.checkpointed(&name("main"), saving.reference.target, Some(Default::default()));
    let head = bench.core.head(&name("main")).await.unwrap();
    let pending = bench.core.indexed(head.reference.target).await.unwrap().pending;
    assert_eq!((pending.commits, pending.operations), (1, 1));
}

/// A clock at which the writer waits for a permit.
#[derive(Default)]
struct Gate {
    state: std::sync::Mutex<(u64, u64)>,
    changed: std::sync::Condvar,
}

impl Gate {
    fn let_through(&self, permits: u64) {
        self.state.lock().unwrap().0 += permits;
        self.changed.notify_all();
    }

    /// Waits until the writer has come here for the time `arrivals`.
    fn wait_for(&self, arrivals: u64) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |(_, arrived)| *arrived < arrivals).unwrap());
    }
}

impl Clock for Gate {
    fn now(&self) -> Micros {
        if std::thread::current().name() == Some("lochan-writer") {
            let mut state = self.state.lock().unwrap();
            state.1 += 1;
            self.changed.notify_all();
            state = self.changed.wait_while(state, |(permits, _)| *permits == 0).unwrap();
            state.0 -= 1;
        }
        0
    }
}

#[tokio::test]
async fn no_more_writes_wait_than_the_queue_holds() {
    let queue_max = 8;
    let store = Arc::new(Memory::new());
    let new = Some((RefKind::Branch, CommitId::NO_ANCESTOR));
    let references = vec![ref_change("main", ExpectedReference::Absent, new)];
    store.commit(Batch { changes: vec![Change { references, ..Change::default() }] }).await.unwrap();
    let gate = Arc::new(Gate::default());
    let options = Options { queue_max, group_max: 1, ..Options::default() };
    let engine =
        crate::Engine::start(store, gate.clone(), Arc::new(SystemRng), Rules::default(), options).unwrap();
    let mut admitted = Vec::new();
    for round in 0..10 {
        loop {
            let engine = engine.clone();
            let table_name = format!("t{}", admitted.len());
            let mut asked = Box::pin(async move {
                let on = testing::head(&engine, "main").await;
                let mut request = Request::new(name("main"), on, CommitMeta::default(), Who::default());
                request.operations = vec![testing::put(&table_name, table(&table_name))];
                engine.commit(request).await
            });
            match futures::poll!(&mut asked) {
                std::task::Poll::Pending => admitted.push(asked),
                std::task::Poll::Ready(answer) => {
                    assert!(matches!(answer, Err(Error::Busy { .. })), "{answer:?}");
                    break;
                }
            }
        }
        // The writer works on one, and `round` are done.
        gate.wait_for(round + 1);
        assert!(admitted.len() <= queue_max + 1 + round as usize, "{} after {round}", admitted.len());
        gate.let_through(1);
        gate.wait_for(round + 2);
    }
    gate.let_through(1_000_000);
    for answer in futures::future::join_all(admitted).await {
        answer.unwrap();
    }
}

#[tokio::test]
async fn after_another_writer_a_proposal_is_stale_only_once() {
    let mut bench = Bench::new(&["main"], 128).await;
    let first = bench.put("main", "a").await;
    bench.step().await;
    landed(first);
    let mut other = Bench::on(bench.store.clone(), Options::default());
    let theirs = other.put("main", "b").await;
    other.step().await;
    landed(theirs);
    // This machine still believes in the head that it has made itself.
    let round = bench.put("main", "c").await;
    bench.step().await;
    assert_eq!(round.blocking_recv_now().unwrap(), Verdict::Stale);
    let round = bench.put("main", "c").await;
    bench.step().await;
    assert_eq!(bench.core.commits.load(landed(round).head).await.unwrap().header.depth, 3);
}

#[tokio::test]
async fn a_batch_of_unknown_outcome_that_was_applied_is_built_upon() {
    let mut bench = Bench::new(&["main"], 128).await;
    let lost = bench.put("main", "a").await;
    bench.store.fail_next_commit(Failure::UnknownApplied);
    bench.step().await;
    assert!(lost.blocking_recv_now().unwrap_err().is_unknown());
    bench.store.restart();
    let next = bench.put("main", "b").await;
    bench.step().await;
    assert_eq!(bench.core.commits.load(landed(next).head).await.unwrap().header.depth, 2);
}

#[tokio::test]
async fn records_without_a_reference_are_refused_not_dropped_in_silence() {
    let mut bench = Bench::new(&["main"], 128).await;
    let (reply, refused) = oneshot::channel();
    let record = RecordChange {
        space: lochan_storage_odb::RecordSpace::Setting,
        key: "a".into(),
        expected: lochan_storage_odb::ExpectedRecord::Any,
        value: Some("1".into()),
    };
    let (references, requires, records) = (Vec::new(), Vec::new(), vec![record]);
    bench.machine.admit(Job::Refs { references, requires, objects: Vec::new(), records, reply });
    assert!(matches!(refused.blocking_recv_now(), Err(Error::BadRequest(_))));
}

#[tokio::test]
async fn a_batch_stands_on_its_own_commits_whatever_the_cache_keeps() {
    let mut bench = Bench::with(&["main"], Options { commit_cache_bytes: 1, ..Options::default() }).await;
    for round in 0..3 {
        let mut waiting = Vec::new();
        for n in 0..20 {
            waiting.push(bench.put("main", &format!("t{round}-{n}")).await);
        }
        bench.step().await;
        let verdicts = waiting.into_iter().map(Now::blocking_recv_now).collect::<Result<Vec<_>, _>>();
        assert!(verdicts.is_ok(), "{verdicts:?}");
    }
}

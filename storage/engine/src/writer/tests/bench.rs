//! A machine that a test drives step by step, with what it is fed.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use lochan_storage_model::{
    Clock, CommitId, CommitMeta, Content, ContentKey, Micros, RefName, ports::SystemRng,
};
use lochan_storage_odb::{
    Batch, Change, ExpectedReference, LogMeta, RefKind, RefOperation, ReferenceChange, Store, memory::Memory,
};
use tokio::sync::oneshot;

use crate::{
    commit::{CommitPlan, GivenId, Operation, Request},
    engine::Options,
    error::Error,
    merge::Rules,
    state::Core,
    writer::{Job, Landed, Machine, Plan, Verdict, Who},
};

pub(super) struct Stopped(AtomicI64);

impl Clock for Stopped {
    fn now(&self) -> Micros {
        self.0.load(Ordering::Relaxed)
    }
}

pub(super) fn name(text: &str) -> RefName {
    RefName::new(text).unwrap()
}

pub(super) fn key(text: &str) -> ContentKey {
    ContentKey::new([text]).unwrap()
}

pub(super) fn table(location: &str) -> Content {
    Content::IcebergTable {
        metadata_location: location.to_owned(),
        snapshot_id: 1,
        schema_id: 0,
        spec_id: 0,
        sort_order_id: 0,
    }
}

pub(super) fn ref_change(
    branch: &str,
    expected: ExpectedReference,
    new: Option<(RefKind, CommitId)>,
) -> ReferenceChange {
    let log = LogMeta {
        operation: RefOperation::Assign,
        principal: String::new(),
        request: None,
        run: None,
        time: 0,
    };
    ReferenceChange { name: name(branch), expected, new, log }
}

/// `main` goes back from `head` to the empty state.
pub(super) fn reset(head: CommitId) -> ReferenceChange {
    let at = ExpectedReference::At(RefKind::Branch, head);
    ref_change("main", at, Some((RefKind::Branch, CommitId::NO_ANCESTOR)))
}

pub(super) struct Bench {
    pub(super) store: Arc<Memory>,
    pub(super) core: Arc<Core>,
    pub(super) machine: Machine,
}

pub(super) type Waiting = oneshot::Receiver<Result<Verdict, Error>>;

impl Bench {
    pub(super) async fn new(branches: &[&str], group_max: usize) -> Self {
        Self::with(branches, Options { group_max, ..Options::default() }).await
    }

    pub(super) async fn with(branches: &[&str], options: Options) -> Self {
        let store = Arc::new(Memory::new());
        for branch in branches {
            let new = Some((RefKind::Branch, CommitId::NO_ANCESTOR));
            let references = vec![ref_change(branch, ExpectedReference::Absent, new)];
            store.commit(Batch { changes: vec![Change { references, ..Change::default() }] }).await.unwrap();
        }
        Self::on(store, options)
    }

    /// A machine on a store that others may write to.
    pub(super) fn on(store: Arc<Memory>, options: Options) -> Self {
        let core = Arc::new(Core::new(
            store.clone(),
            Arc::new(Stopped(AtomicI64::new(1_000_000))),
            Arc::new(SystemRng),
            Rules::default(),
            options,
        ));
        Self { store, machine: Machine::new(core.clone()), core }
    }

    /// Plans a put of a new table on the branch's present head and queues it.
    pub(super) async fn put(&mut self, branch: &str, table_name: &str) -> Waiting {
        let head = self.core.head(&name(branch)).await.unwrap();
        let mut request =
            Request::new(name(branch), head.reference.target, CommitMeta::default(), Who::default());
        request.operations.push(Operation::Put {
            key: key(table_name),
            content: table(table_name),
            id: GivenId::New,
        });
        let mut plan = CommitPlan::new(request).unwrap();
        let proposal = Box::new(plan.plan(&self.core, &head).await.unwrap().unwrap());
        let (reply, verdict) = oneshot::channel();
        self.machine.admit(Job::Propose { branch: name(branch), proposal, reply });
        verdict
    }

    /// Queues a change of references alone.
    pub(super) fn refs(&mut self, references: Vec<ReferenceChange>) -> Waiting {
        let (reply, verdict) = oneshot::channel();
        let (requires, objects, records) = (Vec::new(), Vec::new(), Vec::new());
        self.machine.admit(Job::Refs { references, requires, objects, records, reply });
        verdict
    }

    pub(super) async fn step(&mut self) -> usize {
        let mut prepared = self.machine.prepare().await;
        let changes = prepared.batch.changes.len();
        let outcome = self.store.commit(std::mem::take(&mut prepared.batch)).await;
        self.machine.settle(prepared, outcome).await;
        changes
    }
}

pub(super) fn landed(verdict: Waiting) -> Landed {
    match verdict.blocking_recv_now() {
        Ok(Verdict::Landed(landed)) => landed,
        other => panic!("{other:?}"),
    }
}

pub(super) trait Now {
    fn blocking_recv_now(self) -> Result<Verdict, Error>;
}

impl Now for Waiting {
    /// The verdict, which must be there already.
    fn blocking_recv_now(mut self) -> Result<Verdict, Error> {
        self.try_recv().expect("the verdict is there")
    }
}

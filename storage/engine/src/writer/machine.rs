//! The writer as a state machine: jobs come in, a batch is prepared, the store's answer settles it. A test drives it step
//! by step; the task merely loops.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use lochan_storage_model::{CommitId, Micros, RefName};
use lochan_storage_odb::{
    Batch, Change, ExpectedReference, FailedPrecondition, LogMeta, Outcome, RefKind, Reference,
    ReferenceChange, StoreError, stage::check_bounds,
};

use super::{
    Draft, Job, Landed, Plan, Proposal, Reply, Verdict, checkpoint,
    lane::{Lane, LaneHead},
    make::make,
};
use crate::{
    error::Error,
    graph::Step,
    index::forget_saved,
    state::{Core, Head, Indexed, Saved},
};

/// Lanes kept although nothing waits in them.
const IDLE_LANES_MAX: usize = 256;

/// Lanes, and the turn between them.
pub struct Machine {
    core: Arc<Core>,
    /// In the order of their names: what is done for all of them is done in an order that can be replayed.
    lanes: BTreeMap<RefName, Lane>,
    /// Lanes with jobs, the next one first.
    turn: VecDeque<RefName>,
    waiting: usize,
    /// No log entry gets an earlier time, whatever the clock says.
    floor: Micros,
}

/// A batch on its way to the store, and who waits for it.
pub struct Prepared {
    /// What the store shall do.
    pub batch: Batch,
    pending: Vec<Pending>,
}

struct Pending {
    name: RefName,
    landed: Landed,
    plan: Option<Arc<tokio::sync::Mutex<dyn Plan>>>,
    /// Whether the store's refusal means "plan again" rather than an answer.
    rebases: bool,
    reply: Reply,
}

impl Prepared {
    /// Whether there is nothing to write.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    fn moves(&self, name: &RefName) -> bool {
        self.pending.iter().any(|pending| pending.name == *name)
    }
}

enum Built {
    Change(Box<Change>, Landed),
    /// To be planned again. `behind`: on a head that this lane has never been at, so that the lane may be the old one.
    Stale {
        behind: bool,
    },
}

impl Machine {
    /// A machine without jobs.
    #[must_use]
    pub fn new(core: Arc<Core>) -> Self {
        Self { core, lanes: BTreeMap::new(), turn: VecDeque::new(), waiting: 0, floor: Micros::MIN }
    }

    /// Number of jobs that wait.
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// The time of the next change: that of the clock, but never before an earlier change.
    fn stamp(&mut self) -> Micros {
        self.floor = self.floor.max(self.core.clock.now());
        self.floor
    }

    /// A moment between two batches: every change so far has a time at or before it, every later one a time after it.
    pub(super) fn cut(&mut self) -> Micros {
        let cut = self.stamp();
        self.floor = cut.saturating_add(1);
        cut
    }

    /// Takes a job in, behind those of the same reference.
    pub fn admit(&mut self, job: Job) {
        let name = match &job {
            Job::Propose { branch, .. } | Job::Held { branch, .. } => branch.clone(),
            Job::Refs { references, .. } => match references.first() {
                Some(change) => change.name.clone(),
                None => {
                    let Job::Refs { reply, .. } = job else { return };
                    let none = "a change of references names none".to_owned();
                    let _ = reply.send(Err(Error::BadRequest(none)));
                    return;
                }
            },
        };
        let lane = self.lanes.entry(name.clone()).or_default();
        if lane.jobs.is_empty() {
            self.turn.push_back(name);
        }
        lane.jobs.push_back(job);
        self.waiting += 1;
    }

    /// Forms the next batch: one job of each waiting lane in turn, until nothing waits or the batch is full. Jobs that
    /// fail or are stale are answered at once.
    pub async fn prepare(&mut self) -> Prepared {
        let mut prepared = Prepared { batch: Batch::default(), pending: Vec::new() };
        while prepared.pending.len() < self.core.options.group_max {
            let Some(name) = self.turn.pop_front() else { break };
            let Some(lane) = self.lanes.get_mut(&name) else { continue };
            // A plan made here may be answered at once, so it is made on a durable head: in the next batch, where this one
            // moves the branch. Settling puts the lane back in turn.
            if matches!(lane.jobs.front(), Some(Job::Held { .. })) && prepared.moves(&name) {
                continue;
            }
            let Some(job) = lane.jobs.pop_front() else { continue };
            self.waiting -= 1;
            if !lane.jobs.is_empty() {
                self.turn.push_back(name.clone());
            }
            self.take(name, job, &mut prepared).await;
        }
        prepared
    }

    async fn take(&mut self, name: RefName, job: Job, prepared: &mut Prepared) {
        let (built, plan, rebases, reply) = match job {
            Job::Propose { proposal, reply, .. } => (self.build(&name, *proposal).await, None, true, reply),
            Job::Held { plan, reply, .. } => match self.plan_held(&name, &plan).await {
                Ok(Some(proposal)) => (self.build(&name, proposal).await, Some(plan), true, reply),
                Ok(None) => {
                    drop(plan);
                    let none = CommitId::NO_ANCESTOR;
                    let nothing = Landed { on: none, commits: Vec::new(), head: none };
                    let _ = reply.send(Ok(Verdict::Landed(nothing)));
                    return;
                }
                Err(error) => {
                    drop(plan);
                    let _ = reply.send(Err(error));
                    return;
                }
            },
            Job::Refs { mut references, requires, objects, records, reply } => {
                let time = self.stamp();
                for change in &mut references {
                    change.log.time = time;
                    // Its head is what this batch makes of it; the store checks the expectation in order.
                    if let Some(lane) = self.lanes.get_mut(&change.name) {
                        lane.head = None;
                    }
                }
                let head = references
                    .first()
                    .and_then(|change| change.new)
                    .map_or(CommitId::NO_ANCESTOR, |(_, target)| target);
                let landed = Landed { on: head, commits: Vec::new(), head };
                let change = Change { requires, objects, references, records, ..Change::default() };
                (Ok(Built::Change(Box::new(change), landed)), None, false, reply)
            }
        };
        match built {
            Ok(Built::Change(change, landed)) => {
                // A reference change ends what may be planned on this lane within the batch.
                if !rebases {
                    self.turn.retain(|waiting| *waiting != name);
                }
                // The store refuses a batch whole for what one change holds too much of.
                if let Err(error) = check_bounds(&change) {
                    self.take_turn(&name);
                    self.forget(&name, &landed);
                    drop(plan);
                    let _ = reply.send(Err(Error::Store(error)));
                    return;
                }
                prepared.batch.changes.push(*change);
                prepared.pending.push(Pending { name, landed, plan, rebases, reply });
            }
            Ok(Built::Stale { behind }) => {
                // Somebody else writes to the store too. What this batch has made of the lane stays as it is.
                if behind
                    && !prepared.moves(&name)
                    && let Some(lane) = self.lanes.get_mut(&name)
                {
                    lane.head = None;
                }
                drop(plan);
                let _ = reply.send(Ok(Verdict::Stale));
            }
            Err(error) => {
                drop(plan);
                let _ = reply.send(Err(error));
            }
        }
    }

    /// The lane's head, taken out of the lane; read from the store when the lane does not know it.
    async fn head(&mut self, name: &RefName) -> Result<LaneHead, Error> {
        if let Some(head) = self.lanes.get_mut(name).and_then(|lane| lane.head.take()) {
            return Ok(head);
        }
        let reference = self.core.reference(name).await?;
        let found = self.core.indexed(reference.target).await?;
        Ok(LaneHead::new(reference, found.tree, found.pending))
    }

    async fn plan_held(
        &mut self,
        name: &RefName,
        plan: &Arc<tokio::sync::Mutex<dyn Plan>>,
    ) -> Result<Option<Proposal>, Error> {
        let mut head = self.head(name).await?;
        // Another writer may have moved the branch meanwhile, and who asks must not be refused for what was before.
        let stored = self.core.reference(name).await?;
        if (stored.kind, stored.target) != (head.reference.kind, head.reference.target) {
            let found = self.core.indexed(stored.target).await?;
            head = LaneHead::new(stored, found.tree, found.pending);
        }
        let on = Head { reference: head.reference.clone(), tree: head.tree.clone() };
        if let Some(lane) = self.lanes.get_mut(name) {
            lane.head = Some(head);
        }
        plan.lock().await.plan(&self.core, &on).await
    }

    /// Checks a proposal against the lane's head and makes its commits.
    async fn build(&mut self, name: &RefName, proposal: Proposal) -> Result<Built, Error> {
        // The head is taken out of the lane and put back only when all went well.
        let mut head = self.head(name).await?;
        if head.reference.kind != RefKind::Branch {
            return Err(Error::NotABranch(name.clone()));
        }
        if !self.still_good(&head, &proposal).await? {
            let behind = !head.grew_from(proposal.planned_on)
                && !self.core.commits.is_ancestor(proposal.planned_on, head.reference.target).await?;
            if let Some(lane) = self.lanes.get_mut(name) {
                lane.head = Some(head);
            }
            return Ok(Built::Stale { behind });
        }
        let on = head.reference.target;
        let time = self.stamp();
        let mut change =
            Change { requires: proposal.requires, records: proposal.records, ..Change::default() };
        let mut commits = Vec::with_capacity(proposal.drafts.len());
        for draft in proposal.drafts {
            match self.make_commit(&mut head, draft, time, &mut change).await {
                Ok(id) => commits.push(id),
                Err(error) => {
                    commits.iter().for_each(|id| self.core.commits.forget(*id));
                    return Err(error);
                }
            }
        }
        let now = head.reference.target;
        change.references.push(ReferenceChange {
            name: name.clone(),
            expected: ExpectedReference::At(RefKind::Branch, on),
            new: Some((RefKind::Branch, now)),
            log: LogMeta {
                operation: proposal.operation,
                principal: proposal.who.principal,
                request: proposal.who.request,
                run: proposal.who.run,
                time,
            },
        });
        if let Some(lane) = self.lanes.get_mut(name) {
            lane.head = Some(head);
        }
        Ok(Built::Change(Box::new(change), Landed { on, commits, head: now }))
    }

    async fn still_good(&self, head: &LaneHead, proposal: &Proposal) -> Result<bool, Error> {
        if head.reference.target == proposal.planned_on {
            return Ok(true);
        }
        if proposal.exact || !head.grew_from(proposal.planned_on) {
            return Ok(false);
        }
        // A merge that has landed since may have moved the merge base.
        let is_merge = proposal.drafts.iter().any(|draft| !draft.merge_parents.is_empty());
        if is_merge && head.since(proposal.planned_on).any(|commit| commit.header.parents.len() > 1) {
            return Ok(false);
        }
        for (key, entry) in &proposal.relied {
            if head.tree.get(&self.core.nodes, key).await? != *entry {
                return Ok(false);
            }
        }
        let touched = |prefix: &[u8]| {
            head.since(proposal.planned_on).any(|commit| {
                let from = commit.operations.partition_point(|op| op.key().as_bytes() < prefix);
                commit.operations.get(from).is_some_and(|op| op.key().as_bytes().starts_with(prefix))
            })
        };
        Ok(!proposal.relied_prefixes.iter().any(|prefix| touched(prefix)))
    }

    async fn make_commit(
        &self,
        head: &mut LaneHead,
        draft: Draft,
        now: Micros,
        change: &mut Change,
    ) -> Result<CommitId, Error> {
        let first = match head.tip() {
            Some(commit) => Step::of(&commit.header),
            None => self.core.commits.step(head.reference.target).await?,
        };
        let made = make(&self.core, (head.reference.target, first), &head.tree, draft, now).await?;
        change.objects.extend(made.objects);
        change.derived.extend(made.derived);
        head.advance(made.id, made.commit, made.tree);
        self.core.trees.insert(made.id, Indexed { tree: head.tree.clone(), pending: head.pending });
        Ok(made.id)
    }

    /// Hands the store's answer to everyone who waits for the batch.
    pub async fn settle(&mut self, prepared: Prepared, outcome: Result<Outcome, StoreError>) {
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                for pending in prepared.pending {
                    self.take_turn(&pending.name);
                    self.forget(&pending.name, &pending.landed);
                    drop(pending.plan);
                    let _ = pending.reply.send(Err(Error::Store(error.clone())));
                }
                return;
            }
        };
        let mut refused = outcome.refused.into_iter().peekable();
        for (at, pending) in prepared.pending.into_iter().enumerate() {
            self.take_turn(&pending.name);
            let Some(refusal) = refused.next_if(|refusal| refusal.change == at) else {
                if let Some(plan) = &pending.plan {
                    plan.lock().await.landed(&pending.landed);
                }
                pending.landed.commits.iter().for_each(|id| self.core.commits.synced(*id));
                // The plan must be free before its owner wakes up.
                drop(pending.plan);
                let _ = pending.reply.send(Ok(Verdict::Landed(pending.landed)));
                continue;
            };
            self.forget(&pending.name, &pending.landed);
            let Pending { name, landed, plan, rebases, reply } = pending;
            let moved = has_moved(&refusal.cause, &name, landed.on);
            match plan {
                // Another process holds the branch too; nobody but the writer can plan this one again.
                Some(plan) if moved => self.admit(Job::Held { branch: name, plan, reply }),
                plan => {
                    // The plan must be free before its owner wakes up.
                    drop(plan);
                    let stale = rebases && moved;
                    let _ = reply.send(if stale {
                        Ok(Verdict::Stale)
                    } else {
                        Err(refused_error(refusal.cause))
                    });
                }
            }
        }
        self.drop_idle_lanes();
    }

    /// Puts a lane with jobs back in turn, after a reference change had taken it out.
    fn take_turn(&mut self, name: &RefName) {
        let waits = self.lanes.get(name).is_some_and(|lane| !lane.jobs.is_empty());
        if waits && !self.turn.contains(name) {
            self.turn.push_back(name.clone());
        }
    }

    /// Forgets what a change that did not land has left in memory.
    fn forget(&mut self, name: &RefName, landed: &Landed) {
        if let Some(lane) = self.lanes.get_mut(name) {
            lane.head = None;
        }
        for id in &landed.commits {
            self.core.commits.forget(*id);
            self.core.trees.remove(id);
        }
    }

    fn drop_idle_lanes(&mut self) {
        let mut excess = self.lanes.len().saturating_sub(IDLE_LANES_MAX);
        if excess == 0 {
            return;
        }
        self.lanes.retain(|_, lane| {
            let keep = excess == 0 || !lane.jobs.is_empty() || lane.checkpointing;
            excess -= usize::from(!keep);
            keep
        });
    }

    /// The branches whose index shall be stored now: name, commit, index. Each is reported back by
    /// [`Machine::checkpointed`].
    pub(super) fn due_checkpoints(&mut self) -> Vec<(RefName, Head)> {
        let mut found = Vec::new();
        for (name, lane) in &mut self.lanes {
            let Some(head) = lane.head.as_mut().filter(|_| !lane.checkpointing) else { continue };
            if checkpoint::due(&self.core, &head.tree, head.pending) {
                head.saving = Some((head.reference.target, head.pending));
                lane.checkpointing = true;
                found.push((
                    name.clone(),
                    Head { reference: head.reference.clone(), tree: head.tree.clone() },
                ));
            }
        }
        found
    }

    /// All branches with something to store, for an orderly stop.
    pub(super) fn all_unsaved(&self) -> Vec<Head> {
        let heads = self.lanes.values().filter_map(|lane| lane.head.as_ref());
        heads
            .filter(|head| head.pending.commits > 0)
            .map(|head| Head { reference: head.reference.clone(), tree: head.tree.clone() })
            .collect()
    }

    /// Whether some branch may not grow further before its checkpoint is stored.
    pub(super) fn must_wait(&self) -> bool {
        self.lanes.values().any(|lane| {
            lane.checkpointing
                && lane
                    .head
                    .as_ref()
                    .is_some_and(|head| checkpoint::overdue(&self.core, &head.tree, head.pending))
        })
    }

    /// Told that the index of `commit` is stored, or that storing it failed.
    pub(super) fn checkpointed(&mut self, name: &RefName, commit: CommitId, saved: Option<Saved>) {
        let Some(lane) = self.lanes.get_mut(name) else { return };
        lane.checkpointing = false;
        let (Some(head), Some(saved)) = (lane.head.as_mut(), saved) else { return };
        head.tree = forget_saved(&head.tree, &saved);
        // Where the branch was set elsewhere meanwhile, its own count goes on.
        if let Some((_, stored)) = head.saving.take_if(|(saving, _)| *saving == commit) {
            head.pending.commits = head.pending.commits.saturating_sub(stored.commits);
            head.pending.operations = head.pending.operations.saturating_sub(stored.operations);
        }
        // Indexes of older commits would hold the stored nodes in memory. Heads are in use; they are all durable here.
        self.core.forget_indexes();
        for head in self.lanes.values().filter_map(|lane| lane.head.as_ref()) {
            let found = Indexed { tree: head.tree.clone(), pending: head.pending };
            self.core.trees.insert(head.reference.target, found);
        }
    }
}

/// Whether a change was refused because its branch is not at `on` any more, rather than for a condition of the caller.
fn has_moved(cause: &FailedPrecondition, branch: &RefName, on: CommitId) -> bool {
    let FailedPrecondition::Reference { name, found } = cause else { return false };
    let is_there = |found: &Reference| found.kind == RefKind::Branch && found.target == on;
    name == branch && !found.as_ref().is_some_and(is_there)
}

fn refused_error(cause: FailedPrecondition) -> Error {
    match cause {
        FailedPrecondition::Reference { name, found } => match found {
            None => Error::ReferenceNotFound(name.to_string()),
            Some(found) => Error::ReferenceMoved(found),
        },
        FailedPrecondition::Record { .. } => Error::RecordChanged,
    }
}

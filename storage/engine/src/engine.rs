//! The engine: what everything above talks to.

use std::{sync::Arc, time::Duration};

use lochan_storage_model::{Clock, CommitId, Content, Entry, Micros, RefName, Rng};
use lochan_storage_odb::{Store, StoreError, Writes};

use crate::{
    commit::{self, CommitPlan, Committed},
    error::Error,
    graph::Commits,
    index::Nodes,
    merge::{self, MergePlan, Rules, TransplantPlan},
    state::{Core, Head, State},
    writer::{Admission, Job, Plan, Spawn, Verdict, Writer},
};

/// Rounds of planning outside the writer before the writer plans itself.
const ROUNDS_OUTSIDE: usize = 3;

/// Bounds of the engine.
#[derive(Debug, Clone)]
pub struct Options {
    /// Index nodes kept in memory, in bytes.
    pub node_cache_bytes: u64,
    /// Commits kept in memory, in bytes.
    pub commit_cache_bytes: u64,
    /// Indexes of recent commits kept at hand.
    pub trees_kept: usize,
    /// Writes that may wait; beyond, callers are told to come back.
    pub queue_max: usize,
    /// Changes written with one sync.
    pub group_max: usize,
    /// Fewest commits between two checkpoints of a branch; grows with the size of the index.
    pub checkpoint_commits_min: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            node_cache_bytes: 96 << 20,
            commit_cache_bytes: 32 << 20,
            trees_kept: 512,
            queue_max: 4_096,
            group_max: 128,
            checkpoint_commits_min: 1_000,
        }
    }
}

/// Version control over one store. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    pub(crate) core: Arc<Core>,
    pub(crate) writer: Writer,
}

impl Engine {
    /// Starts the engine and its writer on `store`. Must be called within a tokio runtime.
    pub fn start(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        rng: Arc<dyn Rng>,
        rules: Rules,
        options: Options,
    ) -> Result<Self, Error> {
        let core = Arc::new(Core::new(store, clock, rng, rules, options));
        let writer = Writer::start(core.clone())?;
        Ok(Self { core, writer })
    }

    /// Starts the engine with its writer and checkpoints as tasks of `spawn`, for tests that decide the order of all
    /// that happens. [`Engine::stop`] needs a tokio runtime; without one, dropping every clone of the engine stops it.
    pub fn start_on(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        rng: Arc<dyn Rng>,
        rules: Rules,
        options: Options,
        spawn: Arc<dyn Spawn>,
    ) -> Self {
        let core = Arc::new(Core::new(store, clock, rng, rules, options));
        let writer = Writer::start_on(core.clone(), spawn);
        Self { core, writer }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.core.store
    }

    /// Whether the store takes writes: [`StoreError::Full`] or [`StoreError::WritesRefused`] if not. Asked before a write
    /// costs anything, such as a file in a warehouse; the store decides again when it comes.
    pub fn check_writes(&self) -> Result<(), Error> {
        match self.core.store.writes() {
            Writes::Allowed => Ok(()),
            Writes::Refused(cause) => Err(StoreError::WritesRefused(cause).into()),
            Writes::Full(cause) => Err(StoreError::Full(cause).into()),
        }
    }

    /// The commit graph.
    #[must_use]
    pub fn commits(&self) -> &Commits {
        &self.core.commits
    }

    /// The index nodes.
    #[must_use]
    pub fn nodes(&self) -> &Nodes {
        &self.core.nodes
    }

    /// Now, by the engine's clock.
    #[must_use]
    pub fn now(&self) -> Micros {
        self.core.clock.now()
    }

    /// The source of chance.
    #[must_use]
    pub fn rng(&self) -> &Arc<dyn Rng> {
        &self.core.rng
    }

    /// The state at a commit. Fails with [`Error::CommitNotFound`].
    pub async fn at(&self, commit: CommitId) -> Result<State, Error> {
        let tree = self.core.tree(commit).await?;
        Ok(State::new(self.core.clone(), commit, tree))
    }

    /// The state at the head of a reference, with the reference it was read from.
    pub async fn at_head(&self, name: &RefName) -> Result<(lochan_storage_odb::Reference, State), Error> {
        let Head { reference, tree } = self.core.head(name).await?;
        let state = State::new(self.core.clone(), reference.target, tree);
        Ok((reference, state))
    }

    /// The content of an entry, wherever the entry was read.
    pub async fn content_of(&self, entry: &Entry) -> Result<Content, Error> {
        self.core.content(entry).await
    }

    /// Makes a commit. See [`commit::Request`].
    pub async fn commit(&self, request: commit::Request) -> Result<Committed, Error> {
        let (branch, admission) = (request.branch.clone(), request.who.admission.clone());
        let plan = self.write(branch, &admission, CommitPlan::new(request)?).await?;
        Ok(plan.committed())
    }

    /// Merges. Conflicts are part of the outcome; those of namespaces are [`Error::Conflicts`].
    pub async fn merge(&self, request: merge::MergeRequest) -> Result<merge::Outcome, Error> {
        let (branch, admission) = (request.branch.clone(), request.who.admission.clone());
        Ok(self.write(branch, &admission, MergePlan::new(request)).await?.outcome())
    }

    /// Transplants. Conflicts as for [`Engine::merge`].
    pub async fn transplant(&self, request: merge::TransplantRequest) -> Result<merge::Outcome, Error> {
        let (branch, admission) = (request.branch.clone(), request.who.admission.clone());
        Ok(self.write(branch, &admission, TransplantPlan::new(request)?).await?.outcome())
    }

    /// Plans outside the writer and has the writer publish; plans again where the head has moved under it, and after some
    /// rounds lets the writer hold the branch meanwhile. Until the writer has taken it, a write that is not wanted any
    /// more is given up with [`Error::Busy`].
    pub(crate) async fn write<P: Plan + 'static>(
        &self,
        branch: RefName,
        admission: &Admission,
        mut plan: P,
    ) -> Result<P, Error> {
        self.check_writes()?;
        for _ in 0..ROUNDS_OUTSIDE {
            admission.check()?;
            let head = self.core.head(&branch).await?;
            let verdict = match plan.plan(&self.core, &head).await {
                Ok(None) => return Ok(plan),
                Ok(Some(proposal)) => {
                    let (branch, proposal) = (branch.clone(), Box::new(proposal));
                    self.writer.ask(admission, |reply| Job::Propose { branch, proposal, reply }).await
                }
                Err(error) => Err(error),
            };
            match verdict {
                Ok(Verdict::Landed(landed)) => {
                    plan.landed(&landed);
                    return Ok(plan);
                }
                Ok(Verdict::Stale) => {}
                Err(Error::IndexNode(_)) => drop(self.core.rebuild(head.reference.target).await?),
                Err(error) => return Err(error),
            }
        }
        let shared = Arc::new(tokio::sync::Mutex::new(plan));
        let held: Arc<tokio::sync::Mutex<dyn Plan>> = shared.clone();
        let ask = async || {
            let (branch, plan) = (branch.clone(), held.clone());
            self.writer.ask(admission, |reply| Job::Held { branch, plan, reply }).await
        };
        if let Err(error) = ask().await {
            let Error::IndexNode(_) = error else { return Err(error) };
            self.core.rebuild(self.core.reference(&branch).await?.target).await?;
            ask().await?;
        }
        drop(held);
        Arc::into_inner(shared)
            .map(tokio::sync::Mutex::into_inner)
            .ok_or_else(|| Error::corrupt("writer", "a held plan is still shared after its verdict"))
    }

    /// Waits until everything admitted is done and stores what a quick start needs; later writes are refused.
    pub async fn stop(&self, within: Duration) {
        self.writer.stop(within).await;
    }
}

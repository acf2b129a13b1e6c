//! What the writer knows of one reference.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
};

use lochan_storage_model::{Commit, CommitId};
use lochan_storage_odb::Reference;

use super::Job;
use crate::{index::Tree, state::Pending};

/// Commits of a branch that the writer remembers, to tell what has changed since a plan.
const RECENT_COMMITS_MAX: usize = 1_024;
/// Most operations in the commits of a branch that the writer remembers.
const RECENT_OPERATIONS_MAX: usize = 16 * 1_024;

/// Jobs waiting for one reference, and its head as the writer has planned it.
#[derive(Default)]
pub(super) struct Lane {
    pub(super) jobs: VecDeque<Job>,
    pub(super) head: Option<LaneHead>,
    /// A checkpoint is being stored.
    pub(super) checkpointing: bool,
}

/// A head, possibly not durable yet.
#[derive(Clone)]
pub(super) struct LaneHead {
    pub(super) reference: Reference,
    pub(super) tree: Tree,
    pub(super) pending: Pending,
    /// The commit whose checkpoint is being stored, and what was pending there.
    pub(super) saving: Option<(CommitId, Pending)>,
    recent: VecDeque<(CommitId, Arc<Commit>)>,
    /// Operations in `recent`.
    operations: usize,
    known: HashSet<CommitId>,
}

impl LaneHead {
    pub(super) fn new(reference: Reference, tree: Tree, pending: Pending) -> Self {
        let known = HashSet::from([reference.target]);
        Self { reference, tree, pending, saving: None, recent: VecDeque::new(), operations: 0, known }
    }

    /// Whether `commit` is the head or one of the commits it grew from since the lane was opened.
    pub(super) fn grew_from(&self, commit: CommitId) -> bool {
        self.known.contains(&commit)
    }

    /// The head, unless it is the one that the lane was opened at.
    pub(super) fn tip(&self) -> Option<&Arc<Commit>> {
        self.recent.back().map(|(_, commit)| commit)
    }

    /// The commits above `commit`, newest first.
    pub(super) fn since(&self, commit: CommitId) -> impl Iterator<Item = &Arc<Commit>> {
        self.recent.iter().rev().take_while(move |(id, _)| *id != commit).map(|(_, loaded)| loaded)
    }

    /// Moves the head to a commit just made on it.
    pub(super) fn advance(&mut self, id: CommitId, commit: Arc<Commit>, tree: Tree) {
        self.pending.commits += 1;
        self.pending.operations += commit.operations.len() as u64;
        self.reference.target = id;
        self.tree = tree;
        self.known.insert(id);
        self.operations += commit.operations.len();
        self.recent.push_back((id, commit));
        while self.recent.len() > RECENT_COMMITS_MAX || self.operations > RECENT_OPERATIONS_MAX {
            let Some((_, oldest)) = self.recent.pop_front() else { break };
            self.operations -= oldest.operations.len();
            self.known.remove(&oldest.header.parent());
        }
    }
}

//! Commits with full copies of their states, and walks that visit everything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lochan_storage_model::CommitId;

use super::state::{Changes, State};

/// A commit.
#[derive(Clone, Debug)]
pub struct Made {
    /// First parent, then merge parents.
    pub parents: Vec<CommitId>,
    /// What it says it did.
    pub changes: Changes,
    /// Everything after it.
    pub state: Arc<State>,
    /// One above the highest of its parents.
    pub generation: u64,
}

/// All commits ever made.
#[derive(Debug, Default)]
pub struct Graph {
    commits: BTreeMap<CommitId, Made>,
    empty: Arc<State>,
}

impl Graph {
    /// The commit; `None` for the empty state and for what nobody made.
    pub fn get(&self, id: CommitId) -> Option<&Made> {
        self.commits.get(&id)
    }

    /// Whether it can be pointed at.
    pub fn is_known(&self, id: CommitId) -> bool {
        id.is_no_ancestor() || self.commits.contains_key(&id)
    }

    /// Ids of all commits.
    pub fn ids(&self) -> impl Iterator<Item = CommitId> {
        self.commits.keys().copied()
    }

    /// Everything at a commit; nothing at one that nobody made.
    pub fn state(&self, id: CommitId) -> Arc<State> {
        self.commits.get(&id).map_or_else(|| Arc::clone(&self.empty), |made| Arc::clone(&made.state))
    }

    /// Adds a commit.
    pub fn add(&mut self, id: CommitId, parents: Vec<CommitId>, changes: Changes) {
        let on = parents.first().copied().unwrap_or(CommitId::NO_ANCESTOR);
        let state = Arc::new(changes.on(&self.state(on)));
        let generation = 1 + parents.iter().map(|parent| self.generation(*parent)).max().unwrap_or(0);
        self.commits.insert(id, Made { parents, changes, state, generation });
    }

    /// 0 for the empty state.
    pub fn generation(&self, id: CommitId) -> u64 {
        self.get(id).map_or(0, |made| made.generation)
    }

    /// The commit and those below it along first parents, down to the empty state, which comes last.
    pub fn chain(&self, from: CommitId) -> Vec<CommitId> {
        let mut chain = Vec::new();
        let mut at = from;
        while let Some(made) = self.get(at) {
            chain.push(at);
            at = made.parents.first().copied().unwrap_or(CommitId::NO_ANCESTOR);
        }
        chain.push(CommitId::NO_ANCESTOR);
        chain
    }

    /// Whether `below` is `above` or one that its first parents lead to.
    pub fn is_below(&self, below: CommitId, above: CommitId) -> bool {
        self.chain(above).contains(&below)
    }

    /// Everything that the commit comes from, itself and the empty state included.
    fn all_below(&self, from: CommitId) -> BTreeSet<CommitId> {
        let mut found = BTreeSet::from([CommitId::NO_ANCESTOR]);
        let mut open = vec![from];
        while let Some(id) = open.pop() {
            if found.insert(id) {
                open.extend(self.get(id).into_iter().flat_map(|made| made.parents.iter().copied()));
            }
        }
        found
    }

    /// What may be the merge base: one side where the other has grown from it, else a common commit. Which of these a walk
    /// from both sides meets first depends on the reference server's heap, and is for the engine's own tests.
    pub fn merge_bases(&self, one: CommitId, other: CommitId) -> BTreeSet<CommitId> {
        let (ours, theirs) = (self.chain(one), self.chain(other));
        if ours.contains(&other) || theirs.contains(&one) {
            return BTreeSet::from([if ours.contains(&other) { other } else { one }]);
        }
        self.all_below(one).intersection(&self.all_below(other)).copied().collect()
    }
}

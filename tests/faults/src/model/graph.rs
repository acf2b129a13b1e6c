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

    /// The common commit that a merge starts from. Commits wait in line, those with the longest first-parent chains in front;
    /// whoever comes to the front hands the sides it comes from to its parents, merge parents before the first one, and a
    /// parent that learns of a new side gets in line, again if need be. The first to know both sides is the base.
    pub fn merge_base(&self, target: CommitId, source: CommitId) -> CommitId {
        if target.is_no_ancestor() || source.is_no_ancestor() {
            return CommitId::NO_ANCESTOR;
        }
        let length = |id| self.chain(id).len();
        let mut sides: BTreeMap<CommitId, BTreeSet<char>> = BTreeMap::new();
        let mut line = Line::default();
        for (id, side) in [(source, 's'), (target, 't')] {
            sides.entry(id).or_default().insert(side);
            line.join(length(id), id);
        }
        while let Some(id) = line.next() {
            let own = sides.get(&id).cloned().unwrap_or_default();
            if own.len() == 2 {
                return id;
            }
            let mut parents = self.get(id).map(|made| made.parents.clone()).unwrap_or_default();
            let merge_parents = usize::from(!parents.is_empty());
            parents.rotate_left(merge_parents);
            for parent in parents.into_iter().filter(|parent| !parent.is_no_ancestor()) {
                let known = sides.entry(parent).or_default();
                if !own.is_subset(known) {
                    known.extend(&own);
                    line.join(length(parent), parent);
                }
            }
        }
        CommitId::NO_ANCESTOR
    }
}

/// Who waits, as a heap in an array, the longest chain on top. Of equals that one comes first which this heap puts first:
/// it is that of the reference server's language.
#[derive(Default)]
struct Line(Vec<(usize, CommitId)>);

impl Line {
    fn length(&self, at: usize) -> Option<usize> {
        self.0.get(at).map(|(length, _)| *length)
    }

    /// Joins at the end and climbs past everyone above who is shorter.
    fn join(&mut self, length: usize, id: CommitId) {
        let mut at = self.0.len();
        self.0.push((length, id));
        while let Some(above) = at.checked_sub(1).map(|below| below / 2)
            && self.length(above) < Some(length)
        {
            self.0.swap(at, above);
            at = above;
        }
    }

    /// The top leaves; the last takes its place and sinks below everyone who is longer, to the left where both are equal.
    fn next(&mut self) -> Option<CommitId> {
        let end = self.0.len().checked_sub(1)?;
        self.0.swap(0, end);
        let (_, top) = self.0.pop()?;
        let mut at = 0;
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let longer = if self.length(right) > self.length(left) { right } else { left };
            if self.length(longer) <= self.length(at) {
                return Some(top);
            }
            self.0.swap(at, longer);
            at = longer;
        }
    }
}

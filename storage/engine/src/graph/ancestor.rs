//! First-parent ancestors, found over skip pointers in O(log depth).
//!
//! A commit's skip pointer leads to its parent, except where the two jumps before it have equal length: then it leads as
//! far as both together. So from any commit any ancestor is reached by taking the skip whenever it does not overshoot.

use lochan_storage_model::{CommitId, Micros, commit::Header};

use super::Commits;
use crate::error::Error;

/// Where a commit stands in the graph: what those that grow on it need to know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) depth: u64,
    pub(crate) generation: u64,
    pub(crate) skip: CommitId,
    pub(crate) time: Micros,
}

impl Step {
    /// Where a commit with this header stands.
    pub(crate) fn of(header: &Header) -> Self {
        let Header { depth, generation, skip, time, .. } = *header;
        Self { depth, generation, skip, time }
    }

    /// Where the empty state stands: at depth 0, before all time, with a skip pointer to itself.
    pub(crate) const fn empty() -> Self {
        Self { depth: 0, generation: 0, skip: CommitId::NO_ANCESTOR, time: Micros::MIN }
    }

    /// The skip pointer of a commit on `parent`, which stands here; its own leads to `skip`, and that one's to `beyond`.
    pub(crate) fn skip_above(&self, parent: CommitId, skip: Self, beyond: Self) -> CommitId {
        let equal = self.depth.wrapping_sub(skip.depth) == skip.depth.wrapping_sub(beyond.depth);
        if equal && self.depth > 0 { skip.skip } else { parent }
    }
}

impl Commits {
    /// The skip pointer of a new commit on `parent`, which stands at `step`.
    pub(crate) async fn skip_for(&self, parent: CommitId, step: Step) -> Result<CommitId, Error> {
        let skip = self.step(step.skip).await?;
        let beyond = self.step(skip.skip).await?;
        Ok(step.skip_above(parent, skip, beyond))
    }

    /// The first-parent ancestor of `from` at `depth`, or the empty state for 0 and beyond the root.
    pub async fn ancestor_at(&self, from: CommitId, depth: u64) -> Result<CommitId, Error> {
        if depth == 0 || from.is_no_ancestor() {
            return Ok(CommitId::NO_ANCESTOR);
        }
        let mut at = from;
        let mut commit = self.load(at).await?;
        while commit.header.depth > depth {
            let skip = commit.header.skip;
            if !skip.is_no_ancestor() {
                let target = self.load(skip).await?;
                if target.header.depth >= depth {
                    (at, commit) = (skip, target);
                    continue;
                }
            }
            at = commit.header.parent();
            if at.is_no_ancestor() {
                return Err(Error::corrupt(
                    format!("commit {from}"),
                    "its depth is above the length of its chain",
                ));
            }
            commit = self.load(at).await?;
        }
        Ok(at)
    }

    /// Whether `ancestor` is `of` or lies on its first-parent chain. The empty state is an ancestor of everything.
    pub async fn is_ancestor(&self, ancestor: CommitId, of: CommitId) -> Result<bool, Error> {
        if ancestor == of || ancestor.is_no_ancestor() {
            return Ok(true);
        }
        let Some(commit) = self.find(ancestor).await? else { return Ok(false) };
        Ok(self.ancestor_at(of, commit.header.depth).await? == ancestor)
    }

    /// The newest commit on the first-parent chain of `from`, itself included, whose time is at or before `time`; the
    /// empty state if there is none.
    pub async fn at_time(&self, from: CommitId, time: Micros) -> Result<CommitId, Error> {
        let mut at = from;
        loop {
            if at.is_no_ancestor() {
                return Ok(at);
            }
            let header = self.header(at).await?;
            if header.time <= time {
                return Ok(at);
            }
            // Times increase along the chain, so a skip target that is still too new rules out everything between.
            let skip = self.step(header.skip).await?;
            at = if skip.depth > 0 && skip.time > time { header.skip } else { header.parent() };
        }
    }

    /// Where a commit stands.
    pub(crate) async fn step(&self, id: CommitId) -> Result<Step, Error> {
        if !id.is_no_ancestor() {
            return Ok(Step::of(&self.load(id).await?.header));
        }
        Ok(Step::empty())
    }
}

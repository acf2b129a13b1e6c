//! First-parent ancestors, found over skip pointers in O(log depth).
//!
//! A commit's skip pointer leads to its parent, except where the two jumps before it have equal length: then it leads as
//! far as both together. So from any commit any ancestor is reached by taking the skip whenever it does not overshoot.

use lochan_storage_model::{CommitId, Micros, commit::Header};

use super::Commits;
use crate::error::Error;

impl Commits {
    /// The skip pointer of a new commit on `parent`.
    pub(crate) async fn skip_for(&self, parent: CommitId) -> Result<CommitId, Error> {
        let header = self.header_or_empty(parent).await?;
        let skip = self.header_or_empty(header.skip).await?;
        let beyond = self.header_or_empty(skip.skip).await?;
        let equal = header.depth.wrapping_sub(skip.depth) == skip.depth.wrapping_sub(beyond.depth);
        Ok(if equal && header.depth > 0 { skip.skip } else { parent })
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
            let skip = self.header_or_empty(header.skip).await?;
            at = if skip.depth > 0 && skip.time > time { header.skip } else { header.parent() };
        }
    }

    /// The header, with one of depth 0 that points to itself for the empty state.
    pub(crate) async fn header_or_empty(&self, id: CommitId) -> Result<Header, Error> {
        if !id.is_no_ancestor() {
            return self.header(id).await;
        }
        Ok(Header {
            parents: vec![CommitId::NO_ANCESTOR],
            depth: 0,
            generation: 0,
            skip: CommitId::NO_ANCESTOR,
            time: Micros::MIN,
            root: crate::index::Tree::empty_id(),
        })
    }
}

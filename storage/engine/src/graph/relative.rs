//! Relative parts of a reference: `~n`, `^n`, `*t`.

use lochan_storage_model::{CommitId, Micros};

use super::Commits;
use crate::error::Error;

/// One relative part (Nessie API, 2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relative {
    /// `~n`: the n-th predecessor along first parents.
    Predecessor(u64),
    /// `^n`: the n-th parent, 1 being the first parent.
    Parent(u64),
    /// `*t`: the newest commit at or before a time.
    At(Micros),
}

impl Commits {
    /// Applies relative parts from left to right. Walking past the root gives the empty state.
    pub async fn resolve(&self, start: CommitId, parts: &[Relative]) -> Result<CommitId, Error> {
        let mut at = start;
        if !at.is_no_ancestor() {
            self.load(at).await?;
        }
        for part in parts {
            if at.is_no_ancestor() {
                return Ok(at);
            }
            at = match part {
                Relative::Predecessor(n) => {
                    let depth = self.depth(at).await?;
                    self.ancestor_at(at, depth.saturating_sub(*n)).await?
                }
                Relative::Parent(n) => {
                    let header = self.header(at).await?;
                    let place = usize::try_from(*n).ok().and_then(|n| n.checked_sub(1));
                    place
                        .and_then(|place| header.parents.get(place))
                        .copied()
                        .unwrap_or(CommitId::NO_ANCESTOR)
                }
                Relative::At(time) => self.at_time(at, *time).await?,
            };
        }
        Ok(at)
    }
}

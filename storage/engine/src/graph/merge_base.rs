//! The merge base of two commits.

use std::collections::{BinaryHeap, HashMap};

use lochan_storage_model::CommitId;

use super::Commits;
use crate::error::Error;

const FROM_TARGET: u8 = 1;
const FROM_SOURCE: u8 = 2;
const BOTH: u8 = FROM_TARGET | FROM_SOURCE;

/// The nearest common commit of two commits, following first and merge parents (Nessie API, 9.1): a walk from both sides,
/// highest generation first, until a commit is reached from both. The empty state is a common ancestor of everything.
pub async fn merge_base(commits: &Commits, target: CommitId, source: CommitId) -> Result<CommitId, Error> {
    // The common cases cost O(log depth) instead of a walk: one side has grown from the other. A common ancestor of both
    // is then the older side or below it.
    for (older, newer) in [(source, target), (target, source)] {
        if commits.is_ancestor(older, newer).await? {
            return Ok(older);
        }
    }
    let mut colours: HashMap<CommitId, u8> = HashMap::new();
    let mut queue: BinaryHeap<(u64, CommitId)> = BinaryHeap::new();
    for (id, colour) in [(target, FROM_TARGET), (source, FROM_SOURCE)] {
        let seen = colours.entry(id).or_default();
        if *seen == 0 {
            queue.push((commits.step(id).await?.generation, id));
        }
        *seen |= colour;
    }
    while let Some((_, id)) = queue.pop() {
        let colour = colours.get(&id).copied().unwrap_or_default();
        if colour == BOTH || id.is_no_ancestor() {
            return Ok(if colour == BOTH { id } else { CommitId::NO_ANCESTOR });
        }
        // A generation is above those of all parents, so every way to a commit is known when it is taken from the queue.
        for parent in commits.header(id).await?.parents {
            let seen = colours.entry(parent).or_default();
            if *seen == 0 {
                queue.push((commits.step(parent).await?.generation, parent));
            }
            *seen |= colour;
        }
    }
    Ok(CommitId::NO_ANCESTOR)
}

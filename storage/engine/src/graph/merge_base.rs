//! The merge base of two commits, and whether one contains another.

use std::collections::{BinaryHeap, HashMap, HashSet};

use lochan_storage_model::CommitId;

use super::{Commits, queue::Queue};
use crate::error::Error;

const FROM_TARGET: u8 = 1;
const FROM_SOURCE: u8 = 2;
const BOTH: u8 = FROM_TARGET | FROM_SOURCE;

/// The nearest common commit of two commits, following first and merge parents, as the reference server finds it (Nessie
/// API, 9.1): a walk from both sides, deepest first, until a commit comes up that was reached from both. A merge parent
/// can be deeper than its child, so a commit comes up again when it is reached from the other side later. The empty
/// state is a common ancestor of everything.
pub async fn merge_base(commits: &Commits, target: CommitId, source: CommitId) -> Result<CommitId, Error> {
    // The common cases cost O(log depth) instead of a walk: one side has grown from the other, and all commits between
    // come up before the older side does.
    for (older, newer) in [(source, target), (target, source)] {
        if commits.is_ancestor(older, newer).await? {
            return Ok(older);
        }
    }
    let mut colours: HashMap<CommitId, u8> = HashMap::new();
    let mut queue = Queue::default();
    for (id, colour) in [(source, FROM_SOURCE), (target, FROM_TARGET)] {
        colours.insert(id, colour);
        queue.push(commits.depth(id).await?, id);
    }
    while let Some(id) = queue.pop() {
        let colour = colours.get(&id).copied().unwrap_or_default();
        if colour == BOTH {
            return Ok(id);
        }
        let parents = commits.header(id).await?.parents;
        // Merge parents first: the order decides among commits of one depth.
        for parent in parents.iter().skip(1).chain(parents.first()) {
            if parent.is_no_ancestor() {
                continue;
            }
            let seen = colours.entry(*parent).or_default();
            if *seen & colour != colour {
                *seen |= colour;
                queue.push(commits.depth(*parent).await?, *parent);
            }
        }
    }
    Ok(CommitId::NO_ANCESTOR)
}

/// Whether `older` is `newer` or one of its ancestors, along first and merge parents.
pub(crate) async fn contains(commits: &Commits, newer: CommitId, older: CommitId) -> Result<bool, Error> {
    if commits.is_ancestor(older, newer).await? {
        return Ok(true);
    }
    // A generation is above those of all ancestors, so what is not above the one looked for cannot lead to it.
    let wanted = commits.step(older).await?.generation;
    let mut seen = HashSet::from([newer]);
    let mut open = BinaryHeap::from([(commits.step(newer).await?.generation, newer)]);
    while let Some((generation, id)) = open.pop() {
        if id == older {
            return Ok(true);
        }
        if generation <= wanted {
            continue;
        }
        for parent in commits.header(id).await?.parents {
            if seen.insert(parent) {
                open.push((commits.step(parent).await?.generation, parent));
            }
        }
    }
    Ok(false)
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Engine,
        testing::{branch, commit, engine, head, merge, put, table},
    };

    async fn base(engine: &Engine, target: CommitId, source: CommitId) -> CommitId {
        merge_base(engine.commits(), target, source).await.unwrap()
    }

    /// Each side merged the other before: of the two nearest common commits the one on the source's side serves.
    #[tokio::test]
    async fn of_crossed_histories_the_reference_servers_choice_counts() {
        let engine = engine().await;
        commit(&engine, "main", vec![put("h", table(1))]).await;
        branch(&engine, "dev", "main").await;
        let d1 = commit(&engine, "dev", vec![put("d1", table(1))]).await.head;
        let m1 = commit(&engine, "main", vec![put("m1", table(1))]).await.head;
        branch(&engine, "dev1", "dev").await;
        branch(&engine, "main1", "main").await;
        merge(&engine, "dev1", "main").await;
        merge(&engine, "main1", "dev").await;
        commit(&engine, "main", vec![put("m3", table(1))]).await;
        commit(&engine, "dev", vec![put("d3", table(1))]).await;
        let (main, dev) = (head(&engine, "main").await, head(&engine, "dev").await);
        assert_eq!(base(&engine, dev, main).await, m1);
        assert_eq!(base(&engine, main, dev).await, d1);
    }

    /// Chains count by first parents: `b2` lies deeper on its branch than the merge that both sides come from.
    #[tokio::test]
    async fn the_length_of_chains_decides_not_the_generation() {
        let engine = engine().await;
        commit(&engine, "main", vec![put("h", table(1))]).await;
        for side in ["a", "b", "c"] {
            branch(&engine, side, "main").await;
        }
        commit(&engine, "b", vec![put("b1", table(1))]).await;
        let b2 = commit(&engine, "b", vec![put("b2", table(1))]).await.head;
        commit(&engine, "a", vec![put("a1", table(1))]).await;
        merge(&engine, "a", "c").await;
        branch(&engine, "c1", "c").await;
        merge(&engine, "b", "c").await;
        merge(&engine, "c", "a").await;
        merge(&engine, "c1", "b").await;
        let (a, b) = (head(&engine, "a").await, head(&engine, "b").await);
        assert_eq!(base(&engine, b, a).await, b2);
    }
}

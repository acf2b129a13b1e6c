//! Checkpoints: storing the index of a commit, so that a start or an old read need not replay everything.

use bytes::Bytes;
use lochan_storage_model::CommitId;
use lochan_storage_odb::{DerivedSpace, DerivedWrite, WRITER_POINT};

use crate::{
    error::Error,
    history::history_rows,
    index::{Tree, Unsaved},
    state::{Core, Pending, Saved},
};

/// Most commits between two checkpoints of a branch.
const COMMITS_MAX: u64 = 50_000;
/// Most operations between two checkpoints of a branch.
const OPERATIONS_MAX: u64 = 100_000;
/// Entries for which one commit more may wait: a checkpoint writes every leaf touched since the one before, so on a large
/// index fewer of them cost much less, while 25,000 commits replay in a fraction of a second.
const ENTRIES_PER_COMMIT: u64 = 4;
/// A branch this many times over its mark waits for its checkpoint.
const HARD_FACTOR: u64 = 2;

/// Whether a checkpoint is due.
pub(crate) fn due(core: &Core, tree: &Tree, pending: Pending) -> bool {
    reached(core, tree, pending, 1)
}

/// Whether the writer must wait for one.
pub(super) fn overdue(core: &Core, tree: &Tree, pending: Pending) -> bool {
    reached(core, tree, pending, HARD_FACTOR)
}

fn reached(core: &Core, tree: &Tree, pending: Pending, factor: u64) -> bool {
    is_reached(core.options.checkpoint_commits_min, tree.count(), pending, factor)
}

/// Whether what is pending has come to `factor` times the mark of an index of `entries`.
fn is_reached(min: u64, entries: u64, pending: Pending, factor: u64) -> bool {
    let mark = (entries / ENTRIES_PER_COMMIT).clamp(min, COMMITS_MAX.max(min));
    pending.commits >= mark * factor || pending.operations >= OPERATIONS_MAX * factor
}

/// Stores the nodes of a commit's index, the rows of its key history since the last checkpoint, then the checkpoint.
/// Returns the ids of the nodes that need not be held in memory any more.
pub(crate) async fn store_checkpoint(core: &Core, commit: CommitId, tree: &Tree) -> Result<Saved, Error> {
    let unsaved = Unsaved::of(tree);
    for rows in unsaved.rows() {
        core.store.put_derived(rows).await?;
        tracing::trace!(target: WRITER_POINT, "checkpoint");
        tokio::task::yield_now().await;
    }
    for rows in history_rows(core, commit).await? {
        core.store.put_derived(rows).await?;
        tracing::trace!(target: WRITER_POINT, "checkpoint");
        tokio::task::yield_now().await;
    }
    if let Some(root) = tree.root() {
        let row = DerivedWrite {
            space: DerivedSpace::Checkpoint,
            key: Bytes::copy_from_slice(commit.as_bytes()),
            value: Some(root.encode_root().into()),
        };
        core.store.put_derived(vec![row]).await?;
    }
    Ok(unsaved.saved(&core.nodes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_due_at_the_bound_and_waited_for_at_twice_that() {
        let min = crate::Options::default().checkpoint_commits_min;
        let reached = |entries, commits, operations, factor| {
            is_reached(min, entries, Pending { commits, operations }, factor)
        };
        // However large the index.
        for entries in [COMMITS_MAX * ENTRIES_PER_COMMIT, u64::MAX] {
            for factor in [1, HARD_FACTOR] {
                assert!(!reached(entries, 50_000 * factor - 1, 1, factor));
                assert!(reached(entries, 50_000 * factor, 1, factor));
                assert!(!reached(entries, 1, 100_000 * factor - 1, factor));
                assert!(reached(entries, 1, 100_000 * factor, factor));
            }
        }
        // A small one comes to it earlier.
        assert!(!reached(0, min - 1, 1, 1));
        assert!(reached(0, min, 1, 1));
    }
}

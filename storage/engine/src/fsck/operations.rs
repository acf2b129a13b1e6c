//! The operations of commits, kept from the look at all objects until indexes are computed from them.

use std::collections::HashMap;

use lochan_storage_model::{CommitId, Operation};

use crate::{cache::ById, state::Core};

/// Kept at most, in bytes; those of further commits are read once more.
const KEPT_BYTES_MAX: usize = 128 << 20;
/// What a commit counts for beside twice its bytes, in bytes.
const PARTS_BYTES: usize = 200;

/// Operations by commit.
#[derive(Default)]
pub(super) struct Operations {
    kept: HashMap<CommitId, Vec<Operation>, ById>,
    bytes: usize,
}

impl Operations {
    /// Keeps those of a commit of `size` bytes, if there is room.
    pub(super) fn keep(&mut self, of: CommitId, operations: Vec<Operation>, size: usize) {
        let bytes = size * 2 + PARTS_BYTES;
        if self.bytes + bytes <= KEPT_BYTES_MAX {
            self.bytes += bytes;
            self.kept.insert(of, operations);
        }
    }

    /// Those of a commit, which are not kept any longer; `None` if it cannot be read.
    pub(super) async fn take(&mut self, core: &Core, of: CommitId) -> Option<Vec<Operation>> {
        match self.kept.remove(&of) {
            Some(operations) => Some(operations),
            None => core.commits.load(of).await.ok().map(|commit| commit.operations.clone()),
        }
    }
}

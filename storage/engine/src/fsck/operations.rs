//! The operations of commits, kept from the look at everything until indexes are computed from them.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use lochan_storage_model::{CommitId, Operation};

use crate::state::Core;

/// Kept at most, in bytes; those of further commits are read once more.
const KEPT_BYTES_MAX: usize = 128 << 20;
/// What a commit counts for beside twice its bytes, in bytes.
const PARTS_BYTES: usize = 200;

/// Operations by number of the commit.
#[derive(Default)]
pub(super) struct Operations(Vec<Mutex<Option<Vec<Operation>>>>);

impl Operations {
    /// Whether the operations of a further commit of `size` bytes have room beside those that are `kept`; if so they count from
    /// now on.
    pub(super) fn has_room(kept: &AtomicUsize, size: usize) -> bool {
        let with = |kept: usize| Some(kept + size * 2 + PARTS_BYTES).filter(|bytes| *bytes <= KEPT_BYTES_MAX);
        kept.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with).is_ok()
    }

    /// Adds those of the next commit, if they are kept.
    pub(super) fn add(&mut self, operations: Option<Vec<Operation>>) {
        self.0.push(Mutex::new(operations));
    }

    /// Those of a commit, which are not kept any longer; `None` if it cannot be read.
    pub(super) async fn take(&self, core: &Core, number: usize, id: CommitId) -> Option<Vec<Operation>> {
        let kept =
            self.0.get(number).and_then(|kept| kept.lock().unwrap_or_else(PoisonError::into_inner).take());
        match kept {
            Some(operations) => Some(operations),
            None => core.commits.load(id).await.ok().map(|commit| commit.operations.clone()),
        }
    }
}

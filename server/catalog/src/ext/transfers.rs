//! Exports and imports at work, and their bounds.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lochan_storage_engine::transfer::Inventory;
use lochan_storage_model::Micros;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Refusal;
use crate::error::Error;

/// Exports at work at once. Each holds the references of its moment in memory, and one part at a time.
pub const EXPORTS_MAX: usize = 4;
/// Imports at work at once. Each holds one part in memory, at most 64 MiB on the wire.
pub const IMPORTS_MAX: usize = 2;
/// Inventories kept for exports that go on.
const INVENTORIES_KEPT: usize = EXPORTS_MAX;

/// Exports and imports at work.
pub(crate) struct Transfers {
    exports: Arc<Semaphore>,
    imports: Arc<Semaphore>,
    /// Inventories of exports that were not read to their end, the latest last.
    inventories: Mutex<VecDeque<Arc<Inventory>>>,
}

impl Default for Transfers {
    fn default() -> Self {
        Self {
            exports: Arc::new(Semaphore::new(EXPORTS_MAX)),
            imports: Arc::new(Semaphore::new(IMPORTS_MAX)),
            inventories: Mutex::default(),
        }
    }
}

impl Transfers {
    pub(super) fn begin_export(&self) -> Result<OwnedSemaphorePermit, Error> {
        let permit = self.exports.clone().try_acquire_owned();
        permit.map_err(|_| Refusal::TransfersBusy("as many exports as may be").into())
    }

    pub(super) fn begin_import(&self) -> Result<OwnedSemaphorePermit, Error> {
        let permit = self.imports.clone().try_acquire_owned();
        permit.map_err(|_| Refusal::TransfersBusy("as many imports as may be").into())
    }

    /// The inventory of a moment, if it was kept.
    pub(super) fn kept(&self, at: Micros) -> Option<Arc<Inventory>> {
        self.inventories().iter().find(|kept| kept.at() == at).cloned()
    }

    pub(super) fn keep(&self, inventory: Arc<Inventory>) {
        let mut kept = self.inventories();
        kept.retain(|other| other.at() != inventory.at());
        kept.push_back(inventory);
        while kept.len() > INVENTORIES_KEPT {
            kept.pop_front();
        }
    }

    pub(super) fn let_go(&self, at: Micros) {
        self.inventories().retain(|kept| kept.at() != at);
    }

    fn inventories(&self) -> MutexGuard<'_, VecDeque<Arc<Inventory>>> {
        // Single insertions and removals leave nothing half done.
        self.inventories.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_are_at_work_than_the_bound() {
        let transfers = Transfers::default();
        let mut exports: Vec<_> = (0..EXPORTS_MAX).map(|_| transfers.begin_export().unwrap()).collect();
        assert!(transfers.begin_export().is_err());
        exports.pop();
        assert!(transfers.begin_export().is_ok());
        let imports: Vec<_> = (0..IMPORTS_MAX).map(|_| transfers.begin_import().unwrap()).collect();
        assert!(transfers.begin_import().is_err());
        drop(imports);
        assert!(transfers.begin_import().is_ok());
    }
}

//! The sync that sled does not do.

use std::{fs::File, io};

/// Makes everything written to the store's main file durable.
pub(crate) trait Syncer: Send + Sync {
    /// Returns once it is durable. A failure means that anything since the last success may be lost.
    fn sync(&self) -> io::Result<()>;
}

/// Syncs a descriptor that was opened before the first write and is kept: only such a one surely reports a failure.
pub(crate) struct FileSyncer(pub File);

impl Syncer for FileSyncer {
    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// Leaves it to the operating system.
pub(crate) struct NoSyncer;

impl Syncer for NoSyncer {
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

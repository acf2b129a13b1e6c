//! The syncs: that of the journal, and the one that sled does not do.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use crate::folder;

/// Makes durable what was written. A failure means that anything since the last success may be lost.
pub(crate) trait Syncer: Send + Sync {
    /// Everything in the engine's main file.
    fn sync(&self) -> io::Result<()>;

    /// Everything in a file of the journal.
    fn sync_journal(&self, file: &File) -> io::Result<()>;
}

/// Syncs a descriptor that was opened before the first write and is kept: only such a one surely reports a failure.
pub(crate) struct FileSyncer {
    file: File,
    /// Folder of the pieces that the engine keeps in files of their own. Rows are cut so that there are none.
    blobs: PathBuf,
    /// Modification time of `blobs` when everything in it was synced.
    synced: Mutex<Option<SystemTime>>,
}

impl FileSyncer {
    /// Syncs `file`, the main file of the engine in the folder `engine`, whose blobs have just been synced.
    pub(crate) fn new(file: File, engine: &Path) -> Self {
        let blobs = engine.join("blobs");
        let synced = Mutex::new(modified(&blobs).unwrap_or_default());
        Self { file, blobs, synced }
    }
}

impl Syncer for FileSyncer {
    fn sync(&self) -> io::Result<()> {
        let now = modified(&self.blobs)?;
        let mut synced = self.synced.lock().unwrap_or_else(PoisonError::into_inner);
        if *synced != now {
            tracing::warn!("the engine made a file of its own for a large piece; it is synced");
            folder::sync_blobs(&self.blobs)?;
            *synced = now;
        }
        self.file.sync_data()
    }

    fn sync_journal(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }
}

fn modified(folder: &Path) -> io::Result<Option<SystemTime>> {
    match std::fs::metadata(folder) {
        Ok(found) => found.modified().map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Leaves it to the operating system.
pub(crate) struct NoSyncer;

impl Syncer for NoSyncer {
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn sync_journal(&self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

//! Folders that are known to survive a power cut.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many folders are remembered as durable before the memory starts afresh.
const FOLDERS_REMEMBERED_MAX: usize = 10_000;

/// Makes folders durably and remembers which are, so that a warm commit syncs one folder only.
#[derive(Debug)]
pub(super) struct Folders {
    root: PathBuf,
    durable: Mutex<HashSet<PathBuf>>,
}

impl Folders {
    pub(super) fn new(root: PathBuf) -> Self {
        Folders { root, durable: Mutex::new(HashSet::new()) }
    }

    /// Makes `folder` and what is missing above it, and syncs every name made or not known to be synced
    /// at or below the warehouse's root. Folders that were there above the root are left alone: they are
    /// not ours, and we may not be allowed to open them.
    pub(super) fn ensure(&self, folder: &Path) -> io::Result<()> {
        if self.durable().contains(folder) {
            return Ok(());
        }
        let Some(parent) = folder.parent() else { return Ok(()) };
        let made = match fs::create_dir(folder) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if !fs::metadata(folder)?.is_dir() {
                    return Err(ErrorKind::NotADirectory.into());
                }
                false
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.ensure(parent)?;
                match fs::create_dir(folder) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                    _ => true,
                }
            }
            // Without the right to write in the parent, an existing folder is as good as ever.
            Err(_) if folder.is_dir() => false,
            Err(error) => return Err(error),
        };
        // Another task, or a run before a crash, may have made the folder and not synced its name yet.
        let is_below_root = folder != self.root && folder.starts_with(&self.root);
        if is_below_root && !made {
            self.ensure(parent)?;
        }
        if made || is_below_root {
            sync(parent)?;
        }
        let mut durable = self.durable();
        if durable.len() >= FOLDERS_REMEMBERED_MAX {
            durable.clear();
        }
        durable.insert(folder.to_path_buf());
        Ok(())
    }

    /// Forgets everything: a remembered folder has gone.
    pub(super) fn forget(&self) {
        self.durable().clear();
    }

    fn durable(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        // The set is never half changed, so a panic elsewhere does not spoil it.
        self.durable.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the names in `folder` durable.
pub(super) fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

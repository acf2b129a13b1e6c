//! The store.

mod check;
mod keeper;
mod point;
mod port;
mod read;
mod replay;
mod scan;
mod session;
mod sink;
mod snapshotter;
mod sweep;
mod verify;
mod write;

#[cfg(test)]
mod tests;

use std::{
    fs::{File, OpenOptions},
    path::Path,
    sync::Arc,
    time::Duration,
};

use lochan_storage_odb::StoreError;

pub(crate) use session::{Session, Writer};

use crate::{
    config::{Durability, SledConfig},
    folder::{Folder, Manifest},
    keys, rows,
    sums::State,
    sync::{FileSyncer, NoSyncer, Syncer},
};

use check::Trust;
use keeper::{ANSWER_WAIT_MAX, Keeper};

/// A store in a folder of this machine.
///
/// Every method blocks its thread for as long as the disk takes; [`lochan_storage_odb::Store::commit`] for one sync. Call
/// it from a thread made for that. After a failed write or sync the engine is closed and opened anew by itself, and
/// readers wait meanwhile.
pub struct SledStore {
    keeper: Arc<Keeper>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl SledStore {
    /// Opens the store of a folder, and makes it first if the folder is absent or empty.
    ///
    /// Refused with [`StoreError::Open`]: a folder that another process holds (named), one that holds something else, a
    /// store of a newer format. Refused with [`StoreError::Corrupt`]: a store whose files do not hold what was acknowledged;
    /// nothing of it is written over.
    pub fn open(config: &SledConfig) -> Result<Self, StoreError> {
        let durability = config.durability;
        let make = |file, engine: &Path| -> Box<dyn Syncer> {
            match durability {
                Durability::Fsync => Box::new(FileSyncer::new(file, engine)),
                Durability::Os => Box::new(NoSyncer),
            }
        };
        Self::open_checked(config, Trust::Marked, ANSWER_WAIT_MAX, make)
    }

    /// Opens what is left of a damaged store: the engine drops what it cannot read, for good. Only for a copy that
    /// something is to be saved from.
    pub fn salvage(config: &SledConfig) -> Result<Self, StoreError> {
        let make = |file, engine: &Path| -> Box<dyn Syncer> { Box::new(FileSyncer::new(file, engine)) };
        Self::open_checked(config, Trust::Nothing, ANSWER_WAIT_MAX, make)
    }

    /// Opens a store with a sync of the caller's.
    #[cfg(test)]
    pub(crate) fn open_with(
        config: &SledConfig,
        syncer: impl FnOnce(File, &Path) -> Box<dyn Syncer>,
    ) -> Result<Self, StoreError> {
        Self::open_checked(config, Trust::Marked, ANSWER_WAIT_MAX, syncer)
    }

    /// Opens a store that waits no longer than `answer_wait` for a write.
    #[cfg(test)]
    pub(crate) fn open_impatient(
        config: &SledConfig,
        answer_wait: Duration,
        syncer: impl FnOnce(File, &Path) -> Box<dyn Syncer>,
    ) -> Result<Self, StoreError> {
        Self::open_checked(config, Trust::Marked, answer_wait, syncer)
    }

    fn open_checked(
        config: &SledConfig,
        trust: Trust,
        answer_wait: Duration,
        syncer: impl FnOnce(File, &Path) -> Box<dyn Syncer>,
    ) -> Result<Self, StoreError> {
        let folder = Folder::open(&config.path, |engine| {
            let db = session::open_engine(engine, config.cache_bytes)?;
            db.insert(keys::epoch(), rows::write_number(0))
                .and_then(|_| db.insert(keys::state(), State::default().write()))
                .and_then(|_| db.flush())
                .map_err(|error| session::failed("first write", &error))?;
            Ok(())
        })?;
        let main = folder.engine().join("db");
        let opened = OpenOptions::new().read(true).write(true).open(&main);
        let file =
            opened.map_err(|error| StoreError::Open(format!("cannot open {}: {error}", main.display())))?;
        let keeper = Arc::new(Keeper::open(folder, config, file, trust, answer_wait, syncer)?);
        let thread = std::thread::Builder::new()
            .name("lochan-keeper".into())
            .spawn({
                let keeper = Arc::clone(&keeper);
                move || keeper.keep()
            })
            .map_err(|error| StoreError::Open(format!("cannot start a thread: {error}")))?;
        Ok(Self { keeper, thread: Some(thread) })
    }

    /// What the store says about itself.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        self.keeper.folder.manifest()
    }
}

impl Drop for SledStore {
    fn drop(&mut self) {
        self.keeper.bell.stop();
        if let Some(thread) = self.thread.take() {
            // Its panics would have been reported where they happened; the keeper ends with this handle either way.
            let _ = thread.join();
        }
        self.keeper.end();
    }
}

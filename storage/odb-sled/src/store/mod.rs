//! The store.

mod read;
mod sweep;
mod write;

#[cfg(test)]
mod tests;

use std::{
    fs::{File, OpenOptions},
    path::Path,
    sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, atomic::AtomicU32},
    time::{Duration, Instant},
};

use lochan_storage_odb::StoreError;

use crate::{
    config::{CACHE_BYTES_MIN, Durability, SledConfig},
    error,
    folder::{self, Folder, Manifest},
    in_flight::InFlight,
    keys,
    positions::Positions,
    rows, snapshots,
    sync::{FileSyncer, NoSyncer, Syncer},
};

/// Pause between the background flushes of sled, in milliseconds.
const FLUSH_EVERY_MS: u64 = 500;
/// Longest wait for the threads of a store closed a moment ago in this process to let go of their files.
const REOPEN_WAIT_MAX: Duration = Duration::from_secs(5);
const REOPEN_PAUSE: Duration = Duration::from_millis(5);

/// A store in a folder of this machine.
///
/// Every method blocks its thread for as long as the disk takes; [`lochan_storage_odb::Store::commit`] for one sync. Call
/// it from a thread made for that.
pub struct SledStore {
    positions: Positions,
    tree: sled::Tree,
    db: sled::Db,
    syncer: Box<dyn Syncer>,
    /// What readers see instead of the tree while a batch is not synced yet.
    in_flight: RwLock<InFlight>,
    /// Why writes are refused, once they are. The thread of positions may say so too.
    refused: Arc<OnceLock<String>>,
    writer: Mutex<Writer>,
    epoch: AtomicU32,
    /// Holds the lock; last, so that the engine is closed before another process may come.
    folder: Folder,
}

/// What only the batch under way may touch.
struct Writer {
    /// Number of the last batch.
    batch: u64,
    /// Room for one row, used again and again.
    scratch: Vec<u8>,
}

impl SledStore {
    /// Opens the store of a folder, and makes it first if the folder is absent or empty.
    ///
    /// Refused with [`StoreError::Open`]: a folder that another process holds (named), one that holds something else, a
    /// store of a newer format.
    pub fn open(config: &SledConfig) -> Result<Self, StoreError> {
        let durability = config.durability;
        Self::open_with(config, |file, engine| match durability {
            Durability::Fsync => Box::new(FileSyncer::new(file, engine)),
            Durability::Os => Box::new(NoSyncer),
        })
    }

    /// Opens a store with a sync of the caller's.
    pub(crate) fn open_with(
        config: &SledConfig,
        syncer: impl FnOnce(File, &Path) -> Box<dyn Syncer>,
    ) -> Result<Self, StoreError> {
        let folder = Folder::open(&config.path, |engine| {
            let db = open_engine(engine, config.cache_bytes)?;
            db.insert(keys::epoch(), rows::write_number(0))
                .and_then(|_| db.flush())
                .map_err(|error| failed("first write", &error))?;
            Ok(())
        })?;
        let engine = folder.engine();
        let main = engine.join("db");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&main)
            .map_err(|error| StoreError::Open(format!("cannot open {}: {error}", main.display())))?;
        let db = open_engine(&engine, config.cache_bytes)?;
        db.flush().map_err(|error| failed("flush", &error))?;
        file.sync_all()
            .and_then(|()| folder::sync_engine(&engine))
            .map_err(|error| StoreError::Open(format!("cannot sync {}: {error}", engine.display())))?;
        let tree = sled::Tree::clone(&db);
        let epoch = match tree.get(keys::epoch()).map_err(error::read)? {
            None => 0,
            Some(row) => rows::read_number(&row).map_err(error::row("the epoch"))?,
        };
        let epoch = u32::try_from(epoch).map_err(|_| error::damaged("the epoch", "it is out of range"))?;
        let refused = Arc::new(OnceLock::new());
        let (positions, batch) = Positions::open(tree.clone(), Arc::clone(&refused))?;
        Ok(Self {
            positions,
            tree,
            db,
            syncer: syncer(file, &engine),
            in_flight: RwLock::default(),
            refused,
            writer: Mutex::new(Writer { batch, scratch: Vec::new() }),
            epoch: AtomicU32::new(epoch),
            folder,
        })
    }

    /// What the store says about itself.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.folder.manifest
    }

    fn in_flight(&self) -> RwLockReadGuard<'_, InFlight> {
        // It is replaced as a whole, so a panic elsewhere cannot leave it half done.
        self.in_flight.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SledStore {
    fn drop(&mut self) {
        self.positions.close();
        if self.refused.get().is_none()
            && let Err(error) =
                self.db.flush().map_err(std::io::Error::other).and_then(|_| self.syncer.sync())
        {
            tracing::warn!(%error, "the store could not be synced at its end; only derived rows can be missing");
        }
    }
}

fn open_engine(path: &Path, cache_bytes: u64) -> Result<sled::Db, StoreError> {
    let config = sled::Config::new()
        .path(path)
        .mode(sled::Mode::HighThroughput)
        .flush_every_ms(Some(FLUSH_EVERY_MS))
        .cache_capacity(cache_bytes.max(CACHE_BYTES_MIN));
    let untidy = |error: std::io::Error| StoreError::Open(format!("cannot tidy {}: {error}", path.display()));
    snapshots::drop_unfinished(path).map_err(untidy)?;
    let mut set_aside = false;
    let begun = Instant::now();
    loop {
        match config.open() {
            Ok(db) => return Ok(db),
            // Once: a second time it is the log that is damaged.
            Err(sled::Error::Corruption { .. })
                if !std::mem::replace(&mut set_aside, true)
                    && snapshots::set_aside(path).map_err(untidy)? => {}
            // The threads of sled may outlive its handle by a moment. No other process can be meant: we hold the lock.
            Err(sled::Error::Io(error))
                if error.to_string().contains("could not acquire lock")
                    && begun.elapsed() < REOPEN_WAIT_MAX =>
            {
                std::thread::sleep(REOPEN_PAUSE);
            }
            Err(error) => return Err(failed("opening", &error)),
        }
    }
}

fn failed(what: &str, error: &sled::Error) -> StoreError {
    StoreError::Open(format!("the engine failed at {what}: {error}"))
}

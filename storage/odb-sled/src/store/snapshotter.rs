//! Writes snapshots of the engine while it is open, on a thread of its own: what a start has to read of the log stays bounded.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use lochan_storage_odb::{StoreError, WRITER_POINT};

use crate::{
    engine::Engine,
    engine_log, mark,
    snapshots::{self, Unnamed},
    trouble::Trouble,
};

/// Longest wait for the log to go on before it is looked at all the same.
const LOOK_PAUSE: Duration = Duration::from_secs(60);
/// Log for a byte of a snapshot, at least, in bytes: of a large store one is not written for every little.
const LOG_BYTES_PER_BYTE: u64 = 8;
/// Part of the wait for the next one after which one is tried again.
const AGAIN_PART: u64 = 8;

/// The thread, which ends with this.
pub(super) struct Snapshotter {
    engine: Arc<Engine>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

struct Work {
    engine: Arc<Engine>,
    stop: Arc<AtomicBool>,
    trouble: Arc<Trouble>,
    /// Folder of the store.
    folder: PathBuf,
    /// Folder of the engine's files.
    files: PathBuf,
    /// Log between two snapshots, in bytes.
    every: u64,
}

impl Snapshotter {
    /// Writes one for every so many bytes of log, until there is a `trouble`.
    pub(super) fn start(
        engine: Arc<Engine>,
        trouble: Arc<Trouble>,
        folder: PathBuf,
        files: PathBuf,
        every: u64,
    ) -> Result<Self, StoreError> {
        let stop = Arc::new(AtomicBool::new(false));
        let work =
            Work { engine: Arc::clone(&engine), stop: Arc::clone(&stop), trouble, folder, files, every };
        let thread = std::thread::Builder::new().name("lochan-snapshot".into()).spawn(move || work.run());
        let thread = thread.map_err(|error| StoreError::Open(format!("cannot start a thread: {error}")))?;
        Ok(Self { engine, stop, thread: Some(thread) })
    }
}

impl Drop for Snapshotter {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        self.engine.went_on.ring();
        if let Some(thread) = self.thread.take() {
            // Without it starts take longer, and that is all.
            let _ = thread.join();
        }
    }
}

impl Work {
    fn run(&self) {
        let begin = engine_log::snapshot_end(&self.files).unwrap_or_default();
        let mut due = begin.saturating_add_unsigned(self.every);
        while self.goes_on() {
            let synced = self.engine.synced();
            if synced < due {
                self.engine.went_on.wait(LOOK_PAUSE);
                continue;
            }
            due = match self.advance(synced) {
                Ok(Some((position, bytes))) => {
                    tracing::debug!(position, bytes, "wrote a snapshot of the engine");
                    position.saturating_add_unsigned(self.every.max(bytes.saturating_mul(LOG_BYTES_PER_BYTE)))
                }
                Ok(None) => synced.saturating_add_unsigned(self.every / AGAIN_PART),
                Err(error) => {
                    if self.goes_on() {
                        tracing::warn!(%error, "no newer snapshot of the engine can be written: the next start may take longer");
                    }
                    synced.saturating_add_unsigned(self.every / AGAIN_PART)
                }
            };
        }
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Acquire) && self.trouble.cause().is_none()
    }

    /// Writes one of what is synced; where it ends and how long it is, if that is farther than the last one.
    fn advance(&self, synced: i64) -> io::Result<Option<(i64, u64)>> {
        let Some(unnamed) = snapshots::advance(&self.files, synced, &|| self.goes_on())? else {
            return Ok(None);
        };
        let Unnamed { position, bytes, .. } = unnamed;
        tracing::trace!(target: WRITER_POINT, "summed up");
        // A start takes what follows the mark for what may be torn.
        self.engine.sync_mark()?;
        let is_marked = mark::read(&self.folder)?.is_some_and(|mark| mark.log >= position - 1);
        if !is_marked || !self.goes_on() {
            unnamed.drop_it()?;
            return Ok(None);
        }
        unnamed.name()?;
        tracing::trace!(target: WRITER_POINT, "named");
        Ok(Some((position, bytes)))
    }
}

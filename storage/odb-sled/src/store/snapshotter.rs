//! Writes snapshots of the engine while it is open, on a thread of its own: what a start has to read of the log stays bounded.

use std::{io, path::PathBuf, sync::Arc, thread::JoinHandle, time::Duration};

use lochan_storage_odb::WRITER_POINT;

use crate::{
    engine::Engine,
    engine_log,
    snapshots::{self, Unnamed},
    space::Space,
    trouble::Trouble,
};

/// Longest wait for the log to go on before it is looked at all the same.
const LOOK_PAUSE: Duration = Duration::from_secs(60);
/// Log for a byte of a snapshot, at least, in bytes: of a large store one is not written for every little.
const LOG_BYTES_PER_BYTE: u64 = 8;
/// Part of the log since the last one after which one is tried again that could not be written.
const AGAIN_PART: u64 = 4;
/// How often one cannot be written, for the same reason, before it is told: that may be a matter of the moment.
const UNTOLD_FAILURES: u32 = 1;

/// The thread, which ends with this.
pub(super) struct Snapshotter {
    engine: Arc<Engine>,
    thread: Option<JoinHandle<()>>,
}

/// What it works with.
pub(super) struct Work {
    pub engine: Arc<Engine>,
    /// Ends it when there is one.
    pub trouble: Arc<Trouble>,
    pub space: Space,
    /// Folder of the engine's files.
    pub folder: PathBuf,
    /// Log between two snapshots, in bytes.
    pub every: u64,
}

impl Snapshotter {
    /// Starts it; without one a start reads more, and that is all.
    pub(super) fn start(work: Work) -> Option<Self> {
        let engine = Arc::clone(&work.engine);
        match std::thread::Builder::new().name("lochan-snapshot".into()).spawn(move || work.run()) {
            Ok(thread) => Some(Self { engine, thread: Some(thread) }),
            Err(error) => {
                tracing::warn!(%error, "no thread for snapshots of the engine can be started");
                None
            }
        }
    }

    /// Tells it to end.
    pub(super) fn stop(&self) {
        self.engine.went_on.stop();
    }
}

impl Drop for Snapshotter {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            // Its panics would have been reported where they happened.
            let _ = thread.join();
        }
    }
}

impl Work {
    fn run(&self) {
        let begin = engine_log::snapshot_end(&self.folder).unwrap_or_default();
        let mut due =
            begin.saturating_add_unsigned(self.pause(snapshots::length(&self.folder).unwrap_or_default()));
        let mut failed = (String::new(), 0);
        while self.goes_on() {
            let synced = self.engine.synced();
            if synced < due {
                self.engine.went_on.wait(LOOK_PAUSE);
                continue;
            }
            due = match self.advance(synced) {
                Ok(Some((position, bytes))) => {
                    tracing::debug!(position, bytes, "wrote a snapshot of the engine");
                    failed.1 = 0;
                    position.saturating_add_unsigned(self.pause(bytes))
                }
                Ok(None) => self.again(synced),
                Err(_) if !self.goes_on() => return,
                Err(error) => {
                    let why = error.to_string();
                    failed = if failed.0 == why { (why, failed.1 + 1) } else { (why, 0) };
                    if failed.1 == UNTOLD_FAILURES {
                        tracing::warn!(
                            why = failed.0,
                            "no newer snapshot of the engine can be written: a start takes longer, and refuses a log that is damaged"
                        );
                    }
                    self.again(synced)
                }
            };
        }
    }

    /// Log behind a snapshot of so many bytes until the next one.
    fn pause(&self, bytes: u64) -> u64 {
        self.every.max(bytes.saturating_mul(LOG_BYTES_PER_BYTE))
    }

    /// When one is tried again that could not be written. All since the last one is to be read then: the longer that is, the later.
    fn again(&self, synced: i64) -> i64 {
        let since = synced.saturating_sub(engine_log::snapshot_end(&self.folder).unwrap_or_default());
        synced.saturating_add_unsigned((since.unsigned_abs() / AGAIN_PART).max(1))
    }

    fn goes_on(&self) -> bool {
        !self.engine.went_on.is_stopped() && self.trouble.cause().is_none()
    }

    /// Writes one of what is synced; where it ends and how long it is, if that is farther than the last one.
    fn advance(&self, synced: i64) -> io::Result<Option<(i64, u64)>> {
        // The old one is still there meanwhile.
        let expected = snapshots::length(&self.folder)?.saturating_add(self.every / AGAIN_PART);
        if !self.space.has_room_for(expected) {
            return Ok(None);
        }
        let Some(unnamed) = snapshots::advance(&self.folder, synced, &|| self.goes_on())? else {
            return Ok(None);
        };
        let Unnamed { position, bytes, .. } = unnamed;
        tracing::trace!(target: WRITER_POINT, "summed up");
        // A start takes what follows the mark for what may be torn.
        let is_marked = self.engine.sync_mark()?.is_some_and(|log| log >= synced);
        if !is_marked || !self.goes_on() {
            unnamed.drop_it()?;
            return Ok(None);
        }
        unnamed.name()?;
        tracing::trace!(target: WRITER_POINT, "named");
        Ok(Some((position, bytes)))
    }
}

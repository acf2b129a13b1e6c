//! The engine as a place to put rows, and how much of its log may be written between two syncs.
//!
//! The engine never syncs its log. It frees a segment once all of its pages are written elsewhere, which it believes durable
//! then, and may use it anew two segments later. Were that on the disk and what has replaced the pages not, a power cut would
//! take what had been durable. So nobody writes into the engine without asking for room, and room is made by a sync.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};

use lochan_storage_odb::WRITER_POINT;

use crate::{
    bell::Bell,
    mark::{Mark, Marks},
    sync::Syncer,
    trouble::Cause,
};

/// Log that may be written between two syncs, in bytes: well below the two segments of 512 KiB after which a freed one may be
/// used anew.
const UNSYNCED_BYTES_MAX: usize = 768 * 1024;
/// Log that the engine writes for a byte of rows, about: rows, leaves of which they are a part, and pages that it moves out of
/// segments that are half empty.
const LOG_BYTES_PER_BYTE: usize = 6;
/// Rows that are written at the same time, in bytes, at most; more of them only one after the other.
const WRITING_BYTES_MAX: usize = UNSYNCED_BYTES_MAX / LOG_BYTES_PER_BYTE;

/// The engine of a session.
pub(crate) struct Engine {
    pub(crate) tree: sled::Tree,
    pub(crate) db: sled::Db,
    /// Folder of its files.
    folder: PathBuf,
    pub(crate) syncer: Arc<dyn Syncer>,
    /// The first sync that failed; held while one is under way. The system tells a failure once, and no other thread shall take
    /// its own success for that of everything.
    failed: Mutex<Option<Cause>>,
    /// Where it is noted how far the log is synced, once that is open. After every sync: a start must find what follows the mark
    /// as it was written, and segments behind the last sync are not used anew yet.
    marks: Mutex<Option<Marks>>,
    /// Position in the log up to which it is synced.
    synced: AtomicI64,
    /// Rung when that goes on.
    pub(crate) went_on: Bell,
    rows: Mutex<Rows>,
    /// Told when rows are written.
    written: Condvar,
}

/// Rows on their way into the engine, in bytes.
#[derive(Default)]
struct Rows {
    /// That are being written.
    writing: usize,
    /// That may have been written since the last sync.
    unsynced: usize,
}

/// How far the files go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reached {
    /// Position in the log of the last byte that is handed to the system.
    pub log: i64,
    /// Length of the main file, in bytes.
    pub main_bytes: u64,
}

/// Room for rows; held while they are written.
pub(crate) struct Room<'a> {
    engine: &'a Engine,
    bytes: usize,
}

impl Engine {
    /// An engine in `folder` that is not synced yet.
    pub(crate) fn new(db: sled::Db, folder: PathBuf, syncer: Arc<dyn Syncer>) -> Self {
        Self {
            tree: sled::Tree::clone(&db),
            db,
            folder,
            syncer,
            failed: Mutex::default(),
            marks: Mutex::default(),
            synced: AtomicI64::new(0),
            went_on: Bell::default(),
            rows: Mutex::default(),
            written: Condvar::new(),
        }
    }

    /// Makes room for rows of so many bytes: waits for others, if together they would be too much between two syncs, and syncs
    /// first, if too much of the log waits for it.
    pub(crate) fn room(&self, bytes: usize) -> Result<Room<'_>, Cause> {
        let mut rows = self.rows();
        while rows.writing > 0 && rows.writing.saturating_add(bytes) > WRITING_BYTES_MAX {
            rows = self.written.wait(rows).unwrap_or_else(PoisonError::into_inner);
        }
        rows.writing = rows.writing.saturating_add(bytes);
        let before = rows.unsynced;
        rows.unsynced = before.saturating_add(bytes);
        let expected = rows.writing.saturating_mul(LOG_BYTES_PER_BYTE);
        drop(rows);
        let room = Room { engine: self, bytes };
        if before > 0 {
            // Threads of the engine write what it was given; only then it shows how much that is.
            self.flush()?;
            let unsynced = self.reached().log - self.synced();
            if expected.saturating_add(usize::try_from(unsynced).unwrap_or(0)) > UNSYNCED_BYTES_MAX {
                self.sync()?;
            }
        }
        Ok(room)
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        // Sums, changed at once.
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands what is written to the system.
    pub(crate) fn flush(&self) -> Result<(), Cause> {
        self.db.flush().map(drop).map_err(|error| Cause::engine("flush failed", &error))
    }

    /// Makes durable what is written, and notes how far that goes.
    pub(crate) fn sync(&self) -> Result<(), Cause> {
        let mut rows = self.rows();
        rows.unsynced = rows.writing;
        drop(rows);
        self.flush()?;
        tracing::trace!(target: WRITER_POINT, "flushed");
        // Before the sync that is to cover it: threads of the engine go on writing.
        let reached = self.reached();
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.is_none() {
            *failed = self.syncer.sync().err().map(|error| Cause::system("sync failed", &error));
        }
        failed.clone().map_or(Ok(()), Err)?;
        drop(failed);
        tracing::trace!(target: WRITER_POINT, "synced");
        let Reached { log, main_bytes } = reached;
        // Of two syncs the later one may get here first.
        self.mark(|last| if last.log < log { Mark { log, main_bytes, ..last } } else { last });
        self.is_synced(reached);
        Ok(())
    }

    /// Begins to note how far the store is.
    pub(crate) fn begin_marks(&self, marks: Marks) {
        *self.marks() = Some(marks);
    }

    /// Notes how far the store is.
    pub(crate) fn mark(&self, how: impl FnOnce(Mark) -> Mark) {
        if let Some(marks) = &mut *self.marks() {
            marks.write(how);
        }
    }

    /// Makes durable what is noted, while others go on noting; the position in the log that it says, if it says one.
    pub(crate) fn sync_mark(&self) -> io::Result<Option<i64>> {
        let noted = self.marks().as_ref().and_then(Marks::unsynced);
        noted.map(|(file, log)| file.sync_all().map(|()| log)).transpose()
    }

    fn marks(&self) -> MutexGuard<'_, Option<Marks>> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far the files go now.
    pub(crate) fn reached(&self) -> Reached {
        let log = self.db.context.pagecache.log.stable_offset();
        Reached { log, main_bytes: std::fs::metadata(self.folder.join("db")).map_or(0, |found| found.len()) }
    }

    /// Notes that the log is synced so far.
    pub(crate) fn is_synced(&self, reached: Reached) {
        self.synced.fetch_max(reached.log, Ordering::AcqRel);
        self.went_on.ring();
    }

    /// Position in the log up to which it is synced.
    pub(crate) fn synced(&self) -> i64 {
        self.synced.load(Ordering::Acquire)
    }

    /// Wakes whoever waits inside for something that has failed, and returns that failure. When a write fails while another
    /// thread writes too, the engine notes it but wakes nobody.
    pub(crate) fn wake(&self) -> Option<sled::Error> {
        let error = self.db.context.global_error().err()?;
        // With a failure noted this waits for nothing: it tells everyone and returns.
        let _ = self.db.context.pagecache.log.make_stable(i64::MAX);
        Some(error)
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        let mut rows = self.engine.rows();
        rows.writing = rows.writing.saturating_sub(self.bytes);
        drop(rows);
        self.engine.written.notify_all();
    }
}

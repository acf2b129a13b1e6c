//! Takes batches from the journal into the engine, on a thread of its own.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use lochan_storage_odb::{StoreError, WRITER_POINT};

use crate::{
    mark::{Mark, MarkFile},
    pending::{Group, Pending},
    sums::State,
    sync::Syncer,
    trouble::{Cause, Trouble, UnderWay},
};

/// Pause between two looks whether a thread has ended.
pub(super) const STOP_PAUSE: Duration = Duration::from_millis(1);

/// The engine as a place to put rows.
pub(crate) struct Sink {
    pub(super) tree: sled::Tree,
    pub(super) db: sled::Db,
    /// Folder of the engine's files.
    pub(super) engine: PathBuf,
    pub(super) syncer: Arc<dyn Syncer>,
    pub(super) trouble: Arc<Trouble>,
    pub(super) pending: Arc<Pending>,
    pub(super) marks: Mutex<Marks>,
    /// What the engine holds.
    pub(super) state: Mutex<State>,
    /// The group that is being taken in.
    pub(super) taking_in: UnderWay,
}

/// How far the store is, noted outside of the engine.
pub(super) struct Marks {
    /// `None` if nothing is known to be durable.
    pub file: Option<MarkFile>,
    pub last: Mark,
}

/// The thread, which ends with this.
pub(super) struct Drain {
    sink: Arc<Sink>,
    thread: Option<JoinHandle<()>>,
}

impl Sink {
    /// Takes in a group of batches, which are durable here at the end.
    fn take_in(&self, group: &Group) -> Result<(), Cause> {
        let (rows, state) =
            self.state().with(&self.tree, group).map_err(|error| Cause::read("write failed", &error))?;
        let entering = self.pending.entering();
        self.tree.apply_batch(rows).map_err(|error| Cause::engine("write failed", &error))?;
        drop(entering);
        tracing::trace!(target: WRITER_POINT, "taken in");
        self.db.flush().map_err(|error| Cause::engine("flush failed", &error))?;
        tracing::trace!(target: WRITER_POINT, "flushed");
        let (log, main_bytes) = reached(&self.db, &self.engine);
        self.syncer.sync().map_err(|error| Cause::system("sync failed", &error))?;
        tracing::trace!(target: WRITER_POINT, "synced");
        *self.state() = state;
        self.mark(|last| Mark { stored: group.through, log, main_bytes, ..last });
        self.pending.stored_through(group);
        Ok(())
    }

    /// Wakes whoever waits inside the engine for something that has failed, and returns that failure. When a write fails
    /// while another thread writes too, the engine notes it but wakes nobody.
    pub(super) fn wake(&self) -> Option<sled::Error> {
        let error = self.db.context.global_error().err()?;
        // With a failure noted this waits for nothing: it tells everyone and returns.
        let _ = self.db.context.pagecache.log.make_stable(i64::MAX);
        Some(error)
    }

    /// Notes that a batch is durable in the journal.
    pub(super) fn acknowledge(&self, batch: u64) {
        self.mark(|last| Mark { batch, ..last });
    }

    fn mark(&self, how: impl FnOnce(Mark) -> Mark) {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner).write(how);
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // It is replaced as a whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// At the end, when nothing waits any more: syncs what is derived, and the mark.
    pub(super) fn end(&self) -> std::io::Result<()> {
        self.db.flush().map_err(std::io::Error::other)?;
        let (log, main_bytes) = reached(&self.db, &self.engine);
        self.syncer.sync()?;
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        marks.write(|last| Mark { log, main_bytes, ..last });
        marks.sync();
        Ok(())
    }
}

impl Marks {
    /// A mark that cannot be written costs strength and nothing else.
    fn write(&mut self, how: impl FnOnce(Mark) -> Mark) {
        self.last = how(self.last);
        if let Some(file) = &mut self.file
            && let Err(error) = file.write(self.last)
        {
            tracing::warn!(%error, "the mark cannot be written");
        }
    }

    pub(super) fn sync(&self) {
        if let Some(Err(error)) = self.file.as_ref().map(MarkFile::sync) {
            tracing::warn!(%error, "the mark cannot be synced");
        }
    }

    /// Marks from `first` on, which is written and synced; nowhere if what is acknowledged is not durable: a store that
    /// may lose it must not be held to it.
    pub(super) fn begin(file: MarkFile, first: Mark, is_durable: bool) -> Self {
        let first = if is_durable { first } else { Mark::NOTHING };
        let mut marks = Self { file: Some(file), last: first };
        marks.write(|first| first);
        marks.sync();
        if !is_durable {
            marks.file = None;
        }
        marks
    }
}

impl Drain {
    pub(super) fn start(sink: Arc<Sink>) -> Result<Self, StoreError> {
        let thread = std::thread::Builder::new().name("lochan-drain".into()).spawn({
            let sink = Arc::clone(&sink);
            move || {
                while let Some(group) = sink.pending.next() {
                    // What failed is told; then there is no next group.
                    sink.taking_in.begin();
                    let _ = sink.trouble.attempt(|| sink.take_in(&group));
                    sink.taking_in.end();
                }
            }
        });
        let thread = thread.map_err(|error| StoreError::Open(format!("cannot start a thread: {error}")))?;
        Ok(Self { sink, thread: Some(thread) })
    }

    /// Takes in what waits, unless something has failed, and ends the thread.
    fn close(&mut self) {
        self.sink.pending.stop();
        if let Some(thread) = self.thread.take() {
            while !thread.is_finished() {
                self.sink.wake();
                std::thread::sleep(STOP_PAUSE);
            }
            // It catches its panics; what it could not take in is in the journal.
            let _ = thread.join();
        }
    }
}

impl Drop for Drain {
    fn drop(&mut self) {
        self.close();
    }
}

/// Last byte of the log that is handed to the system, and the length of the main file.
pub(super) fn reached(db: &sled::Db, engine: &Path) -> (i64, u64) {
    // Before any sync that is to cover it: threads of the engine go on writing.
    let log = db.context.pagecache.log.stable_offset();
    (log, std::fs::metadata(engine.join("db")).map_or(0, |found| found.len()))
}

//! Takes batches from the journal into the engine, on a thread of its own.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use lochan_storage_odb::{StoreError, WRITER_POINT};

use crate::{
    batch::{Piece, Row},
    engine::Engine,
    keys,
    mark::Mark,
    pending::{Group, Pending},
    sums::State,
    trouble::{Cause, Trouble, UnderWay},
};

/// Pause between two looks whether a thread has ended.
pub(super) const STOP_PAUSE: Duration = Duration::from_millis(1);

/// Where batches go.
pub(crate) struct Sink {
    pub(super) engine: Arc<Engine>,
    /// Whether syncs sync: else a large group enters whole, since the journal may be lost and a half remain.
    pub(super) is_durable: bool,
    pub(super) trouble: Arc<Trouble>,
    pub(super) pending: Arc<Pending>,
    /// What the engine holds.
    pub(super) state: Mutex<State>,
    /// The group that is being taken in.
    pub(super) taking_in: UnderWay,
}

/// The thread, which ends with this.
pub(super) struct Drain {
    sink: Arc<Sink>,
    thread: Option<JoinHandle<()>>,
}

impl Sink {
    /// Takes in a group of batches, which are durable here at the end.
    fn take_in(&self, group: &Group) -> Result<(), Cause> {
        let mut pieces = if self.is_durable { group.pieces() } else { vec![group.whole()] };
        let last = pieces.pop();
        if !pieces.is_empty() {
            for piece in &pieces {
                let whole = self.state().batch;
                self.put(piece, whole)?;
                tracing::trace!(target: WRITER_POINT, "taken in");
                self.goes_on()?;
            }
            // The last one says that all of them are there. A power cut could keep it and tear the log in front of it.
            self.engine.sync()?;
        }
        if let Some(piece) = last {
            self.put(&piece, group.through)?;
            tracing::trace!(target: WRITER_POINT, "taken in");
        }
        self.engine.sync()?;
        self.engine.mark(|last| Mark { stored: group.through, ..last });
        self.pending.stored_through(group);
        Ok(())
    }

    /// Puts rows into the tree, and with them the row that counts them. Every batch up to `whole` is whole there then.
    pub(super) fn put(&self, piece: &Piece<'_>, whole: u64) -> Result<(), Cause> {
        let before = *self.state();
        let state = before
            .with(&self.engine.tree, piece, whole)
            .map_err(|error| Cause::read("write failed", &error))?;
        let row = Row { key: keys::state().into(), value: Some(state.write().into()), is_new: false };
        let piece = Piece::whole(piece.rows().chain([&row]).collect());
        // Before readers are kept out, since it may take a sync.
        let _room = self.engine.room(piece.cost())?;
        let entering = self.pending.entering();
        self.engine.tree.apply_batch(piece.batch()).map_err(|error| Cause::engine("write failed", &error))?;
        drop(entering);
        *self.state() = state;
        Ok(())
    }

    /// Between two pieces: shows that it goes on, and looks whether it should.
    fn goes_on(&self) -> Result<(), Cause> {
        self.taking_in.begin();
        self.pending.step();
        self.trouble.cause().map_or(Ok(()), |cause| Err(cause.clone()))
    }

    /// Notes that a batch is durable in the journal.
    pub(super) fn acknowledge(&self, batch: u64) {
        self.engine.mark(|last| Mark { batch, ..last });
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // It is replaced as a whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// At the end, when nothing waits any more: syncs what is derived, and the mark.
    pub(super) fn end(&self) -> Result<(), Cause> {
        self.engine.sync()?;
        if let Err(error) = self.engine.sync_mark() {
            // It costs strength and nothing else.
            tracing::warn!(%error, "the mark cannot be synced");
        }
        Ok(())
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
                self.sink.engine.wake();
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

//! The table from object id to position.
//!
//! It is derived: random keys cost sled far more than ascending ones, so new entries wait in memory and a thread of its
//! own writes them in sorted runs. They ride along with later syncs. A watermark says which batches are in the table;
//! what is missing behind it is found again at open by scanning the objects themselves. An entry is only a hint: the
//! row at the position says which object really stands there. When the thread fails, the store refuses writes: entries
//! that nobody writes would pile up without end.

use std::{
    collections::{HashMap, HashSet},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use lochan_storage_model::ObjectId;
use lochan_storage_odb::StoreError;

use crate::{
    error,
    keys::{self, Position, Space},
    objects, rows,
    trouble::{Cause, Trouble},
    walk::Walk,
};

/// Entries that wait before the thread writes them. Also what an open has to scan again at most, after a kill at rest.
const RUN_ENTRIES: usize = 8 * 1024;
/// Entries that wait before commits wait too.
const WAITING_ENTRIES_MAX: usize = 64 * 1024;
/// Longest wait of a commit for others to be written.
const ROOM_WAIT_MAX: Duration = Duration::from_secs(30);
/// Damaged places of the table for which all objects are looked at.
const DAMAGED_PLACES_MAX: usize = 64;
/// Entries forgotten under one lock after they were written.
const FORGET_ENTRIES: usize = 256;

/// The table, with the entries not yet in it.
pub(crate) struct Positions {
    tree: sled::Tree,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    /// Places of the table that cannot be read; what they led to is in memory.
    damaged: Mutex<HashSet<String>>,
}

/// A run of entries to write: each object with its position, and the last batch that they complete.
pub(crate) struct Run {
    pub entries: Vec<(ObjectId, Position)>,
    pub through: u64,
}

struct Shared {
    /// Entries not surely in the tree yet.
    recent: RwLock<HashMap<ObjectId, Position>>,
    queue: Mutex<Queue>,
    signal: Condvar,
    /// Why the store refuses writes, once it does.
    trouble: Arc<Trouble>,
}

#[derive(Default)]
struct Queue {
    entries: Vec<(ObjectId, Position)>,
    /// The last batch whose entries are all in `entries` or written.
    through: u64,
    stop: bool,
}

impl Positions {
    /// Opens the table: reads the watermark, finds what is missing behind it, starts the thread. Returns the number of
    /// the last batch known. Should the thread fail, it says why in `trouble`.
    pub(crate) fn open(tree: sled::Tree, trouble: Arc<Trouble>) -> Result<(Self, u64), StoreError> {
        Self::open_with(tree, trouble, write_run)
    }

    /// Opens the table with a way of the caller's to write a run.
    pub(crate) fn open_with(
        tree: sled::Tree,
        trouble: Arc<Trouble>,
        write_run: impl Fn(&sled::Tree, &mut Run) -> sled::Result<()> + Send + 'static,
    ) -> Result<(Self, u64), StoreError> {
        let watermark = match tree.get(keys::watermark()).map_err(error::read)? {
            None => 0,
            Some(row) => rows::read_number(&row).map_err(error::row("the watermark of positions"))?,
        };
        let mut queue = Queue { through: watermark, ..Queue::default() };
        let from = keys::object(Position { batch: watermark.saturating_add(1), place: 0 });
        let end = keys::end_of(&keys::key(Space::Object, &[]));
        for row in tree.range(from.as_slice()..end.as_slice()) {
            let (key, value) = row.map_err(error::read)?;
            let position = Position::from_bytes(keys::inside(&key))
                .ok_or_else(|| error::damaged("an object row", "its key is no position"))?;
            for entry in objects::entries(&value).map_err(error::row("an object row"))? {
                let entry = entry.map_err(error::row("an object row"))?;
                queue.entries.push((entry.header.id, position));
            }
            queue.through = position.batch;
        }
        // Numbers are never given out twice, so chunks of records count as well.
        let chunks = keys::key(Space::Chunk, &[]);
        let last_chunk = tree.range(chunks.clone()..keys::end_of(&chunks)).next_back().transpose();
        let last_chunk = last_chunk
            .map_err(error::read)?
            .and_then(|(key, _)| Position::from_bytes(keys::inside(&key).get(..keys::POSITION_BYTES)?));
        let last_batch = queue.through.max(last_chunk.map_or(0, |position| position.batch));
        Ok((Self::start(tree, queue, trouble, write_run)?, last_batch))
    }

    /// Opens the table of a damaged store, without what cannot be read: all objects are looked at. Returns as
    /// [`Positions::open`] does.
    pub(crate) fn salvage(tree: sled::Tree, trouble: Arc<Trouble>) -> Result<(Self, u64), StoreError> {
        let objects = keys::key(Space::Object, &[]);
        let end = keys::end_of(&objects);
        let mut queue = Queue::default();
        for (key, value) in Walk::new(&tree, objects, end).flatten() {
            let Some(position) = Position::from_bytes(keys::inside(&key)) else { continue };
            let entries = objects::entries(&value).into_iter().flatten().map_while(Result::ok);
            queue.entries.extend(entries.map(|entry| (entry.header.id, position)));
            queue.through = position.batch;
        }
        let last_batch = queue.through;
        Ok((Self::start(tree, queue, trouble, write_run)?, last_batch))
    }

    /// Starts the thread with what is not in the table yet.
    fn start(
        tree: sled::Tree,
        queue: Queue,
        trouble: Arc<Trouble>,
        write_run: impl Fn(&sled::Tree, &mut Run) -> sled::Result<()> + Send + 'static,
    ) -> Result<Self, StoreError> {
        let recent = queue.entries.iter().copied().collect();
        let shared = Arc::new(Shared {
            recent: RwLock::new(recent),
            queue: Mutex::new(queue),
            signal: Condvar::new(),
            trouble,
        });
        let thread = std::thread::Builder::new()
            .name("lochan-positions".into())
            .spawn({
                let (tree, shared) = (tree.clone(), Arc::clone(&shared));
                move || watch(&shared, || run(&tree, &shared, write_run))
            })
            .map_err(|error| StoreError::Open(format!("cannot start a thread: {error}")))?;
        Ok(Self { tree, shared, thread: Some(thread), damaged: Mutex::default() })
    }

    /// Waits while far too many entries have not been written. Refused once nobody writes them any more.
    pub(crate) fn wait_for_room(&self) -> Result<(), StoreError> {
        let begun = Instant::now();
        let mut queue = lock(&self.shared.queue);
        loop {
            self.shared.trouble.check()?;
            if queue.entries.len() < WAITING_ENTRIES_MAX {
                return Ok(());
            }
            let left = ROOM_WAIT_MAX.saturating_sub(begun.elapsed());
            if left.is_zero() {
                drop(queue);
                self.shared.trouble.tell(Cause::other("the table of object positions takes nothing in"));
                return self.shared.trouble.check();
            }
            queue = self.shared.signal.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Entries that wait to be written.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        lock(&self.shared.queue).entries.len()
    }

    /// Takes the entries of a durable batch, its number being `batch`.
    pub(crate) fn add(&self, batch: u64, entries: Vec<(ObjectId, Position)>) {
        if entries.is_empty() {
            return;
        }
        write(&self.shared.recent).extend(entries.iter().copied());
        let mut queue = lock(&self.shared.queue);
        queue.entries.extend(entries);
        queue.through = batch;
        if queue.entries.len() >= RUN_ENTRIES {
            self.shared.signal.notify_all();
        }
    }

    /// The position of an object put lately, without a look at the tree.
    pub(crate) fn recent(&self, id: ObjectId) -> Option<Position> {
        self.shared.recent.read().unwrap_or_else(PoisonError::into_inner).get(&id).copied()
    }

    /// Where the tree says that `id` may stand, best guess first.
    pub(crate) fn written(&self, id: ObjectId) -> Result<Vec<Position>, StoreError> {
        let row = self.tree.get(keys::position(id)).map_err(error::read).and_then(|row| {
            let positions = row.map(|row| rows::read_positions(&row)).transpose();
            positions.map_err(error::row("a row of positions"))
        });
        match row {
            Ok(found) => Ok(found.unwrap_or_default().into_iter().rev().collect()),
            Err(StoreError::Corrupt { what, detail }) => {
                self.find_again(what, &detail)?;
                Ok(self.recent(id).into_iter().collect())
            }
            Err(error) => Err(error),
        }
    }

    /// A part of the table, `place`, cannot be read: finds what it led to by looking at the objects themselves, and keeps
    /// it in memory. Once for each place: it is the same after that.
    fn find_again(&self, place: String, detail: &str) -> Result<(), StoreError> {
        let mut known = lock(&self.damaged);
        if known.contains(&place) || known.len() >= DAMAGED_PLACES_MAX {
            return Ok(());
        }
        tracing::warn!(
            place,
            detail,
            "a part of the table of object positions is damaged: all objects are looked at"
        );
        let space = keys::key(Space::Object, &[]);
        let end = keys::end_of(&space);
        let walk = Walk::new(&self.tree, space, end);
        for row in walk {
            let Ok((key, row)) = row else { continue };
            let (Some(position), Ok(entries)) =
                (Position::from_bytes(keys::inside(&key)), objects::entries(&row))
            else {
                continue;
            };
            for id in entries.flatten().map(|entry| entry.header.id) {
                let entry = self.tree.get(keys::position(id));
                if !entry.is_ok_and(|row| row.is_none_or(|row| rows::read_positions(&row).is_ok())) {
                    write(&self.shared.recent).insert(id, position);
                }
            }
        }
        known.insert(place);
        Ok(())
    }

    /// Objects put lately that may not be in the tree yet, with their positions.
    pub(crate) fn all_recent(&self) -> Vec<(ObjectId, Position)> {
        let recent = self.shared.recent.read().unwrap_or_else(PoisonError::into_inner);
        recent.iter().map(|(id, position)| (*id, *position)).collect()
    }

    /// Forgets a deleted object. The caller removes the row of the tree in the batch that deletes it.
    pub(crate) fn forget(&self, id: ObjectId) {
        write(&self.shared.recent).remove(&id);
    }

    /// Forgets that an object stands at `position`, from where it was deleted.
    pub(crate) fn forget_at(&self, id: ObjectId, position: Position) {
        let mut recent = write(&self.shared.recent);
        if recent.get(&id) == Some(&position) {
            recent.remove(&id);
        }
    }
}

impl Positions {
    /// Has the thread end once what waits is written.
    pub(crate) fn stop(&self) {
        lock(&self.shared.queue).stop = true;
        self.shared.signal.notify_all();
    }

    /// Whether the thread has ended.
    pub(crate) fn has_stopped(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Writes what waits and ends the thread.
    pub(crate) fn close(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            // It catches its panics; whatever it could not write is caught up at the next open.
            let _ = thread.join();
        }
    }
}

/// Runs the thread's work. A failure or panic of it makes the store refuse writes and wakes whoever waits for room.
fn watch(shared: &Shared, work: impl FnOnce() -> sled::Result<()>) {
    let cause = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return,
        Ok(Err(error)) => Cause::engine("the table of object positions cannot be written", &error),
        Err(_) => Cause::other("the engine panicked while the table of object positions was written"),
    };
    shared.trouble.tell(cause);
    // Whoever waits has looked at the cause under this lock, so nobody misses the signal.
    let _queue = lock(&shared.queue);
    shared.signal.notify_all();
}

fn run(
    tree: &sled::Tree,
    shared: &Shared,
    write_run: impl Fn(&sled::Tree, &mut Run) -> sled::Result<()>,
) -> sled::Result<()> {
    loop {
        let (mut run, stop) = {
            let mut queue = lock(&shared.queue);
            while queue.entries.len() < RUN_ENTRIES && !queue.stop {
                queue = shared.signal.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            let entries = std::mem::take(&mut queue.entries);
            (Run { entries, through: queue.through }, queue.stop)
        };
        shared.signal.notify_all();
        // After a failure nothing is written through this handle any more.
        if !run.entries.is_empty() && shared.trouble.cause().is_none() {
            write_run(tree, &mut run)?;
            shared.forget_written(&run.entries);
        }
        if stop {
            return Ok(());
        }
    }
}

impl Shared {
    fn forget_written(&self, entries: &[(ObjectId, Position)]) {
        for part in entries.chunks(FORGET_ENTRIES) {
            let mut recent = write(&self.recent);
            for (id, position) in part {
                if recent.get(id) == Some(position) {
                    recent.remove(id);
                }
            }
        }
    }
}

/// Writes a run into the table, in the order of its keys, and the watermark behind it.
fn write_run(tree: &sled::Tree, run: &mut Run) -> sled::Result<()> {
    run.entries.sort_unstable();
    let mut row = Vec::with_capacity(32);
    let mut failed = None;
    run.entries.retain(|(id, position)| {
        let key = keys::position(*id);
        row.clear();
        // Another object may share the key, or the same one was put twice: keep both. A row that cannot be decoded is
        // kept too; reading it says so.
        let written = tree.get(key).and_then(|old| {
            // After a crash batches are found again that had come so far.
            let known = old.as_ref().and_then(|old| rows::read_positions(old).ok());
            if known.is_some_and(|known| known.contains(position)) {
                return Ok(None);
            }
            row.extend_from_slice(&old.unwrap_or_default());
            rows::write_position(*position, &mut row);
            tree.insert(key, row.as_slice())
        });
        match written {
            Ok(_) => true,
            // Into a damaged page nothing can be written: the entry stays in memory, and is found again from there.
            Err(sled::Error::Corruption { .. }) => false,
            Err(error) => {
                failed.get_or_insert(error);
                false
            }
        }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    // The log of the engine keeps the order of writes, so a watermark found after a crash vouches for its entries.
    tree.insert(keys::watermark(), rows::write_number(run.through))?;
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

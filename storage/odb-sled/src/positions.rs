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
    engine::Engine,
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
/// Entries that are written before it is seen how much of the log they have brought about.
const PART_ENTRIES: usize = 64;
/// What an entry costs the engine, in bytes of rows: for every tenth it writes a leaf anew and may move a page of large rows.
const ENTRY_BYTES: usize = 512;
/// Longest wait of a commit for others to be written.
const ROOM_WAIT_MAX: Duration = Duration::from_secs(30);
/// Damaged places of the table for which all objects are looked at.
const DAMAGED_PLACES_MAX: usize = 64;
/// Entries forgotten under one lock after they were written.
const FORGET_ENTRIES: usize = 256;

/// The table, with the entries not yet in it.
pub(crate) struct Positions {
    engine: Arc<Engine>,
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

/// What the table in the tree lacks when a store is opened.
#[derive(Default)]
pub(crate) struct Missing {
    entries: Vec<(ObjectId, Position)>,
    /// The last batch that they complete.
    through: u64,
    /// The last batch of which anything is in the tree.
    pub last_batch: u64,
}

impl Missing {
    /// Adds the objects of a row that stands behind all others, as far as it can be read.
    fn add(&mut self, key: &[u8], value: &[u8], stored: u64) -> Result<(), StoreError> {
        let position = Position::from_bytes(keys::inside(key))
            .ok_or_else(|| error::damaged("an object row", "its key is no position"))?;
        self.last_batch = position.batch;
        // Of a large batch a part may be there alone; the others follow from the journal.
        self.through = self.through.max(position.batch.min(stored));
        for entry in objects::entries(value).map_err(error::row("an object row"))? {
            let entry = entry.map_err(error::row("an object row"))?;
            self.entries.push((entry.header.id, position));
        }
        Ok(())
    }
}

struct Shared {
    /// Entries not surely in the tree yet.
    recent: RwLock<HashMap<ObjectId, Position>>,
    queue: Mutex<Queue>,
    signal: Condvar,
    /// Why the store refuses writes, once it does.
    trouble: Arc<Trouble>,
}

struct Queue {
    entries: Vec<(ObjectId, Position)>,
    /// The last batch whose entries are all in `entries` or written.
    through: u64,
    stop: bool,
}

impl Positions {
    /// Reads the watermark and finds what is missing behind it. Batches up to `stored` are whole in the tree.
    pub(crate) fn find(tree: &sled::Tree, stored: u64) -> Result<Missing, StoreError> {
        let watermark = match tree.get(keys::watermark()).map_err(error::read)? {
            None => 0,
            Some(row) => rows::read_number(&row).map_err(error::row("the watermark of positions"))?,
        };
        let mut missing = Missing { through: watermark, last_batch: watermark, ..Missing::default() };
        let from = keys::object(Position { batch: watermark.saturating_add(1), place: 0 });
        let end = keys::end_of(&keys::key(Space::Object, &[]));
        for row in tree.range(from.as_slice()..end.as_slice()) {
            let (key, value) = row.map_err(error::read)?;
            missing.add(&key, &value, stored)?;
        }
        // Numbers are never given out twice, so chunks of records count as well.
        let chunks = keys::key(Space::Chunk, &[]);
        let last_chunk = tree.range(chunks.clone()..keys::end_of(&chunks)).next_back().transpose();
        let last_chunk = last_chunk
            .map_err(error::read)?
            .and_then(|(key, _)| Position::from_bytes(keys::inside(&key).get(..keys::POSITION_BYTES)?));
        missing.last_batch = missing.last_batch.max(last_chunk.map_or(0, |position| position.batch));
        Ok(missing)
    }

    /// Finds what is missing in a damaged store, without what cannot be read: all objects are looked at.
    pub(crate) fn salvage(tree: &sled::Tree, stored: u64) -> Missing {
        let mut missing = Missing::default();
        let objects = keys::key(Space::Object, &[]);
        let end = keys::end_of(&objects);
        for (key, value) in Walk::new(tree, objects, end).flatten() {
            // Of a row that cannot be read to its end, what stands in front of that.
            let _ = missing.add(&key, &value, stored);
        }
        missing
    }

    /// Opens the table, of which so much is missing: starts the thread. Should that fail, it says why in `trouble`.
    pub(crate) fn open(
        engine: Arc<Engine>,
        missing: Missing,
        trouble: Arc<Trouble>,
    ) -> Result<Self, StoreError> {
        Self::open_with(engine, missing, trouble, write_run)
    }

    /// Opens the table with a way of the caller's to write a run.
    pub(crate) fn open_with(
        engine: Arc<Engine>,
        Missing { entries, through, .. }: Missing,
        trouble: Arc<Trouble>,
        write_run: impl Fn(&Engine, &mut Run) -> Result<(), Cause> + Send + 'static,
    ) -> Result<Self, StoreError> {
        let queue = Queue { entries, through, stop: false };
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
                let (engine, shared) = (Arc::clone(&engine), Arc::clone(&shared));
                move || watch(&shared, || run(&engine, &shared, write_run))
            })
            .map_err(|error| StoreError::Open(format!("cannot start a thread: {error}")))?;
        Ok(Self { engine, shared, thread: Some(thread), damaged: Mutex::default() })
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
        let row = self.engine.tree.get(keys::position(id)).map_err(error::read).and_then(|row| {
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
        let walk = Walk::new(&self.engine.tree, space, end);
        for row in walk {
            let Ok((key, row)) = row else { continue };
            let (Some(position), Ok(entries)) =
                (Position::from_bytes(keys::inside(&key)), objects::entries(&row))
            else {
                continue;
            };
            for id in entries.flatten().map(|entry| entry.header.id) {
                let entry = self.engine.tree.get(keys::position(id));
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
fn watch(shared: &Shared, work: impl FnOnce() -> Result<(), Cause>) {
    let cause = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return,
        Ok(Err(cause)) => cause.at("the table of object positions cannot be written"),
        Err(_) => Cause::other("the engine panicked while the table of object positions was written"),
    };
    shared.trouble.tell(cause);
    // Whoever waits has looked at the cause under this lock, so nobody misses the signal.
    let _queue = lock(&shared.queue);
    shared.signal.notify_all();
}

fn run(
    engine: &Engine,
    shared: &Shared,
    write_run: impl Fn(&Engine, &mut Run) -> Result<(), Cause>,
) -> Result<(), Cause> {
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
            write_run(engine, &mut run)?;
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

/// Writes a run into the table, in the order of its keys, and the watermark behind it. Entries stay in the run that are in the
/// table then.
fn write_run(engine: &Engine, run: &mut Run) -> Result<(), Cause> {
    let failed = |error| Cause::engine("write failed", &error);
    run.entries.sort_unstable();
    let mut written = Vec::with_capacity(run.entries.len());
    for part in run.entries.chunks(PART_ENTRIES) {
        let _room = engine.room(part.len() * ENTRY_BYTES)?;
        for (id, position) in part {
            match write_entry(&engine.tree, *id, *position) {
                Ok(()) => written.push((*id, *position)),
                // Into a damaged page nothing can be written: the entry stays in memory, and is found again from there.
                Err(sled::Error::Corruption { .. }) => {}
                Err(error) => return Err(failed(error)),
            }
        }
    }
    run.entries = written;
    // The log of the engine keeps the order of writes, so a watermark found after a crash vouches for its entries.
    engine.tree.insert(keys::watermark(), rows::write_number(run.through)).map(drop).map_err(failed)
}

fn write_entry(tree: &sled::Tree, id: ObjectId, position: Position) -> sled::Result<()> {
    let key = keys::position(id);
    // Another object may share the key, or the same one was put twice: keep both. A row that cannot be decoded is
    // kept too; reading it says so.
    let old = tree.get(key)?;
    // After a crash batches are found again that had come so far.
    let known = old.as_ref().and_then(|old| rows::read_positions(old).ok());
    if known.is_some_and(|known| known.contains(&position)) {
        return Ok(());
    }
    let mut row = old.map_or_else(|| Vec::with_capacity(16), |old| old.to_vec());
    rows::write_position(position, &mut row);
    tree.insert(key, row).map(drop)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

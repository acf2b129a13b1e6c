//! The table from object id to position.
//!
//! It is derived: random keys cost sled far more than ascending ones, so new entries wait in memory and a thread of its
//! own writes them in sorted runs. They ride along with later syncs. A watermark says which batches are in the table;
//! what is missing behind it is found again at open by scanning the objects themselves. An entry is only a hint: the
//! row at the position says which object really stands there.

use std::{
    collections::HashMap,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock},
    thread::JoinHandle,
};

use lochan_storage_model::ObjectId;
use lochan_storage_odb::StoreError;

use crate::{
    error,
    keys::{self, Position, Space},
    rows,
};

/// Entries that wait before the thread writes them. Also what an open has to scan again at most, after a kill at rest.
const RUN_ENTRIES: usize = 8 * 1024;
/// Entries that wait before commits wait too.
const WAITING_ENTRIES_MAX: usize = 64 * 1024;
/// Entries forgotten under one lock after they were written.
const FORGET_ENTRIES: usize = 256;

/// The table, with the entries not yet in it.
pub(crate) struct Positions {
    tree: sled::Tree,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    /// Entries not surely in the tree yet.
    recent: RwLock<HashMap<ObjectId, Position>>,
    queue: Mutex<Queue>,
    signal: Condvar,
}

#[derive(Default)]
struct Queue {
    entries: Vec<(ObjectId, Position)>,
    /// The last batch whose entries are all in `entries` or written.
    through: u64,
    stop: bool,
    failed: bool,
}

impl Positions {
    /// Opens the table: reads the watermark, finds what is missing behind it, starts the thread. Returns the number of
    /// the last batch known.
    pub(crate) fn open(tree: sled::Tree) -> Result<(Self, u64), StoreError> {
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
            let (header, _) = rows::ObjectHeader::read(&value).map_err(error::row("an object row"))?;
            queue.entries.push((header.id, position));
            queue.through = position.batch;
        }
        // Numbers are never given out twice, so chunks of records count as well.
        let chunks = keys::key(Space::Chunk, &[]);
        let last_chunk = tree.range(chunks.clone()..keys::end_of(&chunks)).next_back().transpose();
        let last_chunk = last_chunk
            .map_err(error::read)?
            .and_then(|(key, _)| Position::from_bytes(keys::inside(&key).get(..keys::POSITION_BYTES)?));
        let last_batch = queue.through.max(last_chunk.map_or(0, |position| position.batch));
        let shared = Arc::new(Shared::default());
        write(&shared.recent).extend(queue.entries.iter().copied());
        *lock(&shared.queue) = queue;
        let thread = std::thread::Builder::new()
            .name("lochan-positions".into())
            .spawn({
                let (tree, shared) = (tree.clone(), Arc::clone(&shared));
                move || run(&tree, &shared)
            })
            .map_err(|error| StoreError::Open(format!("cannot start a thread: {error}")))?;
        Ok((Self { tree, shared, thread: Some(thread) }, last_batch))
    }

    /// Waits while far too many entries have not been written.
    pub(crate) fn wait_for_room(&self) {
        let mut queue = lock(&self.shared.queue);
        while queue.entries.len() >= WAITING_ENTRIES_MAX && !queue.failed {
            queue = self.shared.signal.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
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
        let mut found = match self.tree.get(keys::position(id)).map_err(error::read)? {
            None => Vec::new(),
            Some(row) => rows::read_positions(&row).map_err(error::row("a row of positions"))?,
        };
        found.reverse();
        Ok(found)
    }

    /// Forgets a deleted object. The caller removes the row of the tree in the batch that deletes it.
    pub(crate) fn forget(&self, id: ObjectId) {
        write(&self.shared.recent).remove(&id);
    }
}

impl Positions {
    /// Writes what waits and ends the thread.
    pub(crate) fn close(&mut self) {
        lock(&self.shared.queue).stop = true;
        self.shared.signal.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported where it happened; the table is caught up at the next open.
            let _ = thread.join();
        }
    }
}

fn run(tree: &sled::Tree, shared: &Shared) {
    loop {
        let (entries, through, stop) = {
            let mut queue = lock(&shared.queue);
            while queue.entries.len() < RUN_ENTRIES && !queue.stop {
                queue = shared.signal.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
            let entries = std::mem::take(&mut queue.entries);
            (entries, queue.through, queue.stop)
        };
        shared.signal.notify_all();
        if !entries.is_empty()
            && let Err(error) = write_run(tree, shared, entries, through)
        {
            tracing::error!(%error, "the table of object positions is not written any more");
            lock(&shared.queue).failed = true;
            shared.signal.notify_all();
            return;
        }
        if stop {
            return;
        }
    }
}

fn write_run(
    tree: &sled::Tree,
    shared: &Shared,
    mut entries: Vec<(ObjectId, Position)>,
    through: u64,
) -> sled::Result<()> {
    entries.sort_unstable();
    let mut row = Vec::with_capacity(32);
    for (id, position) in &entries {
        let key = keys::position(*id);
        row.clear();
        // Another object may share the key, or the same one was put twice: keep both. A row that cannot be read is
        // kept too; reading it says so.
        if let Some(old) = tree.get(key)? {
            row.extend_from_slice(&old);
        }
        rows::write_position(*position, &mut row);
        tree.insert(key, row.as_slice())?;
    }
    // The log of the engine keeps the order of writes, so a watermark found after a crash vouches for its entries.
    tree.insert(keys::watermark(), rows::write_number(through))?;
    for part in entries.chunks(FORGET_ENTRIES) {
        let mut recent = write(&shared.recent);
        for (id, position) in part {
            if recent.get(id) == Some(position) {
                recent.remove(id);
            }
        }
    }
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

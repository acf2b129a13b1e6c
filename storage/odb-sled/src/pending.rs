//! What is durable in the journal and not yet in the engine: readers see it over the tree, and a thread takes it in.
//!
//! Beside it stand the references that were moved of late: they are read with every request, and their rows are the most
//! rewritten of all.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    ops::Bound,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::{Duration, Instant},
};

use lochan_storage_model::RefName;
use lochan_storage_odb::{Reference, StoreError, stage::Staged};
use sled::IVec;

use crate::{
    batch::{self, PIECE_BYTES, Piece, Row, Rows},
    keys::{self, Space},
    trouble::{Cause, Trouble},
};

/// Rows that are taken in at once, in bytes, but for a batch that has more.
const GROUP_BYTES: usize = PIECE_BYTES;
/// Longest time that rows wait for others.
const GROUP_WAIT_MAX: Duration = Duration::from_millis(50);
/// Rows that wait before batches wait too, in bytes. Also what a start has to take in.
const WAITING_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest wait of a batch for the engine to take in anything at all.
const ROOM_WAIT_MAX: Duration = Duration::from_secs(30);
/// How often whoever waits looks for a failure that was not told.
const LOOK_PAUSE: Duration = Duration::from_millis(250);
/// References kept in memory after a batch moved them.
const MOVED_MAX: usize = 4_096;

/// A reference that a batch moves: its state before and after.
pub(crate) type Move = (RefName, Option<Reference>, Option<Reference>);

/// The references that `staged` moves.
pub(crate) fn moves(staged: &Staged) -> Vec<Move> {
    let changed = staged.references.iter().filter(|(_, reference)| !reference.entries.is_empty());
    changed
        .map(|(name, reference)| (name.clone(), reference.before.clone(), reference.after.clone()))
        .collect()
}

/// Batches on their way from the journal into the engine.
pub(crate) struct Pending {
    shown: RwLock<Shown>,
    queue: Mutex<Queue>,
    signal: Condvar,
    /// Held alone while rows enter the tree, so that a scan sees each batch whole or not at all.
    entering: RwLock<()>,
    trouble: Arc<Trouble>,
    /// Whether a thread takes in what waits.
    is_drained: bool,
}

/// What readers see instead of the tree.
#[derive(Default)]
struct Shown {
    /// The latest state of each row, and the batch that made it.
    rows: BTreeMap<IVec, (u64, Option<IVec>)>,
    /// References as the latest batches have made them.
    moved: HashMap<RefName, Option<Reference>>,
    /// What the batch moves that is not durable yet; after a failure it stays.
    under_way: Vec<Move>,
}

#[derive(Default)]
struct Queue {
    batches: VecDeque<Arc<Waiting>>,
    bytes: usize,
    /// The last batch that is durable in the engine.
    stored: u64,
    /// Grows with whatever enters the engine.
    steps: u64,
    /// How many wait for the queue to become empty.
    hurrying: usize,
    stop: bool,
}

struct Waiting {
    batch: u64,
    since: Instant,
    rows: Rows,
}

/// The rows of some batches, each as the last of them makes it.
pub(crate) struct Group {
    pub rows: BTreeMap<IVec, Row>,
    /// The last of the batches.
    pub through: u64,
}

impl Pending {
    /// Nothing waits; the engine holds everything up to batch `stored`. Unless it `is_drained`, what will wait stays.
    pub(crate) fn new(stored: u64, is_drained: bool, trouble: Arc<Trouble>) -> Self {
        Self {
            shown: RwLock::default(),
            queue: Mutex::new(Queue { stored, ..Queue::default() }),
            signal: Condvar::new(),
            entering: RwLock::default(),
            trouble,
            is_drained,
        }
    }

    /// The last batch that is seen.
    pub(crate) fn last(&self) -> u64 {
        let queue = self.queue();
        queue.batches.back().map_or(queue.stored, |waiting| waiting.batch)
    }

    /// The last batch that is durable in the engine.
    pub(crate) fn stored(&self) -> u64 {
        self.queue().stored
    }

    /// A row that waits: what stands there, or that none does. `None` if the tree is right.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Option<IVec>> {
        self.shown().rows.get(key).map(|(_, value)| value.clone())
    }

    /// The rows that wait from `start` to before `end`, in order.
    pub(crate) fn range(&self, start: &[u8], end: &[u8]) -> Vec<(IVec, Option<IVec>)> {
        if start >= end {
            return Vec::new();
        }
        let shown = self.shown();
        let range = shown.rows.range::<[u8], _>((Bound::Included(start), Bound::Excluded(end)));
        range.map(|(key, (_, value))| (key.clone(), value.clone())).collect()
    }

    /// The first key that waits from `start` to before `end`, and whether a row stands there.
    pub(crate) fn first(&self, start: &[u8], end: &[u8]) -> Option<(IVec, bool)> {
        let shown = self.shown();
        let mut rows = shown.rows.range::<[u8], _>((Bound::Included(start), Bound::Unbounded));
        let (key, (_, value)) = rows.next().filter(|(key, _)| key.as_ref() < end)?;
        Some((key.clone(), value.is_some()))
    }

    /// A reference that was moved of late.
    pub(crate) fn moved(&self, name: &RefName) -> Option<Option<Reference>> {
        self.shown().moved.get(name).cloned()
    }

    /// Every reference moved of late, with the states in which it may be: two if a batch that moves it has failed.
    pub(crate) fn promised(&self) -> Vec<(RefName, Vec<Option<Reference>>)> {
        let shown = self.shown();
        let is_under_way = |name: &RefName| shown.under_way.iter().any(|(moving, ..)| moving == name);
        let settled = shown.moved.iter().filter(|(name, _)| !is_under_way(name));
        let moving = shown.under_way.iter();
        settled
            .map(|(name, state)| (name.clone(), vec![state.clone()]))
            .chain(moving.map(|(name, before, after)| (name.clone(), vec![before.clone(), after.clone()])))
            .collect()
    }

    /// Forgets the references moved of late, as a restart does.
    #[cfg(test)]
    pub(crate) fn forget_moved(&self) {
        self.shown_mut().moved.clear();
    }

    /// Waits until there is room for a batch.
    pub(crate) fn wait_for_room(&self) -> Result<(), StoreError> {
        let mut begun = Instant::now();
        let mut queue = self.queue();
        let mut steps = queue.steps;
        loop {
            self.trouble.check()?;
            if queue.bytes < WAITING_BYTES_MAX || !self.is_drained {
                return Ok(());
            }
            if queue.steps > steps {
                (begun, steps) = (Instant::now(), queue.steps);
            }
            let left = ROOM_WAIT_MAX.saturating_sub(begun.elapsed());
            if left.is_zero() {
                drop(queue);
                self.trouble.tell(Cause::other("the engine takes nothing in"));
                return self.trouble.check();
            }
            queue = self.signal.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A batch that moves these references is on its way into the journal.
    pub(crate) fn begin(&self, moves: Vec<Move>) {
        self.shown_mut().under_way = moves;
    }

    /// The batch under way is durable: from now on it is seen.
    pub(crate) fn publish(&self, batch: u64, rows: Rows) {
        let mut shown = self.shown_mut();
        let moves = std::mem::take(&mut shown.under_way);
        if shown.moved.len() + moves.len() > MOVED_MAX {
            shown.moved.clear();
        }
        shown.moved.extend(moves.into_iter().map(|(name, _, after)| (name, after)));
        for Row { key, value, .. } in rows.iter() {
            shown.rows.insert(key.clone(), (batch, value.clone()));
        }
        drop(shown);
        let mut queue = self.queue();
        let before = queue.bytes;
        let is_first = queue.batches.is_empty();
        queue.bytes += rows.bytes();
        queue.batches.push_back(Arc::new(Waiting { batch, since: Instant::now(), rows }));
        if is_first || (before < GROUP_BYTES && queue.bytes >= GROUP_BYTES) {
            self.signal.notify_all();
        }
    }

    /// Waits until everything published so far is durable in the engine.
    pub(crate) fn settle(&self) -> Result<(), StoreError> {
        let mut queue = self.queue();
        let Some(last) = queue.batches.back().map(|waiting| waiting.batch) else { return Ok(()) };
        if !self.is_drained {
            return Err(StoreError::WritesRefused("the store is damaged and takes nothing in".into()));
        }
        queue.hurrying += 1;
        self.signal.notify_all();
        let settled = loop {
            if queue.stored >= last {
                break Ok(());
            }
            if let Err(refused) = self.trouble.check() {
                break Err(refused);
            }
            // Not every failure is told here.
            queue = self.signal.wait_timeout(queue, LOOK_PAUSE).unwrap_or_else(PoisonError::into_inner).0;
        };
        queue.hurrying -= 1;
        settled
    }

    /// As [`Pending::settle`] if a derived row waits: such rows are also written past the journal, and must not be
    /// overtaken.
    pub(crate) fn settle_derived(&self) -> Result<(), StoreError> {
        let waits = self.queue().batches.iter().any(|waiting| waiting.rows.has_derived());
        if waits { self.settle() } else { Ok(()) }
    }

    /// Keeps rows from entering the tree as long as it is held.
    pub(crate) fn still(&self) -> RwLockReadGuard<'_, ()> {
        self.entering.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Held while rows enter the tree.
    pub(crate) fn entering(&self) -> RwLockWriteGuard<'_, ()> {
        self.entering.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for rows to take in; `None` at the end, or after a failure.
    pub(crate) fn next(&self) -> Option<Group> {
        let mut queue = self.queue();
        loop {
            if self.trouble.cause().is_some() {
                // Whoever waits has looked for a cause under this lock, so nobody misses the signal.
                self.signal.notify_all();
                return None;
            }
            let Some(since) = queue.batches.front().map(|waiting| waiting.since) else {
                if queue.stop {
                    return None;
                }
                queue = self.signal.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = GROUP_WAIT_MAX.saturating_sub(since.elapsed());
            if queue.bytes >= GROUP_BYTES || queue.hurrying > 0 || queue.stop || left.is_zero() {
                break;
            }
            queue = self.signal.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let mut taken: Vec<Arc<Waiting>> = Vec::new();
        let mut bytes = 0;
        for waiting in &queue.batches {
            if !taken.is_empty() && bytes + waiting.rows.bytes() > GROUP_BYTES {
                break;
            }
            bytes += waiting.rows.bytes();
            taken.push(Arc::clone(waiting));
        }
        drop(queue);
        Some(Group::of(&taken))
    }

    /// Notes that some rows have entered the engine: it is not stuck.
    pub(crate) fn step(&self) {
        self.queue().steps += 1;
    }

    /// A group is durable in the engine.
    pub(crate) fn stored_through(&self, group: &Group) {
        let mut shown = self.shown_mut();
        for key in group.rows.keys() {
            if shown.rows.get(key).is_some_and(|(batch, _)| *batch <= group.through) {
                shown.rows.remove(key);
            }
        }
        drop(shown);
        let mut queue = self.queue();
        while let Some(waiting) = queue.batches.pop_front_if(|waiting| waiting.batch <= group.through) {
            queue.bytes -= waiting.rows.bytes();
        }
        queue.stored = group.through;
        queue.steps += 1;
        self.signal.notify_all();
    }

    /// Has everyone who waits look for a cause.
    pub(crate) fn wake(&self) {
        let _queue = self.queue();
        self.signal.notify_all();
    }

    /// Has [`Pending::next`] end when nothing waits any more, or at once after a failure.
    pub(crate) fn stop(&self) {
        self.queue().stop = true;
        self.signal.notify_all();
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shown(&self) -> RwLockReadGuard<'_, Shown> {
        self.shown.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn shown_mut(&self) -> RwLockWriteGuard<'_, Shown> {
        self.shown.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Group {
    /// The rows in the pieces in which they enter the tree one after another: in a single one, unless that is too much for the
    /// engine. Whoever reads sees what waits over the tree, and after a crash the journal has it all, so nobody sees a half. Even
    /// so the order is one in which a half does no harm: what nothing leads to yet comes first, what nothing leads to any more
    /// last, and everything in between stays together if it can.
    pub(crate) fn pieces(&self) -> Vec<Piece<'_>> {
        if batch::cost(self.rows.values()) <= PIECE_BYTES {
            return vec![self.whole()];
        }
        let [mut chunks, mut objects, mut others, mut gone] = <[Vec<&Row>; 4]>::default();
        for row in self.rows.values() {
            let is_chunk = keys::is_in(&row.key, Space::Chunk);
            match &row.value {
                Some(_) if is_chunk => chunks.push(row),
                None if is_chunk => gone.push(row),
                _ if keys::is_in(&row.key, Space::Object) => objects.push(row),
                _ => others.push(row),
            }
        }
        chunks.append(&mut objects);
        let stages = [chunks, others, gone].into_iter().filter(|stage| !stage.is_empty());
        stages.flat_map(batch::pieces).collect()
    }

    /// The rows in one piece, however many.
    pub(crate) fn whole(&self) -> Piece<'_> {
        Piece::whole(self.rows.values().collect())
    }

    fn of(batches: &[Arc<Waiting>]) -> Self {
        let mut group = Self { rows: BTreeMap::new(), through: 0 };
        for waiting in batches {
            for row in waiting.rows.iter() {
                group
                    .rows
                    .entry(row.key.clone())
                    // What was new to the first of them is new to all.
                    .and_modify(|known| known.value.clone_from(&row.value))
                    .or_insert_with(|| row.clone());
            }
            group.through = waiting.batch;
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending() -> Pending {
        Pending::new(0, true, Arc::new(Trouble::none(Arc::default())))
    }

    fn rows(key: &str, value: &[u8]) -> Rows {
        let mut rows = Rows::default();
        rows.insert(key, value);
        rows
    }

    fn value(pending: &Pending, key: &str) -> Option<Option<Vec<u8>>> {
        pending.get(key.as_bytes()).map(|value| value.map(|value| value.to_vec()))
    }

    #[test]
    fn the_latest_state_shows_until_it_has_arrived() {
        let pending = pending();
        pending.publish(1, rows("a", b"1"));
        pending.publish(2, rows("b", b"2"));
        let group = {
            pending.stop();
            pending.next().unwrap()
        };
        assert_eq!((group.through, group.rows.len()), (2, 2));
        pending.publish(3, rows("a", b"3"));
        let mut gone = Rows::default();
        gone.remove("c");
        pending.publish(4, gone);
        pending.stored_through(&group);
        assert_eq!(value(&pending, "a"), Some(Some(b"3".to_vec())));
        assert_eq!(value(&pending, "b"), None);
        assert_eq!(value(&pending, "c"), Some(None), "that a row is gone shows too");
        assert_eq!(pending.range(b"a", b"c").len(), 1);
        assert_eq!(pending.range(b"c", b"a").len(), 0);
        assert_eq!(pending.stored(), 2);
        let group = pending.next().unwrap();
        pending.stored_through(&group);
        assert_eq!((pending.stored(), pending.range(b"", b"z").len()), (4, 0));
        assert!(pending.next().is_none());
        pending.settle().unwrap();
    }

    #[test]
    fn a_group_is_bounded_and_of_whole_batches() {
        let pending = pending();
        let half = vec![0; GROUP_BYTES / 2];
        for batch in 1..=3 {
            pending.publish(batch, rows("a", &half));
        }
        pending.publish(4, rows("b", &vec![0; 2 * GROUP_BYTES]));
        pending.stop();
        let mut taken = Vec::new();
        while let Some(group) = pending.next() {
            taken.push(group.through);
            pending.stored_through(&group);
        }
        assert_eq!(taken, [1, 2, 3, 4], "two halves with their keys are more than one group");
    }

    #[test]
    fn what_was_new_to_the_first_batch_is_new_to_the_group() {
        let pending = pending();
        let mut first = Rows::default();
        first.insert_new("new", "1");
        first.insert("old", "1");
        pending.publish(1, first);
        let mut second = Rows::default();
        second.remove("new");
        second.insert("old", "2");
        pending.publish(2, second);
        pending.stop();
        let group = pending.next().unwrap();
        let found: Vec<_> = group.rows.values().map(|row| (row.value.is_some(), row.is_new)).collect();
        assert_eq!(found, [(false, true), (true, false)]);
    }

    #[test]
    fn waiting_ends_when_the_engine_has_failed() {
        let trouble = Arc::new(Trouble::none(Arc::default()));
        let pending = Arc::new(Pending::new(0, true, Arc::clone(&trouble)));
        pending.publish(1, rows("a", &vec![0; WAITING_BYTES_MAX]));
        let waiting = std::thread::spawn({
            let pending = Arc::clone(&pending);
            move || (pending.wait_for_room(), pending.settle())
        });
        trouble.tell(Cause::other("it broke"));
        assert!(pending.next().is_none());
        let (room, settled) = waiting.join().unwrap();
        assert!(matches!(room, Err(StoreError::WritesRefused(_))), "{room:?}");
        assert!(matches!(settled, Err(StoreError::WritesRefused(_))), "{settled:?}");
    }
}

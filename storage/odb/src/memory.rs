//! The store of the tests: everything in ordered maps, and stricter than any real backend.
//!
//! On top of the contract it refuses an object whose id is not its hash, an id that already stands for other bytes, and
//! a reference to a commit that is not stored. A batch with such a fault is refused whole, since its maker is broken.

mod sweep;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    ops::Bound,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use async_trait::async_trait;
use bytes::Bytes;
use lochan_storage_model::{CommitId, ObjectId, ObjectKind, RefName};
use tokio::sync::watch;

use crate::{
    batch::{Batch, DerivedWrite, NewObject, Outcome},
    derived::DerivedSpace,
    error::StoreError,
    reference::{RefLogEntry, Reference},
    stage::{Durable, Staged, check_derived_bounds, stage},
    store::{Epoch, Record, RecordSpace, Store, Writes},
};

/// How a commit is made to fail, for tests of the callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The store has no room: nothing is applied, the next commit is tried again.
    Full,
    /// The outcome is unknown and nothing of the batch shows; writes are refused from now on.
    UnknownLost,
    /// The outcome is unknown, but the batch shows after [`Memory::restart`]; writes are refused until then.
    UnknownApplied,
}

/// How commits come back, for tests of the callers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Hold {
    /// At once.
    #[default]
    Free,
    /// Not before this changes.
    Held,
    /// Not before this changes, and the store says that it has stalled, and why.
    Stalled(String),
}

/// A store in memory.
#[derive(Debug)]
pub struct Memory {
    state: Mutex<State>,
    /// How commits come back.
    hold: watch::Sender<Hold>,
    /// Commits that wait.
    held: AtomicUsize,
}

/// A derived row as it was before a write.
type Replaced = ((DerivedSpace, Bytes), Option<Bytes>);

#[derive(Debug, Default)]
struct State {
    repository: [u8; 16],
    instance: [u8; 16],
    tables: Tables,
    /// State after a batch that failed with [`Failure::UnknownApplied`].
    behind_failure: Option<Tables>,
    fail_next: Option<Failure>,
    refused: Option<String>,
    /// What derived writes since the latest batch have replaced, one piece for each: a power cut may take them back.
    unsynced: Vec<Vec<Replaced>>,
}

#[derive(Debug, Default, Clone)]
struct Tables {
    objects: BTreeMap<(ObjectKind, ObjectId), Stored>,
    /// Objects in the order of their first put.
    order: BTreeMap<u64, (ObjectKind, ObjectId)>,
    /// The last number of that order.
    placed: u64,
    references: BTreeMap<RefName, Reference>,
    log: BTreeMap<RefName, BTreeMap<u64, RefLogEntry>>,
    requests: BTreeMap<[u8; 32], (RefName, u64)>,
    records: BTreeMap<(RecordSpace, Bytes), Record>,
    versions: BTreeMap<(RecordSpace, Bytes), u64>,
    numbers: BTreeMap<RefName, u64>,
    derived: BTreeMap<(DerivedSpace, Bytes), Bytes>,
    epoch: Epoch,
}

#[derive(Debug, Clone)]
struct Stored {
    bytes: Bytes,
    epoch: Epoch,
    /// Its number in the order of first puts.
    place: u64,
}

/// Stores made in this process; each is an instance of its own.
static INSTANCES: AtomicU64 = AtomicU64::new(1);

impl Default for Memory {
    fn default() -> Self {
        let instance = u128::from(INSTANCES.fetch_add(1, Ordering::Relaxed)).to_be_bytes();
        let state = State { repository: instance, instance, ..State::default() };
        Self { state: Mutex::new(state), hold: watch::Sender::default(), held: AtomicUsize::default() }
    }
}

impl Memory {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty store of a repository.
    #[must_use]
    pub fn of(repository: [u8; 16]) -> Self {
        let store = Self::new();
        store.lock().repository = repository;
        store
    }

    /// Makes the next commit fail that has something to write.
    pub fn fail_next_commit(&self, kind: Failure) {
        self.lock().fail_next = Some(kind);
    }

    /// Sets how commits come back.
    pub fn hold(&self, hold: Hold) {
        self.hold.send_replace(hold);
    }

    /// Number of commits that do not come back.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.load(Ordering::Acquire)
    }

    /// Does what a restart does after a failure: takes writes again, and shows what the failed batch left behind.
    pub fn restart(&self) {
        let mut state = self.lock();
        state.refused = None;
        state.fail_next = None;
        state.unsynced.clear();
        if let Some(tables) = state.behind_failure.take() {
            state.tables = tables;
        }
    }

    /// Number of derived writes that no batch has made durable.
    #[must_use]
    pub fn unsynced_len(&self) -> usize {
        self.lock().unsynced.len()
    }

    /// Does what a power cut and a restart do: of the derived writes since the latest batch the first `keep` stay.
    pub fn power_cut(&self, keep: usize) {
        let mut state = self.lock();
        while state.unsynced.len() > keep {
            let replaced = state.unsynced.pop().unwrap_or_default();
            for (key, value) in replaced.into_iter().rev() {
                match value {
                    Some(value) => state.tables.derived.insert(key, value),
                    None => state.tables.derived.remove(&key),
                };
            }
        }
        drop(state);
        self.restart();
    }

    /// Number of stored objects.
    #[must_use]
    pub fn objects_len(&self) -> usize {
        self.lock().tables.objects.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Tables are replaced or changed only after everything that can fail, so a panic elsewhere leaves them whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Durable for Tables {
    fn reference(&self, name: &RefName) -> Result<(Option<Reference>, u64), StoreError> {
        Ok((self.references.get(name).cloned(), self.numbers.get(name).copied().unwrap_or(0)))
    }

    fn record(&self, space: RecordSpace, key: &[u8]) -> Result<(Option<Record>, u64), StoreError> {
        let key = (space, Bytes::copy_from_slice(key));
        Ok((self.records.get(&key).cloned(), self.versions.get(&key).copied().unwrap_or(0)))
    }
}

impl Tables {
    /// Refuses what a correct caller never asks for.
    fn check(&self, staged: &Staged) -> Result<(), StoreError> {
        let mut fresh: BTreeMap<(ObjectKind, ObjectId), &Bytes> = BTreeMap::new();
        for NewObject { kind, id, bytes } in &staged.objects {
            if ObjectId::of(*kind, bytes) != *id {
                return Err(StoreError::corrupt_object(*id, "it was put with bytes of another hash"));
            }
            let known = self.objects.get(&(*kind, *id)).map(|stored| &stored.bytes);
            let known = known.or_else(|| fresh.get(&(*kind, *id)).copied());
            if known.is_some_and(|known| known != bytes) {
                return Err(StoreError::corrupt_object(*id, "it was put with other bytes before"));
            }
            fresh.insert((*kind, *id), bytes);
        }
        for (name, reference) in &staged.references {
            for target in reference.entries.iter().filter_map(|entry| entry.new) {
                let key = (ObjectKind::Commit, target.object());
                let known = target == CommitId::NO_ANCESTOR
                    || fresh.contains_key(&key)
                    || self.objects.contains_key(&key);
                if !known {
                    return Err(StoreError::Corrupt {
                        what: format!("reference {name}"),
                        detail: format!("it was pointed at commit {target}, which is not stored"),
                    });
                }
            }
        }
        Ok(())
    }

    fn put_object(&mut self, kind: ObjectKind, id: ObjectId, bytes: Bytes, epoch: Epoch) {
        let place = match self.objects.get(&(kind, id)) {
            Some(stored) => stored.place,
            None => {
                self.placed += 1;
                self.order.insert(self.placed, (kind, id));
                self.placed
            }
        };
        self.objects.insert((kind, id), Stored { bytes, epoch, place });
    }

    fn apply(&mut self, staged: Staged) {
        let epoch = self.epoch;
        for NewObject { kind, id, bytes } in staged.objects {
            self.put_object(kind, id, bytes, epoch);
        }
        for (name, reference) in staged.references {
            if reference.entries.is_empty() {
                continue;
            }
            self.numbers.insert(name.clone(), reference.number());
            match reference.after {
                Some(after) => self.references.insert(name.clone(), after),
                None => self.references.remove(&name),
            };
            let log = self.log.entry(name.clone()).or_default();
            for entry in reference.entries {
                if let Some(request) = &entry.request {
                    self.requests.insert(request.key, (name.clone(), entry.number));
                }
                log.insert(entry.number, entry);
            }
        }
        for (key, record) in staged.records {
            if record.changed() {
                self.versions.insert(key.clone(), record.version);
                match record.after {
                    Some(after) => self.records.insert(key, after),
                    None => self.records.remove(&key),
                };
            }
        }
        self.put_derived(staged.derived);
    }

    fn put_derived(&mut self, rows: Vec<DerivedWrite>) {
        for DerivedWrite { space, key, value } in rows {
            match value {
                Some(value) => self.derived.insert((space, key), value),
                None => self.derived.remove(&(space, key)),
            };
        }
    }
}

/// Bound of a range that begins behind `after`, or at the start.
fn behind<K>(after: Option<K>) -> Bound<K> {
    after.map_or(Bound::Unbounded, Bound::Excluded)
}

#[async_trait]
impl Store for Memory {
    async fn object(&self, kind: ObjectKind, id: ObjectId) -> Result<Option<Bytes>, StoreError> {
        Ok(self.lock().tables.objects.get(&(kind, id)).map(|stored| stored.bytes.clone()))
    }

    async fn reference(&self, name: &RefName) -> Result<Option<Reference>, StoreError> {
        Ok(self.lock().tables.references.get(name).cloned())
    }

    async fn references(&self, after: Option<&RefName>, limit: usize) -> Result<Vec<Reference>, StoreError> {
        let state = self.lock();
        let range = state.tables.references.range((behind(after.cloned()), Bound::Unbounded));
        Ok(range.take(limit).map(|(_, reference)| reference.clone()).collect())
    }

    async fn record(&self, space: RecordSpace, key: &[u8]) -> Result<Option<Record>, StoreError> {
        Ok(self.lock().tables.records.get(&(space, Bytes::copy_from_slice(key))).cloned())
    }

    async fn records(
        &self,
        space: RecordSpace,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<(Bytes, Record)>, StoreError> {
        let state = self.lock();
        let from = match after {
            Some(after) => Bound::Excluded((space, Bytes::copy_from_slice(after))),
            None => Bound::Included((space, Bytes::new())),
        };
        let range = state.tables.records.range((from, Bound::Unbounded));
        let range = range.take_while(|((found, _), _)| *found == space).take(limit);
        Ok(range.map(|((_, key), record)| (key.clone(), record.clone())).collect())
    }

    async fn ref_log(
        &self,
        name: &RefName,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<RefLogEntry>, StoreError> {
        let state = self.lock();
        let Some(log) = state.tables.log.get(name) else { return Ok(Vec::new()) };
        let range = log.range(..before.unwrap_or(u64::MAX)).rev().take(limit);
        Ok(range.map(|(_, entry)| entry.clone()).collect())
    }

    async fn ref_log_names(&self, after: Option<&RefName>, limit: usize) -> Result<Vec<RefName>, StoreError> {
        let state = self.lock();
        let range = state.tables.log.range((behind(after.cloned()), Bound::Unbounded));
        Ok(range.take(limit).map(|(name, _)| name.clone()).collect())
    }

    async fn request(&self, key: &[u8; 32]) -> Result<Option<RefLogEntry>, StoreError> {
        let state = self.lock();
        let Some((name, number)) = state.tables.requests.get(key) else { return Ok(None) };
        Ok(state.tables.log.get(name).and_then(|log| log.get(number)).cloned())
    }

    async fn derived(&self, space: DerivedSpace, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        Ok(self.lock().tables.derived.get(&(space, Bytes::copy_from_slice(key))).cloned())
    }

    async fn derived_scan(
        &self,
        space: DerivedSpace,
        prefix: &[u8],
        from: Option<&[u8]>,
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<(Bytes, Bytes)>, StoreError> {
        let state = self.lock();
        let lowest = if reverse { prefix } else { from.filter(|from| *from > prefix).unwrap_or(prefix) };
        let fits = |key: &Bytes| {
            key.starts_with(prefix) && (!reverse || from.is_none_or(|from| key.as_ref() <= from))
        };
        let lowest = Bound::Included((space, Bytes::copy_from_slice(lowest)));
        let range = state.tables.derived.range((lowest, Bound::Unbounded));
        let range = range
            .take_while(|((found, key), _)| *found == space && key.starts_with(prefix))
            .filter(|((_, key), _)| fits(key))
            .map(|((_, key), value)| (key.clone(), value.clone()));
        if reverse {
            let mut rows: Vec<_> = range.collect();
            rows.reverse();
            rows.truncate(limit);
            return Ok(rows);
        }
        Ok(range.take(limit).collect())
    }

    async fn put_derived(&self, rows: Vec<DerivedWrite>) -> Result<(), StoreError> {
        check_derived_bounds(&rows)?;
        let mut state = self.lock();
        if let Some(cause) = &state.refused {
            return Err(StoreError::WritesRefused(cause.clone()));
        }
        let key_of = |row: &DerivedWrite| (row.space, row.key.clone());
        let replaced =
            rows.iter().map(key_of).map(|key| (key.clone(), state.tables.derived.get(&key).cloned()));
        let replaced = replaced.collect();
        state.unsynced.push(replaced);
        state.tables.put_derived(rows);
        Ok(())
    }

    async fn commit(&self, batch: Batch) -> Result<Outcome, StoreError> {
        self.held.fetch_add(1, Ordering::AcqRel);
        // The sender lives as long as the store.
        let _ = self.hold.subscribe().wait_for(|hold| *hold == Hold::Free).await;
        self.held.fetch_sub(1, Ordering::AcqRel);
        let mut state = self.lock();
        if let Some(cause) = &state.refused {
            return Err(StoreError::WritesRefused(cause.clone()));
        }
        let mut staged = stage(batch, &state.tables)?;
        state.tables.check(&staged)?;
        let outcome = std::mem::take(&mut staged.outcome);
        if staged.is_empty() {
            return Ok(outcome);
        }
        match state.fail_next.take() {
            None => {
                state.tables.apply(staged);
                state.unsynced.clear();
                Ok(outcome)
            }
            Some(Failure::Full) => Err(StoreError::Full("injected by a test".into())),
            Some(failure) => {
                let cause = "failure injected by a test".to_owned();
                if failure == Failure::UnknownApplied {
                    let mut tables = state.tables.clone();
                    tables.apply(staged);
                    state.behind_failure = Some(tables);
                }
                state.refused = Some(cause.clone());
                Err(StoreError::Unknown(cause))
            }
        }
    }

    fn writes(&self) -> Writes {
        self.lock().refused.clone().map_or(Writes::Allowed, Writes::Refused)
    }

    async fn stalled(&self) -> String {
        let mut told = self.hold.subscribe();
        let told = told.wait_for(|hold| matches!(hold, Hold::Stalled(_))).await.map(|hold| hold.clone());
        if let Ok(Hold::Stalled(why)) = told {
            return why;
        }
        std::future::pending().await
    }
}

//! A store on top of another one: reads see both, writes stay in memory.
//!
//! For dry runs and merge candidates. Nothing ever reaches the base, so no look-up there finds what a candidate holds;
//! dropping the overlay drops it all. The base may move on meanwhile: what the overlay has not changed itself, it sees
//! as it is at that moment.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use async_trait::async_trait;
use bytes::Bytes;
use lochan_storage_model::{ObjectId, ObjectKind, RefName};

use crate::{
    batch::{Batch, DerivedWrite, NewObject, Outcome, Requirement},
    derived::DerivedSpace,
    error::StoreError,
    reference::{RefLogEntry, Reference},
    stage::{Durable, Staged, check_derived_bounds, stage},
    store::{Record, RecordSpace, Store, Writes},
};

/// A store whose commits land in its own memory only.
pub struct Overlay {
    base: Arc<dyn Store>,
    own: RwLock<Own>,
    /// One commit at a time.
    writer: tokio::sync::Mutex<()>,
}

/// What the overlay holds itself. `None` hides a row of the base.
#[derive(Default)]
struct Own {
    objects: HashMap<(ObjectKind, ObjectId), Bytes>,
    references: BTreeMap<RefName, Option<Reference>>,
    /// Entries made here, oldest first.
    log: BTreeMap<RefName, Vec<RefLogEntry>>,
    requests: HashMap<[u8; 32], RefLogEntry>,
    records: BTreeMap<(RecordSpace, Bytes), Option<Record>>,
    versions: HashMap<(RecordSpace, Bytes), u64>,
    derived: BTreeMap<(DerivedSpace, Bytes), Option<Bytes>>,
}

impl Overlay {
    /// An overlay without changes.
    #[must_use]
    pub fn new(base: Arc<dyn Store>) -> Self {
        Self { base, own: RwLock::default(), writer: tokio::sync::Mutex::default() }
    }

    /// Every object put here, in no particular order: what a batch on the base must hold to publish a candidate.
    #[must_use]
    pub fn objects(&self) -> Vec<NewObject> {
        let objects = |(&(kind, id), bytes): (&(ObjectKind, ObjectId), &Bytes)| NewObject {
            kind,
            id,
            bytes: bytes.clone(),
        };
        self.own().objects.iter().map(objects).collect()
    }

    fn own(&self) -> RwLockReadGuard<'_, Own> {
        self.own.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// State of everything a batch names, read before the batch is decided, for deciding does not wait.
    async fn gather(&self, batch: &Batch) -> Result<Gathered, StoreError> {
        let mut gathered = Gathered::default();
        for change in &batch.changes {
            let (mut names, mut records): (Vec<&RefName>, Vec<(RecordSpace, &Bytes)>) = (vec![], vec![]);
            names.extend(change.references.iter().map(|reference| &reference.name));
            records.extend(change.records.iter().map(|record| (record.space, &record.key)));
            for requirement in &change.requires {
                match requirement {
                    Requirement::Reference(name, _) => names.push(name),
                    Requirement::Record(space, key, _) => records.push((*space, key)),
                }
            }
            for name in names {
                if !gathered.references.contains_key(name) {
                    let newest = self.ref_log(name, None, 1).await?;
                    let number = newest.first().map_or(0, |entry| entry.number);
                    gathered.references.insert(name.clone(), (self.reference(name).await?, number));
                }
            }
            for (space, key) in records {
                let at = (space, key.clone());
                if gathered.records.contains_key(&at) {
                    continue;
                }
                // The version kept for a record that the base has deleted does not show; here it begins at 1 again,
                // which nobody but this overlay ever sees.
                let record = self.record(space, key).await?;
                let kept = self.own().versions.get(&at).copied().unwrap_or(0);
                let version = record.as_ref().map_or(kept, |record| record.version);
                gathered.records.insert(at, (record, version));
            }
        }
        Ok(gathered)
    }
}

#[derive(Default)]
struct Gathered {
    references: HashMap<RefName, (Option<Reference>, u64)>,
    records: HashMap<(RecordSpace, Bytes), (Option<Record>, u64)>,
}

impl Durable for Gathered {
    fn reference(&self, name: &RefName) -> Result<(Option<Reference>, u64), StoreError> {
        Ok(self.references.get(name).cloned().unwrap_or_default())
    }

    fn record(&self, space: RecordSpace, key: &[u8]) -> Result<(Option<Record>, u64), StoreError> {
        Ok(self.records.get(&(space, Bytes::copy_from_slice(key))).cloned().unwrap_or_default())
    }
}

impl Own {
    fn apply(&mut self, staged: Staged) {
        for NewObject { kind, id, bytes } in staged.objects {
            self.objects.insert((kind, id), bytes);
        }
        for (name, reference) in staged.references {
            if reference.entries.is_empty() {
                continue;
            }
            for entry in &reference.entries {
                if let Some(request) = &entry.request {
                    self.requests.insert(request.key, entry.clone());
                }
            }
            self.log.entry(name.clone()).or_default().extend(reference.entries);
            self.references.insert(name, reference.after);
        }
        for (key, record) in staged.records {
            if record.changed() {
                self.versions.insert(key.clone(), record.version);
                self.records.insert(key, record.after);
            }
        }
        self.put_derived(staged.derived);
    }

    fn put_derived(&mut self, rows: Vec<DerivedWrite>) {
        for DerivedWrite { space, key, value } in rows {
            self.derived.insert((space, key), value);
        }
    }
}

/// The first `limit` rows of a page: `own` laid over `base`, which holds `limit` rows more than `own` may hide.
fn lay_over<K: Ord + Clone, V>(
    base: Vec<(K, V)>,
    own: BTreeMap<K, Option<V>>,
    reverse: bool,
    limit: usize,
) -> Vec<(K, V)> {
    let mut rows: BTreeMap<K, Option<V>> = base.into_iter().map(|(key, value)| (key, Some(value))).collect();
    rows.extend(own);
    let rows = rows.into_iter().filter_map(|(key, value)| Some((key, value?)));
    if reverse { rows.rev().take(limit).collect() } else { rows.take(limit).collect() }
}

#[async_trait]
impl Store for Overlay {
    async fn object(&self, kind: ObjectKind, id: ObjectId) -> Result<Option<Bytes>, StoreError> {
        let own = self.own().objects.get(&(kind, id)).cloned();
        match own {
            Some(bytes) => Ok(Some(bytes)),
            None => self.base.object(kind, id).await,
        }
    }

    async fn reference(&self, name: &RefName) -> Result<Option<Reference>, StoreError> {
        let own = self.own().references.get(name).cloned();
        match own {
            Some(reference) => Ok(reference),
            None => self.base.reference(name).await,
        }
    }

    async fn references(&self, after: Option<&RefName>, limit: usize) -> Result<Vec<Reference>, StoreError> {
        let own: BTreeMap<_, _> = {
            let own = self.own();
            let behind = own.references.iter().filter(|(name, _)| after.is_none_or(|after| *name > after));
            behind.map(|(name, reference)| (name.clone(), reference.clone())).collect()
        };
        let base = self.base.references(after, limit.saturating_add(own.len())).await?;
        let base = base.into_iter().map(|reference| (reference.name.clone(), reference)).collect();
        Ok(lay_over(base, own, false, limit).into_iter().map(|(_, reference)| reference).collect())
    }

    async fn record(&self, space: RecordSpace, key: &[u8]) -> Result<Option<Record>, StoreError> {
        let own = self.own().records.get(&(space, Bytes::copy_from_slice(key))).cloned();
        match own {
            Some(record) => Ok(record),
            None => self.base.record(space, key).await,
        }
    }

    async fn records(
        &self,
        space: RecordSpace,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<(Bytes, Record)>, StoreError> {
        let own: BTreeMap<_, _> = {
            let own = self.own();
            let behind = own.records.iter().filter(|((found, key), _)| {
                *found == space && after.is_none_or(|after| key.as_ref() > after)
            });
            behind.map(|((_, key), record)| (key.clone(), record.clone())).collect()
        };
        let base = self.base.records(space, after, limit.saturating_add(own.len())).await?;
        Ok(lay_over(base, own, false, limit))
    }

    async fn ref_log(
        &self,
        name: &RefName,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<RefLogEntry>, StoreError> {
        let (mut entries, first) = {
            let own = self.own();
            let made = own.log.get(name).map(Vec::as_slice).unwrap_or_default();
            let page = made.iter().rev().filter(|entry| before.is_none_or(|before| entry.number < before));
            (page.take(limit).cloned().collect::<Vec<_>>(), made.first().map(|entry| entry.number))
        };
        if entries.len() < limit {
            // Entries that the base has got meanwhile would take numbers given here; the overlay keeps its own.
            let before = match (before, first) {
                (Some(before), Some(first)) => Some(before.min(first)),
                (before, first) => before.or(first),
            };
            entries.extend(self.base.ref_log(name, before, limit - entries.len()).await?);
        }
        Ok(entries)
    }

    async fn ref_log_names(&self, after: Option<&RefName>, limit: usize) -> Result<Vec<RefName>, StoreError> {
        let own: BTreeMap<_, _> = {
            let own = self.own();
            let behind = own.log.keys().filter(|name| after.is_none_or(|after| *name > after));
            behind.map(|name| (name.clone(), Some(()))).collect()
        };
        let base = self.base.ref_log_names(after, limit).await?;
        let base = base.into_iter().map(|name| (name, ())).collect();
        Ok(lay_over(base, own, false, limit).into_iter().map(|(name, ())| name).collect())
    }

    async fn request(&self, key: &[u8; 32]) -> Result<Option<RefLogEntry>, StoreError> {
        let own = self.own().requests.get(key).cloned();
        match own {
            Some(entry) => Ok(Some(entry)),
            None => self.base.request(key).await,
        }
    }

    async fn derived(&self, space: DerivedSpace, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        let own = self.own().derived.get(&(space, Bytes::copy_from_slice(key))).cloned();
        match own {
            Some(value) => Ok(value),
            None => self.base.derived(space, key).await,
        }
    }

    async fn derived_scan(
        &self,
        space: DerivedSpace,
        prefix: &[u8],
        from: Option<&[u8]>,
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<(Bytes, Bytes)>, StoreError> {
        let own: BTreeMap<_, _> = {
            let own = self.own();
            let start = (space, Bytes::copy_from_slice(prefix));
            let rows = own
                .derived
                .range(start..)
                .take_while(|((found, key), _)| *found == space && key.starts_with(prefix));
            let rows = rows.filter(|((_, key), _)| {
                from.is_none_or(|from| if reverse { key.as_ref() <= from } else { key.as_ref() >= from })
            });
            rows.map(|((_, key), value)| (key.clone(), value.clone())).collect()
        };
        let base_limit = limit.saturating_add(own.len());
        let base = self.base.derived_scan(space, prefix, from, reverse, base_limit).await?;
        Ok(lay_over(base, own, reverse, limit))
    }

    async fn put_derived(&self, rows: Vec<DerivedWrite>) -> Result<(), StoreError> {
        check_derived_bounds(&rows)?;
        self.own.write().unwrap_or_else(PoisonError::into_inner).put_derived(rows);
        Ok(())
    }

    async fn commit(&self, batch: Batch) -> Result<Outcome, StoreError> {
        let _one_at_a_time = self.writer.lock().await;
        let gathered = self.gather(&batch).await?;
        let mut staged = stage(batch, &gathered)?;
        let outcome = std::mem::take(&mut staged.outcome);
        self.own.write().unwrap_or_else(PoisonError::into_inner).apply(staged);
        Ok(outcome)
    }

    fn writes(&self) -> Writes {
        Writes::Allowed
    }
}

#[cfg(test)]
mod tests;

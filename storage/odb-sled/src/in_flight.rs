//! What readers see while a batch is applied but not yet synced: the state before it; and references that batches moved of
//! late, since they are read with every request and their rows are the most rewritten of all.

use std::collections::{BTreeMap, HashMap, HashSet};

use bytes::Bytes;
use lochan_storage_model::RefName;
use lochan_storage_odb::{Record, RecordSpace, Reference, stage::Staged};

/// References kept in memory after a batch moved them.
const MOVED_MAX: usize = 4_096;

/// References and records that the batch under way changes, as they were before it. Empty between batches. After a
/// failed write or sync it stays as it is, so that readers go on seeing what was durable.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    /// Reference as it was, and the number of its latest log entry then.
    pub references: HashMap<RefName, (Option<Reference>, u64)>,
    /// Requests that the batch writes.
    pub requests: HashSet<[u8; 32]>,
    /// References as the batch makes them.
    pub after: Vec<(RefName, Option<Reference>)>,
    /// References as the latest durable batches have made them; a part of what is stored.
    pub moved: HashMap<RefName, Option<Reference>>,
    /// Records as they were.
    pub records: BTreeMap<(RecordSpace, Bytes), Option<Record>>,
}

impl InFlight {
    /// What `staged` is about to change.
    pub(crate) fn of(staged: &Staged) -> Self {
        let mut found = Self::default();
        for (name, reference) in &staged.references {
            if reference.entries.is_empty() {
                continue;
            }
            let before = (reference.before.clone(), reference.number_before);
            found.references.insert(name.clone(), before);
            found.after.push((name.clone(), reference.after.clone()));
            let requests = reference.entries.iter().filter_map(|entry| entry.request.as_ref());
            found.requests.extend(requests.map(|request| request.key));
        }
        let records = staged.records.iter().filter(|(_, record)| record.changed());
        found.records.extend(records.map(|(key, record)| (key.clone(), record.before.clone())));
        found
    }

    /// Takes in what the batch that begins changes.
    pub(crate) fn begin(&mut self, batch: Self) {
        let moved = std::mem::take(&mut self.moved);
        *self = Self { moved, ..batch };
    }

    /// The batch is durable: what it made is what is seen. Returns what is not needed any more, to be dropped outside of
    /// the lock.
    pub(crate) fn end(&mut self) -> Self {
        let mut ended = std::mem::take(self);
        self.moved = std::mem::take(&mut ended.moved);
        if self.moved.len() + ended.after.len() > MOVED_MAX {
            self.moved.clear();
        }
        self.moved.extend(ended.after.drain(..));
        ended
    }
}

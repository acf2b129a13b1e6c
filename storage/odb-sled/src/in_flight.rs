//! What readers see while a batch is applied but not yet synced: the state before it.

use std::collections::{BTreeMap, HashMap, HashSet};

use bytes::Bytes;
use lochan_storage_model::RefName;
use lochan_storage_odb::{Record, RecordSpace, Reference, stage::Staged};

/// References and records that the batch under way changes, as they were before it. Empty between batches. After a
/// failed write or sync it stays as it is, so that readers go on seeing what was durable.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    /// Reference as it was, and the number of its latest log entry then.
    pub references: HashMap<RefName, (Option<Reference>, u64)>,
    /// Requests that the batch writes.
    pub requests: HashSet<[u8; 32]>,
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
            let requests = reference.entries.iter().filter_map(|entry| entry.request.as_ref());
            found.requests.extend(requests.map(|request| request.key));
        }
        let records = staged.records.iter().filter(|(_, record)| record.changed());
        found.records.extend(records.map(|(key, record)| (key.clone(), record.before.clone())));
        found
    }
}

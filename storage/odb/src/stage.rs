//! Decides a batch: which changes land, and what is then left to write.
//!
//! Pure: a backend lends its durable state through [`Durable`] and gets back rows. Every backend decides with this code,
//! so that they agree on what a precondition means; the conformance suite checks it from outside.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use lochan_storage_model::RefName;

use crate::{
    batch::{
        Batch, Change, DerivedWrite, ExpectedRecord, ExpectedReference, FailedPrecondition, NewObject,
        Outcome, RecordChange, ReferenceChange, Refusal, Requirement,
    },
    error::StoreError,
    reference::{RefLogEntry, Reference},
    store::{OBJECT_BYTES_MAX, RECORD_BYTES_MAX, Record, RecordSpace},
};

/// Longest key of a record or a derived row, in bytes.
pub const KEY_BYTES_MAX: usize = 2 * 1024;
/// Longest name of a principal and of a run in a log entry, in bytes.
pub const LOG_TEXT_BYTES_MAX: usize = 512;
/// Longest derived value, in bytes.
pub const DERIVED_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Durable state as a batch finds it. Nothing else changes it while a batch is decided.
pub trait Durable {
    /// A reference and the number of the latest log entry of its name; the number is kept when the reference is
    /// deleted, and 0 for a name never seen.
    fn reference(&self, name: &RefName) -> Result<(Option<Reference>, u64), StoreError>;

    /// A record and the latest version of its key; the version is kept when the record is deleted, and 0 for a key
    /// never seen.
    fn record(&self, space: RecordSpace, key: &[u8]) -> Result<(Option<Record>, u64), StoreError>;
}

/// A reference that a batch touches.
#[derive(Debug, Clone)]
pub struct StagedReference {
    /// As it was before the batch.
    pub before: Option<Reference>,
    /// As it is after the batch.
    pub after: Option<Reference>,
    /// Number of the latest log entry before the batch.
    pub number_before: u64,
    /// Log entries of the batch, numbered on from `number_before`.
    pub entries: Vec<RefLogEntry>,
}

impl StagedReference {
    /// Number of the latest log entry after the batch.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.entries.last().map_or(self.number_before, |entry| entry.number)
    }
}

/// A record that a batch touches.
#[derive(Debug, Clone)]
pub struct StagedRecord {
    /// As it was before the batch.
    pub before: Option<Record>,
    /// As it is after the batch.
    pub after: Option<Record>,
    /// Latest version of its key before the batch.
    pub version_before: u64,
    /// Latest version of its key after the batch.
    pub version: u64,
}

impl StagedRecord {
    /// Whether the batch changed it, rather than only looked at it.
    #[must_use]
    pub fn changed(&self) -> bool {
        self.version != self.version_before || self.before.is_some() != self.after.is_some()
    }
}

/// What is to be written.
#[derive(Debug, Default)]
pub struct Staged {
    /// Objects of the changes that land, in order.
    pub objects: Vec<NewObject>,
    /// References that changes looked at or moved; those without `entries` need no writing.
    pub references: HashMap<RefName, StagedReference>,
    /// Records that changes looked at or set; see [`StagedRecord::changed`].
    pub records: BTreeMap<(RecordSpace, Bytes), StagedRecord>,
    /// Derived rows of the changes that land, in order.
    pub derived: Vec<DerivedWrite>,
    /// What the caller is told.
    pub outcome: Outcome,
}

impl Staged {
    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
            && self.derived.is_empty()
            && self.references.values().all(|staged| staged.entries.is_empty())
            && !self.records.values().any(StagedRecord::changed)
    }
}

/// Decides `batch` against `durable`. An error means that nothing may be written.
pub fn stage(batch: Batch, durable: &impl Durable) -> Result<Staged, StoreError> {
    let mut staged = Staged::default();
    for (place, change) in batch.changes.into_iter().enumerate() {
        check_bounds(&change)?;
        match stage_change(&mut staged, &change, durable)? {
            None => {
                staged.objects.extend(change.objects);
                staged.derived.extend(change.derived);
            }
            Some(cause) => staged.outcome.refused.push(Refusal { change: place, cause }),
        }
    }
    Ok(staged)
}

/// What one change did, to be taken back if a later part of it is refused.
enum Undo {
    Reference(RefName, Option<Reference>),
    Record((RecordSpace, Bytes), Option<Record>, u64),
}

fn stage_change(
    staged: &mut Staged,
    change: &Change,
    durable: &impl Durable,
) -> Result<Option<FailedPrecondition>, StoreError> {
    for requirement in &change.requires {
        let failed = match requirement {
            Requirement::Reference(name, expected) => {
                check_reference(reference(staged, name, durable)?, name, *expected)
            }
            Requirement::Record(space, key, expected) => {
                check_record(record(staged, *space, key, durable)?, *space, key, *expected)
            }
        };
        if failed.is_some() {
            return Ok(failed);
        }
    }
    let mut undo = Vec::new();
    let mut failed = None;
    for part in &change.references {
        failed = stage_reference(staged, part, durable, &mut undo)?;
        if failed.is_some() {
            break;
        }
    }
    if failed.is_none() {
        for part in &change.records {
            failed = stage_record(staged, part, durable, &mut undo)?;
            if failed.is_some() {
                break;
            }
        }
    }
    if failed.is_some() {
        take_back(staged, undo);
    }
    Ok(failed)
}

fn take_back(staged: &mut Staged, undo: Vec<Undo>) {
    for step in undo.into_iter().rev() {
        match step {
            Undo::Reference(name, after) => {
                if let Some(found) = staged.references.get_mut(&name) {
                    found.entries.pop();
                    found.after = after;
                }
            }
            Undo::Record(key, after, version) => {
                if let Some(found) = staged.records.get_mut(&key) {
                    found.after = after;
                    found.version = version;
                }
            }
        }
    }
}

fn stage_reference(
    staged: &mut Staged,
    change: &ReferenceChange,
    durable: &impl Durable,
    undo: &mut Vec<Undo>,
) -> Result<Option<FailedPrecondition>, StoreError> {
    let name = &change.name;
    let found = reference(staged, name, durable)?;
    let failed = check_reference(found, name, change.expected);
    if failed.is_some() {
        return Ok(failed);
    }
    let old = found.after.as_ref().map(|reference| (reference.kind, reference.target));
    let Some((kind, _)) = change.new.or(old) else {
        // Deleting what is expected to be absent changes nothing.
        return Ok(None);
    };
    let number = found.number() + 1;
    undo.push(Undo::Reference(name.clone(), found.after.take()));
    found.after = change.new.map(|(kind, target)| Reference { name: name.clone(), kind, target, number });
    found.entries.push(RefLogEntry {
        name: name.clone(),
        number,
        kind,
        old: old.map(|(_, target)| target),
        new: change.new.map(|(_, target)| target),
        operation: change.log.operation,
        principal: change.log.principal.clone(),
        request: change.log.request,
        run: change.log.run.clone(),
        time: change.log.time,
    });
    Ok(None)
}

fn stage_record(
    staged: &mut Staged,
    change: &RecordChange,
    durable: &impl Durable,
    undo: &mut Vec<Undo>,
) -> Result<Option<FailedPrecondition>, StoreError> {
    let found = record(staged, change.space, &change.key, durable)?;
    let failed = check_record(found, change.space, &change.key, change.expected);
    if failed.is_some() {
        return Ok(failed);
    }
    undo.push(Undo::Record((change.space, change.key.clone()), found.after.take(), found.version));
    if let Some(value) = &change.value {
        found.version += 1;
        found.after = Some(Record { version: found.version, value: value.clone() });
    }
    Ok(None)
}

fn reference<'a>(
    staged: &'a mut Staged,
    name: &RefName,
    durable: &impl Durable,
) -> Result<&'a mut StagedReference, StoreError> {
    use std::collections::hash_map::Entry;
    match staged.references.entry(name.clone()) {
        Entry::Occupied(found) => Ok(found.into_mut()),
        Entry::Vacant(empty) => {
            let (before, number_before) = durable.reference(name)?;
            let after = before.clone();
            Ok(empty.insert(StagedReference { before, after, number_before, entries: Vec::new() }))
        }
    }
}

fn record<'a>(
    staged: &'a mut Staged,
    space: RecordSpace,
    key: &Bytes,
    durable: &impl Durable,
) -> Result<&'a mut StagedRecord, StoreError> {
    use std::collections::btree_map::Entry;
    match staged.records.entry((space, key.clone())) {
        Entry::Occupied(found) => Ok(found.into_mut()),
        Entry::Vacant(empty) => {
            let (before, version_before) = durable.record(space, key)?;
            let after = before.clone();
            Ok(empty.insert(StagedRecord { before, after, version_before, version: version_before }))
        }
    }
}

fn check_reference(
    found: &StagedReference,
    name: &RefName,
    expected: ExpectedReference,
) -> Option<FailedPrecondition> {
    let holds = match (expected, &found.after) {
        (ExpectedReference::Absent, None) => true,
        (ExpectedReference::At(kind, target), Some(at)) => at.kind == kind && at.target == target,
        _ => false,
    };
    (!holds).then(|| FailedPrecondition::Reference { name: name.clone(), found: found.after.clone() })
}

fn check_record(
    found: &StagedRecord,
    space: RecordSpace,
    key: &Bytes,
    expected: ExpectedRecord,
) -> Option<FailedPrecondition> {
    let version = found.after.as_ref().map(|record| record.version);
    let holds = match expected {
        ExpectedRecord::Any => true,
        ExpectedRecord::Absent => version.is_none(),
        ExpectedRecord::Version(wanted) => version == Some(wanted),
    };
    (!holds).then(|| FailedPrecondition::Record { space, key: key.clone(), found: version })
}

/// Checks a change against the bounds of what it holds. A batch with one that fails is refused whole, so a maker of
/// batches asks first.
pub fn check_bounds(change: &Change) -> Result<(), StoreError> {
    let objects = change.objects.iter().map(|object| ("object", object.bytes.len(), OBJECT_BYTES_MAX));
    let records = change.records.iter().flat_map(|record| {
        [
            ("record key", record.key.len(), KEY_BYTES_MAX),
            ("record", record.value.as_ref().map_or(0, Bytes::len), RECORD_BYTES_MAX),
        ]
    });
    let texts = change.references.iter().flat_map(|reference| {
        [
            ("principal", reference.log.principal.len(), LOG_TEXT_BYTES_MAX),
            ("run", reference.log.run.as_ref().map_or(0, String::len), LOG_TEXT_BYTES_MAX),
        ]
    });
    objects.chain(records).chain(texts).try_for_each(check_bound)?;
    check_derived_bounds(&change.derived)
}

/// Checks derived rows against their bounds.
pub fn check_derived_bounds(rows: &[DerivedWrite]) -> Result<(), StoreError> {
    rows.iter()
        .flat_map(|row| {
            [
                ("key of a derived row", row.key.len(), KEY_BYTES_MAX),
                ("derived row", row.value.as_ref().map_or(0, Bytes::len), DERIVED_BYTES_MAX),
            ]
        })
        .try_for_each(check_bound)
}

fn check_bound((what, size, limit): (&'static str, usize, usize)) -> Result<(), StoreError> {
    if size > limit { Err(StoreError::TooLarge { what, size, limit }) } else { Ok(()) }
}

#[cfg(test)]
#[path = "stage_tests.rs"]
mod tests;

//! The naive store: what batches do to references, their log and records, and what was when.

use std::collections::BTreeMap;

use bytes::Bytes;
use lochan_storage_model::{CommitId, RefName};
use lochan_storage_odb::{
    Batch, Change, ExpectedRecord, ExpectedReference, RecordSpace, RefKind, RefOperation, RequestKey,
    Requirement,
};

use crate::model::repo::At;

/// One line of the log of a reference; its number is its place, from 1 on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where the reference was.
    pub old: Option<CommitId>,
    /// Where it is.
    pub new: Option<CommitId>,
    /// Branch or tag.
    pub kind: RefKind,
    /// What was done.
    pub operation: RefOperation,
    /// By which request.
    pub request: Option<RequestKey>,
}

/// A record: the version counts on through deletes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Version of the latest value.
    pub version: u64,
    /// The value, if there is one.
    pub value: Option<Bytes>,
}

impl Record {
    fn fits(&self, expected: ExpectedRecord) -> bool {
        match expected {
            ExpectedRecord::Any => true,
            ExpectedRecord::Absent => self.value.is_none(),
            ExpectedRecord::Version(version) => self.value.is_some() && self.version == version,
        }
    }
}

type RecordKey = (RecordSpace, Bytes);

/// Everything mutable, as it is now.
#[derive(Clone, Debug, Default)]
struct Now {
    references: BTreeMap<RefName, (RefKind, CommitId)>,
    records: BTreeMap<RecordKey, Record>,
}

/// Everything mutable, now and at any time before.
#[derive(Debug, Default)]
pub struct Ledger {
    now: Now,
    logs: BTreeMap<RefName, Vec<Line>>,
    /// Number of batches applied: the time of all that follows.
    pub applied: u64,
    moves: BTreeMap<RefName, Vec<(u64, At)>>,
    record_moves: BTreeMap<RecordKey, Vec<(u64, Record)>>,
}

/// A change that lands, and where its references were before it.
pub struct Landing<'a> {
    /// The change.
    pub change: &'a Change,
    /// Its references before it, in its order.
    pub before: Vec<At>,
}

impl Now {
    fn fits(&self, name: &RefName, expected: ExpectedReference) -> bool {
        match (expected, self.references.get(name)) {
            (ExpectedReference::Absent, found) => found.is_none(),
            (ExpectedReference::At(kind, target), found) => found == Some(&(kind, target)),
        }
    }

    fn record(&self, space: RecordSpace, key: &Bytes) -> Record {
        self.records.get(&(space, key.clone())).cloned().unwrap_or_default()
    }

    /// Applies a change whole, or says that it does not fit.
    fn apply(&mut self, change: &Change) -> Option<Vec<At>> {
        let holds = change.requires.iter().all(|requirement| match requirement {
            Requirement::Reference(name, expected) => self.fits(name, *expected),
            Requirement::Record(space, key, expected) => self.record(*space, key).fits(*expected),
        });
        if !holds {
            return None;
        }
        let mut before = Vec::new();
        for part in &change.references {
            if !self.fits(&part.name, part.expected) {
                return None;
            }
            before.push(self.references.get(&part.name).copied());
            match part.new {
                Some(new) => self.references.insert(part.name.clone(), new),
                None => self.references.remove(&part.name),
            };
        }
        for part in &change.records {
            let mut record = self.record(part.space, &part.key);
            if !record.fits(part.expected) {
                return None;
            }
            record.version += u64::from(part.value.is_some());
            record.value = part.value.clone();
            self.records.insert((part.space, part.key.clone()), record);
        }
        Some(before)
    }
}

impl Ledger {
    /// Applies a batch; returns what lands and the places of what does not.
    pub fn apply<'a>(&mut self, batch: &'a Batch) -> (Vec<Landing<'a>>, Vec<usize>) {
        self.applied += 1;
        let (mut landed, mut refused) = (Vec::new(), Vec::new());
        for (place, change) in batch.changes.iter().enumerate() {
            let mut next = self.now.clone();
            let Some(before) = next.apply(change) else {
                refused.push(place);
                continue;
            };
            self.now = next;
            for (part, was) in change.references.iter().zip(&before) {
                let line = Line {
                    old: was.map(|(_, target)| target),
                    new: part.new.map(|(_, target)| target),
                    kind: part.new.or(*was).map_or(RefKind::Branch, |(kind, _)| kind),
                    operation: part.log.operation,
                    request: part.log.request,
                };
                self.logs.entry(part.name.clone()).or_default().push(line);
                let at = self.now.references.get(&part.name).copied();
                self.moves.entry(part.name.clone()).or_default().push((self.applied, at));
            }
            for part in &change.records {
                let key = (part.space, part.key.clone());
                let record = self.now.records.get(&key).cloned().unwrap_or_default();
                self.record_moves.entry(key).or_default().push((self.applied, record));
            }
            landed.push(Landing { change, before });
        }
        (landed, refused)
    }

    /// All references.
    pub fn references(&self) -> &BTreeMap<RefName, (RefKind, CommitId)> {
        &self.now.references
    }

    /// All logs, oldest line first.
    pub fn logs(&self) -> &BTreeMap<RefName, Vec<Line>> {
        &self.logs
    }

    /// All records that ever were.
    pub fn records(&self) -> &BTreeMap<RecordKey, Record> {
        &self.now.records
    }

    /// A record.
    pub fn record(&self, space: RecordSpace, key: &Bytes) -> Record {
        self.now.record(space, key)
    }

    /// Where a reference was at any time from after batch `since` until now.
    pub fn positions_since(&self, name: &RefName, since: u64) -> Vec<At> {
        let moves = self.moves.get(name).map_or(&[][..], Vec::as_slice);
        let first = moves.iter().rev().find(|(at, _)| *at <= since).and_then(|(_, was)| *was);
        let later = moves.iter().filter(|(at, _)| *at > since).map(|(_, was)| *was);
        std::iter::once(first).chain(later).collect()
    }

    /// Whether a record failed what was expected of it at some time from after batch `since` until now.
    pub fn record_failed_since(
        &self,
        space: RecordSpace,
        key: &Bytes,
        expected: ExpectedRecord,
        since: u64,
    ) -> bool {
        let moves = self.record_moves.get(&(space, key.clone())).map_or(&[][..], Vec::as_slice);
        let first = moves.iter().rev().find(|(at, _)| *at <= since).map(|(_, was)| was.clone());
        let later = moves.iter().filter(|(at, _)| *at > since).map(|(_, was)| was.clone());
        std::iter::once(first.unwrap_or_default()).chain(later).any(|was| !was.fits(expected))
    }
}

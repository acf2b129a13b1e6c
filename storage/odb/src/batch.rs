//! The one write: changes of many callers, each with its preconditions.

use bytes::Bytes;
use lochan_storage_model::{CommitId, Micros, ObjectId, ObjectKind, RefName};

use crate::{
    derived::DerivedSpace,
    reference::{RefKind, RefOperation, Reference, RequestKey},
    store::RecordSpace,
};

/// Changes applied in order. Each lands whole or is left out whole; what lands, lands together through a power cut.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The changes. A later one sees what an earlier one of the same batch did.
    pub changes: Vec<Change>,
}

/// What one caller wants changed.
#[derive(Debug, Clone, Default)]
pub struct Change {
    /// Conditions beyond those of the changes themselves.
    pub requires: Vec<Requirement>,
    /// Objects to keep. Putting what exists already renews its epoch.
    pub objects: Vec<NewObject>,
    /// References to create, move or delete; each appends one log entry.
    pub references: Vec<ReferenceChange>,
    /// Records to set or delete.
    pub records: Vec<RecordChange>,
    /// Derived rows written along, for nothing is saved by writing them apart.
    pub derived: Vec<DerivedWrite>,
}

/// An object to keep. `id` must be the hash of `kind` and `bytes`; the writer has just computed it, and every read
/// checks it again.
#[derive(Debug, Clone)]
pub struct NewObject {
    /// Its kind.
    pub kind: ObjectKind,
    /// Its id.
    pub id: ObjectId,
    /// Its canonical bytes.
    pub bytes: Bytes,
}

/// State a reference must be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedReference {
    /// It must not exist.
    Absent,
    /// It must exist with this kind and target.
    At(RefKind, CommitId),
}

/// A change of one reference.
#[derive(Debug, Clone)]
pub struct ReferenceChange {
    /// Which.
    pub name: RefName,
    /// What it must be now.
    pub expected: ExpectedReference,
    /// What it becomes; `None` deletes it.
    pub new: Option<(RefKind, CommitId)>,
    /// What the log says beside old and new.
    pub log: LogMeta,
}

/// The part of a log entry that the caller knows.
#[derive(Debug, Clone)]
pub struct LogMeta {
    /// What is done.
    pub operation: RefOperation,
    /// By whom; empty without authentication.
    pub principal: String,
    /// Under which idempotency key, if any.
    pub request: Option<RequestKey>,
    /// In which merge run or ingest batch, if any.
    pub run: Option<String>,
    /// When.
    pub time: Micros,
}

/// State a record must be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedRecord {
    /// Any.
    Any,
    /// It must not exist.
    Absent,
    /// It must exist with this version.
    Version(u64),
}

/// A change of one record.
#[derive(Debug, Clone)]
pub struct RecordChange {
    /// Space of the record.
    pub space: RecordSpace,
    /// Its key.
    pub key: Bytes,
    /// What it must be now.
    pub expected: ExpectedRecord,
    /// Its new bytes (the version goes up by one, 1 at first); `None` deletes it.
    pub value: Option<Bytes>,
}

/// A condition on something the change does not itself change.
#[derive(Debug, Clone)]
pub enum Requirement {
    /// A reference must be in this state.
    Reference(RefName, ExpectedReference),
    /// A record must be in this state.
    Record(RecordSpace, Bytes, ExpectedRecord),
}

/// A derived row.
#[derive(Debug, Clone)]
pub struct DerivedWrite {
    /// Its table.
    pub space: DerivedSpace,
    /// Its key.
    pub key: Bytes,
    /// Its value; `None` deletes it.
    pub value: Option<Bytes>,
}

/// What became of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The changes left out, in order; all others have landed.
    pub refused: Vec<Refusal>,
}

/// A change that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Its place in [`Batch::changes`].
    pub change: usize,
    /// The first precondition that failed.
    pub cause: FailedPrecondition,
}

/// A precondition that failed, with what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailedPrecondition {
    /// A reference was in another state.
    Reference {
        /// Which.
        name: RefName,
        /// What it is.
        found: Option<Reference>,
    },
    /// A record was in another state.
    Record {
        /// Its space.
        space: RecordSpace,
        /// Its key.
        key: Bytes,
        /// Its version, if it exists.
        found: Option<u64>,
    },
}

//! A whole store at one moment, to be kept elsewhere and put back.

use bytes::Bytes;
use lochan_storage_model::RefName;

use crate::{
    batch::NewObject,
    reference::{RefLogEntry, Reference},
    store::{Epoch, Record, RecordSpace},
};

/// Which store it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The repository: stays the same through backup and restore.
    pub repository: [u8; 16],
    /// This one place where it is kept: tokens of [`crate::Sweep::scan_objects`] mean something only here.
    pub instance: [u8; 16],
}

/// Everything mutable at one moment, between two batches. What it points at was durable by then and stays readable
/// behind it: objects, and the log entries up to the numbers given here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Point {
    /// All references, by name.
    pub references: Vec<Reference>,
    /// Deleted references with the number of their latest log entry, by name.
    pub deleted: Vec<(RefName, u64)>,
    /// All records, by space and key.
    pub records: Vec<(RecordSpace, Bytes, Record)>,
    /// Deleted records with their latest version, by space and key.
    pub versions: Vec<(RecordSpace, Bytes, u64)>,
    /// The epoch.
    pub epoch: Epoch,
}

/// Rows that another store held, as they are put back: as they were, by none of the rules of a batch.
#[derive(Debug, Clone, Default)]
pub struct Load {
    /// Objects.
    pub objects: Vec<NewObject>,
    /// Log entries, by name and number. Those with an idempotency key are found by it again.
    pub log: Vec<RefLogEntry>,
    /// References, records, numbers and versions; an epoch below the current one is passed over.
    pub point: Point,
}

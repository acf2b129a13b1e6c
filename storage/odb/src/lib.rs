//! Port of the object database.
//!
//! Owns: the [`Store`] trait with its one batched write, the [`Sweep`] trait handed only to maintenance, the memory
//! backend, the overlay, the code that decides a batch ([`stage`]), and the conformance suite that every backend calls.
//! Refuses to know: what objects mean, which engine keeps them.

mod batch;
mod derived;
mod error;
mod point;
mod reference;
mod store;

pub mod conformance;
pub mod memory;
pub mod overlay;
pub mod stage;

/// Target of the log events that name the points a write passes. Tests kill the process there.
pub const WRITER_POINT: &str = "lochan::writer_point";

pub use batch::{
    Batch, Change, DerivedWrite, ExpectedRecord, ExpectedReference, FailedPrecondition, LogMeta, NewObject,
    Outcome, RecordChange, ReferenceChange, Refusal, Requirement,
};
pub use derived::DerivedSpace;
pub use error::{Damage, StoreError};
pub use point::{Identity, Load, Point};
pub use reference::{RefKind, RefLogEntry, RefOperation, Reference, RequestKey};
pub use store::{
    Checked, Epoch, Look, OBJECT_BYTES_MAX, ObjectInfo, Onlooker, RECORD_BYTES_MAX, Record, RecordSpace,
    Scanned, Seen, Shown, Store, Sweep, Writes,
};

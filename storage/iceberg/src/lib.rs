//! Iceberg documents as values: table and view metadata, the updates and requirements of a commit, their
//! validation, metadata file names, and the split of a document into parts shared between versions.
//!
//! The crate is pure. It reads no clock and no file, draws no random number (uuids and times are arguments), and
//! knows neither HTTP nor the store. What it does not understand it keeps: unknown fields at every level, unknown
//! types and transforms survive a round trip. Output is stable: equal state gives equal bytes.
//!
//! Start at [`table::create()`] and [`table::apply()`] for tables, [`view::create()`] and [`view::apply()`] for views,
//! [`parts`] for how documents are kept, [`naming`] for where they are written.

use std::collections::BTreeMap;

pub mod bounds;
mod de;
mod error;
pub mod naming;
pub mod partition;
pub mod parts;
pub mod properties;
pub mod schema;
pub mod snapshot;
pub mod sort;
pub mod statistics;
pub mod table;
pub mod transform;
pub mod view;

pub use error::Error;

/// Fields of a document that this crate does not know, by name. They are written back after the known ones.
pub type Extra = BTreeMap<String, serde_json::Value>;

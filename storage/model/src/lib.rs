//! Values of the version store and their canonical encoding.
//!
//! Owns: ids, keys and their order, reference names, content, commits, conflicts, and the exact bytes that are
//! hashed. Refuses to know: where objects are kept, how they travel, what time it is. The encodings are drawn in
//! `FORMAT.md` beside this crate and held by golden vectors; a released version stays readable for ever.

pub mod commit;
pub mod conflict;
pub mod content;
pub mod encoding;
pub mod entry;
pub mod id;
pub mod key;
pub mod kind;
pub mod meta;
pub mod operation;
pub mod ports;
pub mod ref_name;
pub mod time;

pub use commit::Commit;
pub use conflict::{Conflict, ConflictKind};
pub use content::{Content, ContentType};
pub use encoding::DecodeError;
pub use entry::{Entry, Value};
pub use id::{CommitId, ContentId, ObjectId};
pub use key::{ContentKey, IndexKey, KeyError, SystemPath};
pub use kind::ObjectKind;
pub use meta::CommitMeta;
pub use operation::{Operation, Put};
pub use ports::{Clock, Rng};
pub use ref_name::{RefName, RefNameError};
pub use time::{Instant, Micros};

#[cfg(test)]
mod golden;

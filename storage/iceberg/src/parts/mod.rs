//! Documents kept as parts that successive versions share.
//!
//! A metadata document is split into a **root** and, for every long top-level array or object (`schemas`,
//! `snapshots`, the two logs, and also `refs`, `properties` or statistics once they are long), a tree of chunks.
//! Chunk borders follow from the items alone, so that one more item at the end, or fewer at the front, leaves nearly
//! every chunk as it was. The caller hashes and keeps the parts; [`join()`] gives the document back.
//!
#![doc = include_str!("format.md")]

mod chunk;
mod format;
mod join;
mod scan;
mod split;

pub use format::{children, is_root};
pub use join::join;
pub use split::{split, split_json};

use thiserror::Error as ThisError;

/// Name of a part: a hash of its bytes, of the caller's choice.
pub type PartId = [u8; 32];

/// Format version in the first byte of every part.
pub const FORMAT_VERSION: u8 = 1;
/// Longest text of a top-level array or object, bytes, that stays in the root.
pub const INLINE_BYTES_MAX: usize = 512;
/// Bytes of items that a leaf holds on average.
pub const LEAF_BYTES_TARGET: usize = 512;
/// Bytes of items that a leaf holds at most, unless a single item is longer.
pub const LEAF_BYTES_MAX: usize = 1536;
/// Children of an inner node at most.
pub const NODE_CHILDREN_MAX: usize = 16;
/// Children of an inner node at least, except the last of its level.
pub const NODE_CHILDREN_MIN: usize = 2;
/// Levels of a tree at most; more than two to this power leaves cannot be.
pub const TREE_DEPTH_MAX: usize = 32;
/// Bytes of a document that [`join()`] builds at most.
pub const DOCUMENT_BYTES_MAX: usize = 512 * 1024 * 1024;

/// Why a document could not be split or joined.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
pub enum Error {
    /// The bytes to split are no JSON object.
    #[error("document is not a JSON object: {0}")]
    NotAnObject(String),
    /// A part that the tree names was not given.
    #[error("part {} is missing", hex(.0))]
    Missing(PartId),
    /// The part was written by a newer format.
    #[error("part has unknown format version {0}")]
    UnknownVersion(u8),
    /// The part does not follow the format.
    #[error("part is malformed: {0}")]
    Malformed(&'static str),
    /// The document would exceed [`DOCUMENT_BYTES_MAX`].
    #[error("document is longer than {DOCUMENT_BYTES_MAX} bytes")]
    TooLong,
}

fn hex(id: &PartId) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;

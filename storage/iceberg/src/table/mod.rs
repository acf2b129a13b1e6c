//! Tables: the metadata document, creation, and the updates and requirements of a commit.
//!
//! [`create()`] builds the first metadata of a direct create; [`apply()`] builds the next one of a commit, or the first one
//! of a staged create. Both are functions of their arguments alone.

mod apply;
mod create;
mod document;
mod finish;
mod metadata;
mod refs_only;
mod requirement;
mod update;
mod updates;
mod write;

pub use apply::{Applied, apply, ensure_uuid};
pub use create::{CreateTable, create};
pub use metadata::{Summary, TableMetadata, summary};
pub use refs_only::refs_only;
pub use requirement::{TableRequirement, is_create};
pub use update::TableUpdate;
pub use updates::*;
pub(crate) use updates::{checked_uuid, clean_location, next_id};

/// Highest format version that is read and written.
pub const FORMAT_VERSION_MAX: u8 = 3;
/// Format version of new tables that ask for none.
pub const FORMAT_VERSION_DEFAULT: u8 = 2;

#[cfg(test)]
mod tests;

//! Commits.

pub mod entry;
pub mod log;

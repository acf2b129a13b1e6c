//! The commit graph: loading, ancestors, merge bases, relative references.

mod ancestor;
mod commits;
mod merge_base;
mod queue;
mod relative;

pub(crate) use ancestor::Step;
pub use commits::Commits;
pub(crate) use merge_base::contains;
pub use merge_base::merge_base;
pub use relative::Relative;

//! Views: the metadata document, creation, and the updates and requirement of a commit (Iceberg view spec, v1).

mod apply;
mod create;
mod history;
mod metadata;
mod requirement;
mod update;

pub use apply::{Applied, apply};
pub use create::{CreateView, create};
pub use metadata::{Representation, ViewLogEntry, ViewMetadata, ViewVersion};
pub use requirement::ViewRequirement;
pub use update::ViewUpdate;

/// The only format version of views.
pub const FORMAT_VERSION: i64 = 1;

#[cfg(test)]
mod tests;

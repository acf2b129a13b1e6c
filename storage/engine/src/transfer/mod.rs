//! Moving a repository: everything that stood at one moment, and commits made elsewhere.
//!
//! Knows no stream format. An export is an [`Inventory`] of one moment, from which any stretch of commits can be read at
//! any time; an import is a row of [`Grafting`]s, each stored in one batch with the caller's records, and references that
//! appear together at the end ([`Engine::publish_references`](crate::Engine::publish_references)).

mod graft;
mod inventory;
mod publish;

#[cfg(test)]
mod tests;

pub use graft::{Graft, Grafted, Grafting};
pub use inventory::{COMMITS_MAX, Inventory, Snapshot};
pub use publish::Published;

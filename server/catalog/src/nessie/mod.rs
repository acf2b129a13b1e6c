//! Use cases of the Nessie API, a file per group.
//!
//! Every one takes a principal, asks one batched question about access, and answers with domain values and the state it
//! really read ([`crate::Effective`]). Text forms, JSON and statuses are the adapter's.

pub mod commits;
pub mod config;
pub mod contents;
pub mod diff;
pub mod entries;
pub(crate) mod filter;
pub mod hash_order;
pub mod history;
pub mod log;
pub mod merge;
pub mod namespaces;
pub(crate) mod page;
pub mod point;
mod prepare;
pub mod references;
pub mod repository_config;
pub(crate) mod touched;
pub mod transplant;

pub use filter::probe_filter;
pub use page::{Mark, Page, Start};
pub use point::{Hash, Point};

//! Version control over a store: commit graph, key index, commit, merge, transplant, diff, history, references, and the
//! writer that puts everything in order.
//!
//! Knows no HTTP and no backend. Time and chance come only through the ports of `model`; what is stored changes only
//! through `Store::commit`. Start at [`Engine`].

pub mod backup;
pub mod commit;
pub mod error;
pub mod fsck;
pub mod graph;
pub mod history;
pub mod index;
pub mod merge;
pub mod pace;
pub mod refs;
pub mod scrub;
pub mod state;
pub mod transfer;
pub mod writer;

mod cache;
mod engine;

pub use engine::{Engine, Options};
pub use error::Error;

#[cfg(test)]
mod recovery_tests;
#[cfg(test)]
mod seam_tests;
#[cfg(test)]
mod testing;

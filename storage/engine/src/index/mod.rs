//! The key index: a history-independent search tree over both domains.
//!
//! The shape follows from the keys alone: a key's *level* is the number of trailing zero nibbles of its hash, a leaf
//! ends before every key of level 1 or more, a node of height `h` before every key of level `h + 1` or more. So the same
//! entries give the same nodes and the same root whatever the order they came in, equal ranges are equal nodes, and an
//! edit touches one path. Fan-out is about 16.
//!
//! Nodes are derived: new ones live in memory, hanging on the tree that needs them, until a checkpoint stores them.

mod builder;
mod cursor;
mod diff;
mod edit;
mod node;
mod nodes;
mod patch;
mod save;
mod scan;
mod tree;

pub use cursor::Cursor;
pub use diff::{Diff, DiffEntry};
pub use edit::Edit;
pub use node::{Item, Link, Node};
pub use nodes::Nodes;
pub use save::{Unsaved, forget_saved};
pub use scan::{Range, Scan};
pub use tree::Tree;

#[cfg(test)]
mod tests;

//! States: what a point in the history holds.

pub mod diff;
pub mod show;

//! Comparing states.

pub mod get_diff;

pub use get_diff::GetDiff;

//! Merge laws.

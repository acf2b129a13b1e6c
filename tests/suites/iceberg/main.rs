//! The Iceberg REST API over a whole catalog in this process: real handlers, engine and files, the store in memory.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a panic is a failed test; the lint sees test functions, but not what they call"
)]

mod access;
mod branches;
mod commits;
mod config;
mod documents;
mod failures;
mod harness;
mod namespaces;
mod races;
mod replays;
mod tables;
mod views;

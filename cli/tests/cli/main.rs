//! The command line against canned answers of API v2: what it asks, what it says, how it ends.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a panic here is a failed test, helpers included"
)]

mod completion;
mod contents;
mod exits;
mod ext;
mod help;
mod history;
mod merges;
#[cfg(unix)]
mod pty;
mod references;
mod settings;
mod shell;
mod streams;
mod stub;
mod world;

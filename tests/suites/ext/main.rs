//! Our own API in process: the ref log and the way back, rebase, export and import.

#![allow(
    clippy::indexing_slicing,
    reason = "documents of answers are read by name; a missing field fails the test"
)]

mod access;
mod exports;
#[path = "../nessie/harness.rs"]
#[allow(dead_code, reason = "the harness of the Nessie suite, which uses more of it")]
mod harness;
mod imports;
mod rebase;
mod reflog;
mod restore;
mod round_trip;
mod streams;
mod world;

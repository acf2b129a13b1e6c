//! The Nessie API in process: requests into the service, answers out, a store in memory, no sockets.

#![allow(
    clippy::indexing_slicing,
    reason = "documents of answers are read by name; a missing field fails the test"
)]

mod access;
mod differences;
mod golden;
mod gone;
mod harness;
mod idempotency;
mod refusals;
mod v1;
mod v2;

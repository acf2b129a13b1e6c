//! The command line against a whole server: what people type, on a store in a temporary folder.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "answers are read by name; what is missing or fails ends the test"
)]

mod history;
#[path = "../live.rs"]
mod live;
mod merges;
mod process;
mod pynessie;
mod server;
mod settings;
mod shell;
mod stop;
mod transfers;
mod world;

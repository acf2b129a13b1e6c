//! The server: arguments, settings, wiring, telemetry, shutdown, subcommands.
//!
//! This crate decides which implementations meet (`wiring`) and owns a server's life from settings to drain
//! ([`start`], [`Running::stop`]). It knows no semantics and no wire format; those live in `catalog` and `http`.
//! The binary is [`args`] and [`command`] around it; tests start servers in their own process with [`start`].

pub mod args;
mod aside;
mod backup;
pub mod command;
pub mod config;
mod control;
mod descriptors;
mod dev;
mod fsck;
mod listen;
mod memory;
mod ready_file;
mod running;
mod scrub;
mod shutdown;
mod telemetry;
mod vault;
mod wiring;

pub use ready_file::{Ready, S3};
pub use running::{Mode, Running, start};

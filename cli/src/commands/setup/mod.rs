//! The program itself: settings, the server's nature, completions, manuals.

pub mod complete;
pub mod completions;
pub mod config;
pub mod exit_codes;
pub mod man;
pub mod remote;
mod written;

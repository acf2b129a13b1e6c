//! Use cases that the Nessie and Iceberg APIs lack: the ref log and the way back, rebase, export and import.

mod error;
pub mod export;
pub mod import;
mod info;
pub mod rebase;
pub mod reflog;
pub mod restore;
mod transfers;

pub use error::Refusal;
pub(crate) use transfers::Transfers;
pub use transfers::{EXPORTS_MAX, IMPORTS_MAX};

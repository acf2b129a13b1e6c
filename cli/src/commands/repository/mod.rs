//! The repository as a whole: the log of its references, its way out of one server and into another.

pub mod export;
mod from_nessie;
pub mod import;
pub mod reflog;
mod sink;
pub mod undo;

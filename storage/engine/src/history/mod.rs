//! History: the log of a commit, and the commits that changed a key.

mod key_history;
mod log;

pub(crate) use key_history::history_rows;
pub use log::{Log, LogEntry};

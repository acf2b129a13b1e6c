//! History: the log of a commit, the commits that changed a key, and the changes of references.

mod key_history;
mod log;
mod reflog;

pub(crate) use key_history::history_rows;
pub use log::{Log, LogEntry};
pub use reflog::{Place, Reflog};

//! Types that several endpoints share.

mod error;
mod import;
mod log;

pub use error::{ErrorBody, ErrorCode, ErrorDetails, ExtError};
pub use import::{ImportState, ImportStatus};
pub use log::{LogEntry, LogOperation, NamedReference, RefType};

//! What only our own API answers instead of success.

use lochan_storage_odb::RefLogEntry;

/// Answers of our own use cases. Messages are safe to show.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// The log of a reference has no such entry.
    #[error("{0}")]
    LogEntryNotFound(String),
    /// The newest entry of a log is not the one that the caller has seen.
    #[error("{message}")]
    ReferenceChanged {
        /// For people.
        message: String,
        /// The newest entry.
        current: Box<RefLogEntry>,
    },
    /// Nothing is known of an import.
    #[error("nothing was taken yet of an import called '{0}'")]
    ImportNotFound(String),
    /// An import does not go on like this.
    #[error("{message}")]
    ImportConflict {
        /// For people.
        message: String,
    },
    /// References of a stream exist here.
    #[error("references that exist stand in the way of the import: {}", listed(.0))]
    ReferencesExist(Vec<String>),
    /// A stream says what cannot be.
    #[error("{0}")]
    Stream(String),
    /// As many exports or imports are at work as may be; nothing was done.
    #[error("{0} are at work already, try again later")]
    TransfersBusy(&'static str),
}

/// At most this many names stand in a message.
const NAMES_SHOWN: usize = 10;

fn listed(names: &[String]) -> String {
    let mut text = names.iter().take(NAMES_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
    if let Some(more) = names.len().checked_sub(NAMES_SHOWN).filter(|more| *more > 0) {
        text += &format!(" and {more} more");
    }
    text
}

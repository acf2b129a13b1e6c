//! What can go wrong, by what a caller does about it.

use std::error::Error as StdError;

/// The cause below, kept for the operator's log; never shown to a client.
pub(crate) type Source = Box<dyn StdError + Send + Sync>;

/// A failure of one operation on one location.
///
/// `location` is always the text the caller wrote. No variant carries credentials.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing is stored there, or the bucket does not exist. A caller answers "no such object".
    #[error("nothing is stored at {location}")]
    NotFound {
        /// Where it was looked for.
        location: String,
    },
    /// A new object was to be created and one is there already. A caller picks another name.
    #[error("{location} exists already")]
    AlreadyExists {
        /// The name that is taken.
        location: String,
    },
    /// The store asks for patience (429 or 503) and did so until our retries ended. Retry later.
    #[error("the object store is throttling requests for {location}")]
    Throttled {
        /// What was asked for.
        location: String,
        /// The last answer.
        source: Source,
    },
    /// The store refuses our credentials or our user. An operator has to act.
    #[error("access to {location} is denied")]
    Denied {
        /// What was asked for.
        location: String,
        /// The refusal.
        source: Source,
    },
    /// No usable answer: connection, time-out, 5xx, full or failing disk. After a write it is unknown
    /// whether the object is there.
    #[error("the object store could not be used for {location}")]
    Unavailable {
        /// What was asked for.
        location: String,
        /// The last failure.
        source: Source,
    },
    /// The object is larger than this server reads or writes in one piece.
    #[error("{location} has {size_bytes} bytes, more than the {limit_bytes} allowed")]
    TooLarge {
        /// The object.
        location: String,
        /// Its size.
        size_bytes: u64,
        /// The bound, [`crate::OBJECT_BYTES_MAX`].
        limit_bytes: u64,
    },
    /// The location, or a warehouse's configuration at it, cannot be used, whatever the store says.
    #[error("location '{location}' {reason}")]
    Invalid {
        /// The text as given.
        location: String,
        /// Why, as the rest of the sentence that the location begins.
        reason: String,
    },
    /// Anything else; retrying is not known to help.
    #[error("the object store failed for {location}")]
    Other {
        /// What was asked for.
        location: String,
        /// The failure.
        source: Source,
    },
}

impl Error {
    /// The location concerned, as the caller wrote it.
    pub fn location(&self) -> &str {
        match self {
            Error::NotFound { location }
            | Error::AlreadyExists { location }
            | Error::Throttled { location, .. }
            | Error::Denied { location, .. }
            | Error::Unavailable { location, .. }
            | Error::TooLarge { location, .. }
            | Error::Invalid { location, .. }
            | Error::Other { location, .. } => location,
        }
    }

    /// Whether the same call may succeed later without anybody changing anything.
    pub fn is_transient(&self) -> bool {
        matches!(self, Error::Throttled { .. } | Error::Unavailable { .. })
    }

    pub(crate) fn invalid(location: impl Into<String>, reason: impl Into<String>) -> Error {
        Error::Invalid { location: location.into(), reason: reason.into() }
    }
}

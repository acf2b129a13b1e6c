//! What a use case can answer instead of success. Each surface maps every variant to a status; messages are safe to show.

use std::time::Duration;

use lochan_storage_engine::Error as EngineError;
pub use lochan_storage_files::Error as FilesError;
use lochan_storage_iceberg::Error as IcebergError;
use lochan_storage_model::{Conflict, ContentKey};
use lochan_storage_odb::StoreError;

/// Errors of use cases.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is malformed or contradicts itself or the state it names.
    #[error("{0}")]
    BadRequest(String),
    /// A write to a tag, a commit or a time.
    #[error("{0}")]
    FixedState(String),
    /// A reference or commit does not exist, or is not where it must be. The message is that of the Nessie API.
    #[error("{0}")]
    ReferenceNotFound(String),
    /// No content under a key.
    #[error("Could not find content for key '{key}' in reference '{reference}'.")]
    ContentNotFound {
        /// The key.
        key: ContentKey,
        /// The reference as it was asked for.
        reference: String,
    },
    /// A namespace does not exist (v1 namespace calls, Iceberg).
    #[error("Namespace '{shown}' does not exist")]
    NamespaceNotFound {
        /// The namespace.
        key: ContentKey,
        /// The namespace in the text form of the surface.
        shown: String,
    },
    /// A namespace, or something else of its name, exists.
    #[error("{0}")]
    NamespaceExists(String),
    /// A namespace has children.
    #[error("Namespace '{0}' is not empty")]
    NamespaceNotEmpty(String),
    /// A table, view or namespace does not exist (Iceberg): kind and name.
    #[error("{kind} does not exist: {name}")]
    ObjectNotFound {
        /// `Table`, `View` or `Namespace`.
        kind: ObjectKind,
        /// Levels and name joined by dots.
        name: String,
    },
    /// A table or view exists already (Iceberg). The message says which.
    #[error("{0}")]
    ObjectExists(String),
    /// No warehouse of this name.
    #[error("Warehouse '{0}' is not known")]
    WarehouseNotFound(String),
    /// A metadata file that the catalog names is gone.
    #[error("Failed to open input stream for file: {0}")]
    MetadataMissing(String),
    /// A branch or tag of this name exists.
    #[error("{0}")]
    ReferenceExists(String),
    /// A reference is not at its expected commit, or operations conflict with the head. Nothing was applied.
    #[error("{message}")]
    Conflict {
        /// For people.
        message: String,
        /// Each conflict.
        conflicts: Vec<Conflict>,
    },
    /// A document refuses the change (Iceberg requirements, updates, validation).
    #[error(transparent)]
    Document(#[from] IcebergError),
    /// A property is both set and removed.
    #[error("{0}")]
    Unprocessable(String),
    /// The principal may not do this.
    #[error("{0}")]
    Forbidden(String),
    /// Too much waits; nothing was admitted.
    #[error("the server is busy, try again later")]
    Busy {
        /// When to try again.
        retry_after: Duration,
    },
    /// Writes are refused or the server is stopping; nothing was applied.
    #[error("{0}")]
    Unavailable(String),
    /// There is no room for writes; nothing was applied.
    #[error("{0}")]
    Full(String),
    /// A write may or may not have been applied.
    #[error("the outcome of the write is not known: {0}")]
    Unknown(String),
    /// Object storage failed; nothing was applied.
    #[error(transparent)]
    Files(FilesError),
    /// What only our own API answers.
    #[error(transparent)]
    Own(#[from] crate::ext::Refusal),
    /// Something that should not happen: logged with its chain, answered plainly.
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Kinds of objects of the Iceberg surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// A namespace.
    Namespace,
    /// A table.
    Table,
    /// A view.
    View,
}

impl std::fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Namespace => "Namespace",
            Self::Table => "Table",
            Self::View => "View",
        })
    }
}

impl From<EngineError> for Error {
    fn from(error: EngineError) -> Self {
        let message = error.to_string();
        match error {
            EngineError::ReferenceNotFound(_)
            | EngineError::CommitNotFound(_)
            | EngineError::NotOnBranch { .. }
            | EngineError::NoCommonAncestor { .. } => Self::ReferenceNotFound(message),
            EngineError::ReferenceExists(_) => Self::ReferenceExists(message),
            EngineError::NotABranch(_) | EngineError::BadRequest(_) => Self::BadRequest(message),
            EngineError::UnexpectedHash { .. }
            | EngineError::ReferenceMoved(_)
            | EngineError::OtherKind(_) => Self::unexpected_hash(message),
            EngineError::KeysNotUsed { unused, nameless, named } => {
                Self::BadRequest(crate::nessie::merge::keys_not_used(&unused, nameless, named))
            }
            EngineError::NoLogEntry { .. } => crate::ext::Refusal::LogEntryNotFound(message).into(),
            EngineError::LogMoved { found, .. } => {
                crate::ext::Refusal::ReferenceChanged { message, current: found }.into()
            }
            EngineError::Conflicts(conflicts) => Self::Conflict { message, conflicts },
            EngineError::RecordChanged => Self::Conflict { message, conflicts: Vec::new() },
            EngineError::Busy { retry_after } => Self::Busy { retry_after },
            EngineError::Stopping => Self::Unavailable(message),
            EngineError::IndexNode(_) => Self::Internal(error.into()),
            EngineError::Store(store) => store.into(),
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::WritesRefused(_) => Self::Unavailable(message),
            StoreError::Full(_) => Self::Full(message),
            StoreError::Unknown(cause) => Self::Unknown(cause),
            StoreError::TooLarge { .. } => Self::BadRequest(message),
            StoreError::Corrupt { .. } | StoreError::Open(_) | StoreError::Read(_) => {
                Self::Internal(error.into())
            }
        }
    }
}

impl From<FilesError> for Error {
    fn from(error: FilesError) -> Self {
        Self::Files(error)
    }
}

impl Error {
    /// A reference that is elsewhere than expected (Nessie API, 5.2).
    #[must_use]
    pub fn unexpected_hash(message: String) -> Self {
        // Messages of conflicts are clauses; the sentence made of them begins large and ends with a full stop.
        let mut chars = message.chars();
        let first = chars.next().map(|c| c.to_lowercase().to_string()).unwrap_or_default();
        let conflict = Conflict {
            kind: lochan_storage_model::ConflictKind::UnexpectedHash,
            key: None,
            path: None,
            message: format!("{first}{}", chars.as_str().trim_end_matches('.')),
        };
        Self::Conflict { message, conflicts: vec![conflict] }
    }
}

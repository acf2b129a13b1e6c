use thiserror::Error as ThisError;

/// Why a request against a document was refused. The message is the text of the wire answer.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
pub enum Error {
    /// A requirement does not hold: 409 `CommitFailedException`; the client may refresh and retry.
    #[error("{0}")]
    Requirement(String),
    /// The table or view should not exist but does (`assert-create`): 409 `AlreadyExistsException`.
    #[error("{0}")]
    AlreadyExists(String),
    /// The update was made against an older state (stale sequence number or first row id): 409 `CommitFailedException`.
    #[error("{0}")]
    Conflict(String),
    /// The resulting metadata would be invalid: 400 `ValidationException`.
    #[error("{0}")]
    Validation(String),
    /// The request or document cannot be understood (bad JSON shape, unknown action): 400 `BadRequestException`.
    #[error("{0}")]
    BadRequest(String),
}

impl Error {
    pub(crate) fn parse(what: &str, source: &serde_json::Error) -> Self {
        Self::BadRequest(format!("Cannot parse {what}: {source}"))
    }
}

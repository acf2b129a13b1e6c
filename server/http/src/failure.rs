//! What ends a request without success.

use crate::error::Refusal;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Refused by the HTTP layer, extractors included.
    #[error(transparent)]
    Refusal(#[from] Refusal),
    /// What a use case came to.
    #[error(transparent)]
    App(#[from] lochan_server_catalog::Error),
    /// A handler panicked; the panic hook has logged where.
    #[error("handler panicked")]
    Panicked,
    /// Something no client can be blamed for and no table foresees. Logged with its chain, answered plainly.
    #[error("unexpected error")]
    Unexpected(#[source] Box<dyn std::error::Error + Send + Sync>),
}

//! Refusals of the HTTP layer itself.

use std::time::Duration;

use http::StatusCode;
use lochan_api_spec::syntax::query::QueryError;
use lochan_server_catalog::access::identity::{Reason, Unknown};

/// Why the HTTP layer refused or gave up a request. The text is what the client reads.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Syntax of path, query, headers or body.
    #[error("{0}")]
    Malformed(String),
    /// No such path.
    #[error(
        "There is nothing at this path. The Nessie API is at /api/v1 and /api/v2, the Iceberg REST API at /iceberg, our own at /ext/v1, and what they offer is told at /openapi/ui."
    )]
    UnknownPath,
    /// The path is one of another surface.
    #[error("There is nothing at this path; the Iceberg REST API is at /iceberg.")]
    MisplacedPath,
    /// The path is no part of a URI.
    #[error("The path holds characters that must be percent-encoded.")]
    IllegalPath,
    /// The path exists, the method does not; holds the `Allow` header.
    #[error("This path has no such method. It has: {allow}.")]
    WrongMethod {
        /// Methods of the path, separated by commas.
        allow: String,
    },
    /// The client takes no JSON.
    #[error("Answers are application/json, which the Accept header does not take.")]
    NotAcceptable,
    /// The body is no JSON by its own account, or coded in a way nobody announced.
    #[error("{0}")]
    UnsupportedMediaType(String),
    /// The decoded body is over the limit.
    #[error("The request body is larger than {limit_bytes} bytes.")]
    BodyTooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// The path and query are over the limit.
    #[error("The request target is longer than {limit_bytes} bytes.")]
    TargetTooLong {
        /// The limit.
        limit_bytes: usize,
    },
    /// The body did not arrive in time.
    #[error("The request body did not arrive in time.")]
    BodyTimeout,
    /// The body ended early or the connection broke.
    #[error("The request body could not be read to its end.")]
    BodyBroken,
    /// The request says not who sends it.
    #[error("This server wants to know who asks: send 'Authorization: Bearer TOKEN'.")]
    NoToken,
    /// The request says who sends it in a way that is not understood.
    #[error("The Authorization header is not understood: there must be one, 'Bearer TOKEN'.")]
    NoBearer,
    /// The token is no good.
    #[error("Not authenticated: {0}.")]
    BadToken(Reason),
    /// Whether a token is good cannot be found out now.
    #[error("The server cannot find out now whether the token is good; nothing was done.")]
    TokenUndecided {
        /// When to try again.
        retry_after: Duration,
    },
    /// Too much is at work already. Nothing was done.
    #[error("The server is busy; nothing was done.")]
    Busy {
        /// When to try again.
        retry_after_seconds: u32,
    },
    /// A read took too long.
    #[error("The request took too long and was given up; it changed nothing.")]
    ReadTimeout,
    /// The operation is part of the contract and not offered by this server.
    #[error("This server does not offer the operation.")]
    NotOffered,
    /// A handler panicked or broke in another unforeseen way. The log has the details under the request id.
    #[error("An unexpected error happened. The server's log has it under request id {request_id}.")]
    Unexpected {
        /// The id to look for.
        request_id: String,
        /// Whether the operation may have taken effect nevertheless.
        outcome_unknown: bool,
    },
}

impl From<QueryError> for Refusal {
    fn from(error: QueryError) -> Self {
        Refusal::Malformed(error.to_string())
    }
}

impl From<Unknown> for Refusal {
    fn from(unknown: Unknown) -> Self {
        match unknown {
            Unknown::Refused(reason) => Refusal::BadToken(reason),
            Unknown::Undecided { retry_after } => Refusal::TokenUndecided { retry_after },
        }
    }
}

impl Refusal {
    /// Its status, the same on every surface.
    pub fn status(&self) -> StatusCode {
        match self {
            Refusal::Malformed(_) => StatusCode::BAD_REQUEST,
            Refusal::UnknownPath | Refusal::MisplacedPath => StatusCode::NOT_FOUND,
            Refusal::IllegalPath => StatusCode::BAD_REQUEST,
            Refusal::WrongMethod { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Refusal::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
            Refusal::UnsupportedMediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Refusal::BodyTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Refusal::TargetTooLong { .. } => StatusCode::URI_TOO_LONG,
            Refusal::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
            Refusal::BodyBroken => StatusCode::BAD_REQUEST,
            Refusal::NoToken | Refusal::NoBearer | Refusal::BadToken(_) => StatusCode::UNAUTHORIZED,
            Refusal::Busy { .. } | Refusal::ReadTimeout | Refusal::TokenUndecided { .. } => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            Refusal::NotOffered => StatusCode::NOT_IMPLEMENTED,
            Refusal::Unexpected { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Whether the Nessie API says nothing but the status (Nessie contract, section 1).
    pub(crate) fn is_silent_on_nessie(&self) -> bool {
        matches!(
            self,
            Refusal::UnknownPath
                | Refusal::IllegalPath
                | Refusal::WrongMethod { .. }
                | Refusal::NotAcceptable
                | Refusal::BodyTooLarge { .. }
        )
    }

    /// Seconds for the `Retry-After` header.
    pub fn retry_after_seconds(&self) -> Option<u32> {
        match self {
            Refusal::Busy { retry_after_seconds } => Some(*retry_after_seconds),
            Refusal::ReadTimeout => Some(crate::limits::RETRY_AFTER_SECONDS),
            Refusal::TokenUndecided { retry_after } => Some(super::seconds(*retry_after)),
            _ => None,
        }
    }

    /// What `WWW-Authenticate` says (RFC 6750, section 3): an error only to those who did send a token.
    pub fn challenge(&self) -> Option<String> {
        let invalid = |text: &dyn std::fmt::Display| {
            format!("Bearer realm=\"lochan\", error=\"invalid_token\", error_description=\"{text}\"")
        };
        match self {
            Refusal::NoToken => Some("Bearer realm=\"lochan\"".to_owned()),
            Refusal::NoBearer => Some("Bearer realm=\"lochan\", error=\"invalid_request\"".to_owned()),
            Refusal::BadToken(reason) => Some(invalid(reason)),
            _ => None,
        }
    }
}

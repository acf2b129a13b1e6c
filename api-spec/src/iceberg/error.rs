//! The error bodies of the Iceberg API.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The kinds clients branch on; Java switches on the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorType {
    /// 400: malformed request, unknown update.
    BadRequest,
    /// 400: semantic nonsense, a write to a fixed state.
    IllegalArgument,
    /// 400: the metadata would not be valid.
    Validation,
    /// 400: unknown branch, tag or commit. A 404 would make clients believe that the table is missing.
    NoSuchReference,
    /// 401: no valid token. Clients refresh on this status only.
    NotAuthorized,
    /// 403: authenticated, not allowed.
    Forbidden,
    /// 404: of list, create, register and rename targets.
    NoSuchNamespace,
    /// 404: also when the table's namespace is missing.
    NoSuchTable,
    /// 404: also when the view's namespace is missing.
    NoSuchView,
    /// 404: of config and prefixes.
    NoSuchWarehouse,
    /// 404: the entry exists, its metadata file does not.
    NotFound,
    /// 406: an operation that is not offered.
    UnsupportedOperation,
    /// 409: the name is taken.
    AlreadyExists,
    /// 409: a namespace with contents.
    NamespaceNotEmpty,
    /// 409: a requirement failed or a concurrent change cannot be merged; clients refresh and retry.
    CommitFailed,
    /// 419: credentials expired.
    AuthenticationTimeout,
    /// 422: one name both set and removed, or an idempotency key of another request.
    UnprocessableEntity,
    /// 429: throttled; clients retry.
    TooManyRequests,
    /// 500: of commit routes only: the outcome is unknown.
    CommitStateUnknown,
    /// 500: anything else.
    InternalServerError,
    /// 503: out of service for now.
    ServiceUnavailable,
    /// 503: slow down.
    SlowDown,
}

impl ErrorType {
    /// The wire word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BadRequest => "BadRequestException",
            Self::IllegalArgument => "IllegalArgumentException",
            Self::Validation => "ValidationException",
            Self::NoSuchReference => "NoSuchReferenceException",
            Self::NotAuthorized => "NotAuthorizedException",
            Self::Forbidden => "ForbiddenException",
            Self::NoSuchNamespace => "NoSuchNamespaceException",
            Self::NoSuchTable => "NoSuchTableException",
            Self::NoSuchView => "NoSuchViewException",
            Self::NoSuchWarehouse => "NoSuchWarehouseException",
            Self::NotFound => "NotFoundException",
            Self::UnsupportedOperation => "UnsupportedOperationException",
            Self::AlreadyExists => "AlreadyExistsException",
            Self::NamespaceNotEmpty => "NamespaceNotEmptyException",
            Self::CommitFailed => "CommitFailedException",
            Self::AuthenticationTimeout => "AuthenticationTimeoutException",
            Self::UnprocessableEntity => "UnprocessableEntityException",
            Self::TooManyRequests => "TooManyRequestsException",
            Self::CommitStateUnknown => "CommitStateUnknownException",
            Self::InternalServerError => "InternalServerError",
            Self::ServiceUnavailable => "ServiceUnavailableException",
            Self::SlowDown => "SlowDownException",
        }
    }

    /// The HTTP status the kind comes with.
    pub const fn status(self) -> u16 {
        match self {
            Self::BadRequest | Self::IllegalArgument | Self::Validation | Self::NoSuchReference => 400,
            Self::NotAuthorized => 401,
            Self::Forbidden => 403,
            Self::NoSuchNamespace
            | Self::NoSuchTable
            | Self::NoSuchView
            | Self::NoSuchWarehouse
            | Self::NotFound => 404,
            Self::UnsupportedOperation => 406,
            Self::AlreadyExists | Self::NamespaceNotEmpty | Self::CommitFailed => 409,
            Self::AuthenticationTimeout => 419,
            Self::UnprocessableEntity => 422,
            Self::TooManyRequests => 429,
            Self::CommitStateUnknown | Self::InternalServerError => 500,
            Self::ServiceUnavailable | Self::SlowDown => 503,
        }
    }
}

impl fmt::Display for ErrorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The body of every failure but those of OAuth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct ErrorResponse {
    /// The failure.
    pub error: ErrorModel,
}

/// A failure; all three fields are required.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct ErrorModel {
    /// For people; kits compare some.
    pub message: String,
    /// The word of an [`ErrorType`].
    #[serde(rename = "type")]
    pub kind: Cow<'static, str>,
    /// The HTTP status.
    pub code: u16,
}

impl ErrorResponse {
    /// A body with the kind's own status.
    pub fn new(kind: ErrorType, message: impl Into<String>) -> Self {
        Self::with_code(kind, kind.status(), message)
    }

    /// A body with another status, such as 501 for an operation that is switched off.
    pub fn with_code(kind: ErrorType, code: u16, message: impl Into<String>) -> Self {
        Self { error: ErrorModel { message: message.into(), kind: Cow::Borrowed(kind.as_str()), code } }
    }
}

/// The body of a failure of the token routes (RFC 6749).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct OAuthError {
    /// Such as `invalid_client` or `unsupported_grant_type`.
    pub error: Cow<'static, str>,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_description: Option<String>,
}

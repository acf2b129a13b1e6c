//! The error body of both versions.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::nessie::model::{Conflict, ContentKey};

/// What went wrong, as clients branch on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// 400: syntax, limits, content-id rules, bad filters.
    BadRequest,
    /// 403: not allowed.
    Forbidden,
    /// 404: unknown reference or commit, or a hash not on the branch.
    ReferenceNotFound,
    /// 404: a single content was asked for.
    ContentNotFound,
    /// 404: v1 namespaces.
    NamespaceNotFound,
    /// 409: create.
    ReferenceAlreadyExists,
    /// 409: expected hash, commit, merge and transplant conflicts.
    ReferenceConflict,
    /// 409: v1 namespaces.
    NamespaceAlreadyExists,
    /// 409: v1 namespaces.
    NamespaceNotEmpty,
    /// 415: not JSON.
    UnsupportedMediaType,
    /// 429: too busy.
    TooManyRequests,
    /// 503: out of service for now.
    ServiceUnavailable,
    /// 500, or a word this program does not know.
    #[serde(other)]
    Unknown,
}

impl ErrorCode {
    /// The HTTP status the code comes with.
    pub const fn status(self) -> u16 {
        match self {
            Self::BadRequest => 400,
            Self::Forbidden => 403,
            Self::ReferenceNotFound | Self::ContentNotFound | Self::NamespaceNotFound => 404,
            Self::ReferenceAlreadyExists
            | Self::ReferenceConflict
            | Self::NamespaceAlreadyExists
            | Self::NamespaceNotEmpty => 409,
            Self::UnsupportedMediaType => 415,
            Self::TooManyRequests => 429,
            Self::Unknown => 500,
            Self::ServiceUnavailable => 503,
        }
    }

    /// The reason phrase of the status.
    pub const fn reason(self) -> &'static str {
        match self.status() {
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            409 => "Conflict",
            415 => "Unsupported Media Type",
            429 => "Too Many Requests",
            503 => "Service Unavailable",
            _ => "Internal Server Error",
        }
    }
}

/// The error body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NessieError {
    /// The HTTP status.
    pub status: u16,
    /// Its reason phrase.
    pub reason: Cow<'static, str>,
    /// For people; some tools compare it.
    #[serde(default)]
    pub message: String,
    /// What clients branch on.
    #[serde(default = "ErrorCode::unknown")]
    pub error_code: ErrorCode,
    /// Always null: this server sends no stack traces.
    #[serde(default)]
    pub server_stack_trace: Option<String>,
    /// Only for clients that announce spec 2 or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_details: Option<ErrorDetails>,
}

impl ErrorCode {
    fn unknown() -> Self {
        Self::Unknown
    }
}

impl NessieError {
    /// A body with the code's own status and reason.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            status: code.status(),
            reason: Cow::Borrowed(code.reason()),
            message: message.into(),
            error_code: code,
            server_stack_trace: None,
            error_details: None,
        }
    }

    /// Adds details.
    #[must_use]
    pub fn with_details(mut self, details: ErrorDetails) -> Self {
        self.error_details = Some(details);
        self
    }
}

/// Facts behind an error code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type")]
pub enum ErrorDetails {
    /// With REFERENCE_CONFLICT.
    #[serde(rename = "REFERENCE_CONFLICTS")]
    ReferenceConflicts {
        /// All of them.
        conflicts: Vec<Conflict>,
    },
    /// With CONTENT_NOT_FOUND and NAMESPACE_NOT_FOUND.
    #[serde(rename = "CONTENT_KEY")]
    ContentKey {
        /// The key that was asked for.
        #[serde(rename = "contentKey")]
        content_key: ContentKey,
    },
    /// A word this program does not know.
    #[serde(other)]
    #[cfg_attr(feature = "openapi", schemars(skip))]
    Unknown,
}

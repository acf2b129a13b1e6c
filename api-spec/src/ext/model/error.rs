//! The error body of `/ext/v1`.

use serde::{Deserialize, Serialize};

use crate::ext::model::LogEntry;
use crate::nessie::model::Conflict;

/// The body of every answer that is no success.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct ErrorBody {
    /// What went wrong.
    pub error: ExtError,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExtError {
    /// For programs.
    pub code: ErrorCode,
    /// For people.
    pub message: String,
    /// What a program may want to know besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<ErrorDetails>>,
}

/// What a program may want to know about an error. Every field is left out where it says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ErrorDetails {
    /// Keys that conflict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Conflict>,
    /// The newest log entry of the reference, when that is not the one expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<LogEntry>,
    /// References that stand in the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// The part of the stream that was wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<u64>,
    /// The line of the request's body that was wrong, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The next part that an import wants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_part: Option<u64>,
}

/// What went wrong, as programs branch on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    /// 400: syntax, limits, a request that contradicts itself.
    BadRequest,
    /// 400: an import stream that is damaged, out of order or not what its checks say.
    StreamInvalid,
    /// 401: who asks is not known.
    Unauthorized,
    /// 403: not allowed.
    Forbidden,
    /// 404: no such path.
    NotFound,
    /// 404: unknown reference or commit.
    ReferenceNotFound,
    /// 404: no such entry in the log of the reference.
    LogEntryNotFound,
    /// 404: no such import.
    ImportNotFound,
    /// 405: the path has no such method.
    MethodNotAllowed,
    /// 406: the answer's media type is not accepted.
    NotAcceptable,
    /// 408: the body did not arrive in time.
    RequestTimeout,
    /// 409: a reference of that name exists.
    ReferenceAlreadyExists,
    /// 409: a reference is not where it was expected.
    ReferenceConflict,
    /// 409: keys conflict.
    MergeConflict,
    /// 409: the import of this name was begun with another stream or other options, or waits for an earlier part.
    ImportConflict,
    /// 410: an export position that cannot be gone on from any more.
    PositionGone,
    /// 413: the body, or a part of a stream, is too large.
    TooLarge,
    /// 414: path and query are too long.
    UriTooLong,
    /// 415: a media type or coding that is not read.
    UnsupportedMediaType,
    /// 422: a body that cannot be gone by.
    Unprocessable,
    /// 429: too busy; nothing was done.
    TooManyRequests,
    /// 501: not offered by this server.
    NotImplemented,
    /// 503: out of service or too busy for now; nothing was done.
    ServiceUnavailable,
    /// 507: no room for writes; nothing was done.
    StorageFull,
    /// 500: the write may or may not have been applied.
    OutcomeUnknown,
    /// 500: what nobody foresaw, or a word this program does not know.
    #[serde(other)]
    Internal,
}

impl ErrorCode {
    /// The HTTP status the code comes with.
    pub const fn status(self) -> u16 {
        match self {
            Self::BadRequest | Self::StreamInvalid => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound | Self::ReferenceNotFound | Self::LogEntryNotFound | Self::ImportNotFound => 404,
            Self::MethodNotAllowed => 405,
            Self::NotAcceptable => 406,
            Self::RequestTimeout => 408,
            Self::ReferenceAlreadyExists
            | Self::ReferenceConflict
            | Self::MergeConflict
            | Self::ImportConflict => 409,
            Self::PositionGone => 410,
            Self::TooLarge => 413,
            Self::UriTooLong => 414,
            Self::UnsupportedMediaType => 415,
            Self::Unprocessable => 422,
            Self::TooManyRequests => 429,
            Self::OutcomeUnknown | Self::Internal => 500,
            Self::NotImplemented => 501,
            Self::ServiceUnavailable => 503,
            Self::StorageFull => 507,
        }
    }
}

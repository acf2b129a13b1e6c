//! Errors of `/ext/v1`, and of paths that belong to no surface.

use http::StatusCode;
use lochan_api_spec::ext::model::{ErrorBody, ErrorCode, ErrorDetails, ExtError};
use lochan_server_catalog::Error;
use lochan_server_catalog::error::FilesError;
use lochan_server_catalog::ext::Refusal as Own;
use lochan_storage_model::{Conflict, ConflictKind};

use super::{Refusal, STORE_RETRY_AFTER, UNAVAILABLE_RETRY_AFTER, seconds};
use crate::ext::convert::log_entry_out;
use crate::nessie::convert::conflict_out;
use crate::reply::Reply;

/// Builds an error answer.
pub fn answer(code: ErrorCode, message: String, details: ErrorDetails) -> Reply {
    let details = (details != ErrorDetails::default()).then(|| Box::new(details));
    let body = ErrorBody { error: ExtError { code, message, details } };
    let status = StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Reply::document(status, &body)
}

/// Builds the answer to what this layer refused itself.
pub fn refusal(refusal: &Refusal) -> Reply {
    let code = match refusal {
        Refusal::Malformed(_) | Refusal::IllegalPath | Refusal::BodyBroken => ErrorCode::BadRequest,
        Refusal::BodyTooLarge { .. } => ErrorCode::TooLarge,
        Refusal::TargetTooLong { .. } => ErrorCode::UriTooLong,
        Refusal::UnsupportedMediaType(_) => ErrorCode::UnsupportedMediaType,
        Refusal::NoToken | Refusal::NoBearer | Refusal::BadToken(_) => ErrorCode::Unauthorized,
        Refusal::Busy { .. } | Refusal::ReadTimeout | Refusal::TokenUndecided { .. } => {
            ErrorCode::ServiceUnavailable
        }
        Refusal::UnknownPath | Refusal::MisplacedPath => ErrorCode::NotFound,
        Refusal::WrongMethod { .. } => ErrorCode::MethodNotAllowed,
        Refusal::NotAcceptable => ErrorCode::NotAcceptable,
        Refusal::BodyTimeout => ErrorCode::RequestTimeout,
        Refusal::NotOffered => ErrorCode::NotImplemented,
        Refusal::Unexpected { outcome_unknown: true, .. } => ErrorCode::OutcomeUnknown,
        Refusal::Unexpected { .. } => ErrorCode::Internal,
    };
    answer(code, refusal.to_string(), ErrorDetails::default()).with_retry_after(refusal.retry_after_seconds())
}

/// Builds the answer to a failed use case, with `details` and those that the error has of its own; `None` for the
/// unforeseen, which the caller logs and answers plainly.
pub fn failure(error: &Error, mut details: ErrorDetails) -> Option<Reply> {
    let (code, retry_after) = match error {
        Error::BadRequest(_) | Error::FixedState(_) | Error::Document(_) => (ErrorCode::BadRequest, None),
        Error::ReferenceNotFound(_)
        | Error::ContentNotFound { .. }
        | Error::NamespaceNotFound { .. }
        | Error::ObjectNotFound { .. } => (ErrorCode::ReferenceNotFound, None),
        Error::WarehouseNotFound(_) | Error::MetadataMissing(_) => (ErrorCode::NotFound, None),
        Error::NamespaceExists(_) | Error::NamespaceNotEmpty(_) | Error::ObjectExists(_) => {
            (ErrorCode::MergeConflict, None)
        }
        Error::ReferenceExists(_) => (ErrorCode::ReferenceAlreadyExists, None),
        Error::Conflict { conflicts, .. } => {
            details.conflicts = conflicts.iter().map(conflict_out).collect();
            (conflict_code(conflicts), None)
        }
        Error::Unprocessable(_) => (ErrorCode::Unprocessable, None),
        Error::Forbidden(_) => (ErrorCode::Forbidden, None),
        Error::Busy { retry_after } => (ErrorCode::TooManyRequests, Some(*retry_after)),
        Error::Unavailable(_) => (ErrorCode::ServiceUnavailable, Some(UNAVAILABLE_RETRY_AFTER)),
        Error::Full(_) => (ErrorCode::StorageFull, Some(UNAVAILABLE_RETRY_AFTER)),
        Error::Unknown(_) => (ErrorCode::OutcomeUnknown, None),
        Error::Internal(_) => return None,
        Error::Files(files) => match files {
            FilesError::NotFound { .. } | FilesError::Invalid { .. } | FilesError::TooLarge { .. } => {
                (ErrorCode::BadRequest, None)
            }
            FilesError::Throttled { .. } => (ErrorCode::TooManyRequests, Some(STORE_RETRY_AFTER)),
            FilesError::Denied { .. } => (ErrorCode::Forbidden, None),
            FilesError::Unavailable { .. } => (ErrorCode::ServiceUnavailable, Some(STORE_RETRY_AFTER)),
            FilesError::AlreadyExists { .. } | FilesError::Other { .. } => return None,
        },
        Error::Own(own) => match own {
            Own::LogEntryNotFound(_) => (ErrorCode::LogEntryNotFound, None),
            Own::ReferenceChanged { current, .. } => {
                details.current = Some(log_entry_out(current));
                (ErrorCode::ReferenceConflict, None)
            }
            Own::ImportNotFound(_) => (ErrorCode::ImportNotFound, None),
            Own::ImportConflict { .. } => (ErrorCode::ImportConflict, None),
            Own::ReferencesExist(names) => {
                details.references.clone_from(names);
                (ErrorCode::ReferenceAlreadyExists, None)
            }
            Own::Stream(_) => (ErrorCode::StreamInvalid, None),
            Own::TransfersBusy(_) => (ErrorCode::ServiceUnavailable, Some(UNAVAILABLE_RETRY_AFTER)),
        },
    };
    Some(answer(code, error.to_string(), details).with_retry_after(retry_after.map(seconds)))
}

/// A reference that is elsewhere is told apart from keys that conflict.
fn conflict_code(conflicts: &[Conflict]) -> ErrorCode {
    let elsewhere = |conflict: &Conflict| conflict.kind == ConflictKind::UnexpectedHash;
    if conflicts.is_empty() || conflicts.iter().any(elsewhere) {
        ErrorCode::ReferenceConflict
    } else {
        ErrorCode::MergeConflict
    }
}

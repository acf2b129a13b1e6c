//! Errors of `/api/v1` and `/api/v2` (Nessie contract, section 13).

use std::borrow::Cow;
use std::time::Duration;

use http::StatusCode;
use lochan_api_spec::nessie::model::{ErrorCode, ErrorDetails, NessieError};
use lochan_server_catalog::Error;
use lochan_server_catalog::error::FilesError;

use super::{Refusal, STORE_RETRY_AFTER, UNAVAILABLE_RETRY_AFTER, seconds};
use crate::extract::ClientSpec;
use crate::nessie::convert::{conflict_out, key_out};
use crate::reply::Reply;

/// Builds an error answer. Details are left out for clients that announce no contract version from 2 on.
pub fn answer(mut body: NessieError, spec: ClientSpec) -> Reply {
    if !spec.takes_error_details() {
        body.error_details = None;
    }
    let status = StatusCode::from_u16(body.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Reply::document(status, &body)
}

/// Builds the answer to what this layer refused itself.
pub fn refusal(refusal: &Refusal, spec: ClientSpec) -> Reply {
    let body = with_status(NessieError::new(refusal_code(refusal), refusal.to_string()), refusal.status());
    answer(body, spec).with_retry_after(refusal.retry_after_seconds())
}

/// The code clients branch on. With the unknown one they go by the status.
fn refusal_code(refusal: &Refusal) -> ErrorCode {
    match refusal {
        Refusal::Malformed(_)
        | Refusal::BodyBroken
        | Refusal::IllegalPath
        | Refusal::BodyTooLarge { .. }
        | Refusal::TargetTooLong { .. } => ErrorCode::BadRequest,
        Refusal::UnsupportedMediaType(_) => ErrorCode::UnsupportedMediaType,
        Refusal::Busy { .. } | Refusal::ReadTimeout | Refusal::TokenUndecided { .. } => {
            ErrorCode::ServiceUnavailable
        }
        // The contract has no code for 401.
        Refusal::NoToken
        | Refusal::NoBearer
        | Refusal::BadToken(_)
        | Refusal::UnknownPath
        | Refusal::MisplacedPath
        | Refusal::WrongMethod { .. }
        | Refusal::NotAcceptable
        | Refusal::BodyTimeout
        | Refusal::NotOffered
        | Refusal::Unexpected { .. } => ErrorCode::Unknown,
    }
}

/// Builds the answer to a failed use case; `None` for the unforeseen, which the caller logs and answers plainly.
pub fn failure(error: &Error, spec: ClientSpec) -> Option<Reply> {
    let plain = |code| Some((NessieError::new(code, error.to_string()), None));
    let (body, retry_after) = match error {
        Error::BadRequest(_) | Error::FixedState(_) | Error::Document(_) | Error::Unprocessable(_) => {
            plain(ErrorCode::BadRequest)
        }
        Error::ReferenceNotFound(_) => plain(ErrorCode::ReferenceNotFound),
        Error::ContentNotFound { key, .. } => {
            let details = ErrorDetails::ContentKey { content_key: key_out(key) };
            Some((
                NessieError::new(ErrorCode::ContentNotFound, error.to_string()).with_details(details),
                None,
            ))
        }
        Error::NamespaceNotFound { key, .. } => {
            let details = ErrorDetails::ContentKey { content_key: key_out(key) };
            Some((
                NessieError::new(ErrorCode::NamespaceNotFound, error.to_string()).with_details(details),
                None,
            ))
        }
        Error::ObjectNotFound { .. } => plain(ErrorCode::ContentNotFound),
        Error::NamespaceExists(_) => plain(ErrorCode::NamespaceAlreadyExists),
        Error::NamespaceNotEmpty(_) => plain(ErrorCode::NamespaceNotEmpty),
        Error::ReferenceExists(_) => plain(ErrorCode::ReferenceAlreadyExists),
        Error::ObjectExists(_) => plain(ErrorCode::ReferenceConflict),
        Error::Conflict { conflicts, .. } => {
            let body = NessieError::new(ErrorCode::ReferenceConflict, error.to_string());
            let conflicts: Vec<_> = conflicts.iter().map(conflict_out).collect();
            let has_any = !conflicts.is_empty();
            let details = ErrorDetails::ReferenceConflicts { conflicts };
            Some((if has_any { body.with_details(details) } else { body }, None))
        }
        Error::WarehouseNotFound(_) | Error::MetadataMissing(_) => {
            let body = NessieError::new(ErrorCode::Unknown, error.to_string());
            Some((with_status(body, StatusCode::NOT_FOUND), None))
        }
        Error::Forbidden(_) => plain(ErrorCode::Forbidden),
        Error::Busy { retry_after } => Some((throttled(error), Some(*retry_after))),
        Error::Unavailable(_) => Some((
            NessieError::new(ErrorCode::ServiceUnavailable, error.to_string()),
            Some(UNAVAILABLE_RETRY_AFTER),
        )),
        Error::Full(_) => {
            let body = NessieError::new(ErrorCode::ServiceUnavailable, error.to_string());
            Some((with_status(body, StatusCode::INSUFFICIENT_STORAGE), Some(UNAVAILABLE_RETRY_AFTER)))
        }
        // Use cases of this surface have no answer of our own.
        Error::Unknown(_) | Error::Internal(_) | Error::Own(_) => None,
        Error::Files(files) => files_failure(files, error),
    }?;
    Some(answer(body, spec).with_retry_after(retry_after.map(seconds)))
}

fn files_failure(files: &FilesError, error: &Error) -> Option<(NessieError, Option<Duration>)> {
    let plain = |code| NessieError::new(code, error.to_string());
    match files {
        FilesError::NotFound { .. } | FilesError::Invalid { .. } | FilesError::TooLarge { .. } => {
            Some((plain(ErrorCode::BadRequest), None))
        }
        FilesError::Throttled { .. } => Some((throttled(error), Some(STORE_RETRY_AFTER))),
        FilesError::Denied { .. } => Some((plain(ErrorCode::Forbidden), None)),
        FilesError::Unavailable { .. } => {
            Some((plain(ErrorCode::ServiceUnavailable), Some(STORE_RETRY_AFTER)))
        }
        FilesError::AlreadyExists { .. } | FilesError::Other { .. } => None,
    }
}

fn throttled(error: &Error) -> NessieError {
    let message = format!("Backend store refused to process the request: {error}");
    NessieError::new(ErrorCode::TooManyRequests, message)
}

fn with_status(mut body: NessieError, status: StatusCode) -> NessieError {
    body.status = status.as_u16();
    body.reason = Cow::Borrowed(status.canonical_reason().unwrap_or("Unknown"));
    body
}

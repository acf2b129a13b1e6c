//! Errors of `/iceberg` (Iceberg REST contract, sections 1.2 and 3.8): always the whole envelope.

use std::borrow::Cow;
use std::time::Duration;

use http::StatusCode;
use lochan_api_spec::iceberg::error::{ErrorResponse, ErrorType, OAuthError};
use lochan_server_catalog::Error;
use lochan_server_catalog::error::{FilesError, ObjectKind};
use lochan_storage_iceberg::Error as DocumentError;
use lochan_storage_model::{Conflict, ConflictKind};

use super::{Refusal, STORE_RETRY_AFTER, UNAVAILABLE_RETRY_AFTER, seconds};
use crate::reply::Reply;
use crate::router::Op;

/// Builds an error answer.
pub fn answer(body: &ErrorResponse) -> Reply {
    let status = StatusCode::from_u16(body.error.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Reply::document(status, body)
}

/// Builds the answer to what this layer refused itself.
pub fn refusal(refusal: &Refusal) -> Reply {
    let code = refusal.status().as_u16();
    answer(&ErrorResponse::with_code(refusal_type(refusal), code, refusal.to_string()))
        .with_retry_after(refusal.retry_after_seconds())
}

/// Builds the answer to a refused token request, in the words of OAuth.
pub fn token_refusal(refusal: &Refusal) -> Reply {
    let error = match refusal {
        Refusal::NotOffered => "unsupported_grant_type",
        Refusal::Malformed(_) => "invalid_request",
        _ => "server_error",
    };
    let body = OAuthError { error: Cow::Borrowed(error), error_description: Some(refusal.to_string()) };
    Reply::document(refusal.status(), &body).with_retry_after(refusal.retry_after_seconds())
}

fn refusal_type(refusal: &Refusal) -> ErrorType {
    match refusal {
        Refusal::Malformed(_)
        | Refusal::BodyBroken
        | Refusal::IllegalPath
        | Refusal::BodyTooLarge { .. }
        | Refusal::TargetTooLong { .. }
        | Refusal::UnsupportedMediaType(_)
        | Refusal::BodyTimeout
        | Refusal::NotAcceptable => ErrorType::BadRequest,
        // On a table route Java takes it for "no such table", which is the mildest reading of a 404.
        Refusal::UnknownPath | Refusal::MisplacedPath => ErrorType::UnsupportedOperation,
        Refusal::WrongMethod { .. } | Refusal::NotOffered => ErrorType::UnsupportedOperation,
        Refusal::NoToken | Refusal::NoBearer | Refusal::BadToken(_) => ErrorType::NotAuthorized,
        Refusal::Busy { .. } | Refusal::ReadTimeout | Refusal::TokenUndecided { .. } => {
            ErrorType::ServiceUnavailable
        }
        Refusal::Unexpected { outcome_unknown: true, .. } => ErrorType::CommitStateUnknown,
        Refusal::Unexpected { .. } => ErrorType::InternalServerError,
    }
}

/// Builds the answer to a failed use case; `None` for the unforeseen, which the caller logs and answers plainly.
pub fn failure(error: &Error, op: Option<Op>) -> Option<Reply> {
    let plain = |kind| Some((kind, None));
    let (kind, retry_after) = match error {
        Error::BadRequest(_) => plain(ErrorType::BadRequest),
        Error::FixedState(_) => plain(ErrorType::IllegalArgument),
        Error::ReferenceNotFound(_) => plain(ErrorType::NoSuchReference),
        Error::ContentNotFound { .. } => plain(missing(op.map_or(ObjectKind::Table, object_of))),
        Error::ObjectNotFound { kind, .. } => plain(missing(*kind)),
        Error::NamespaceNotFound { .. } => plain(ErrorType::NoSuchNamespace),
        Error::NamespaceNotEmpty(_) => plain(ErrorType::NamespaceNotEmpty),
        Error::NamespaceExists(_) | Error::ObjectExists(_) => plain(ErrorType::AlreadyExists),
        Error::ReferenceExists(_) => plain(ErrorType::AlreadyExists),
        Error::WarehouseNotFound(_) => plain(ErrorType::NoSuchWarehouse),
        Error::MetadataMissing(_) => plain(ErrorType::NotFound),
        Error::Conflict { conflicts, .. } => plain(conflict_type(conflicts)),
        Error::Document(document) => plain(document_type(document, op)),
        Error::Unprocessable(_) => plain(ErrorType::UnprocessableEntity),
        Error::Forbidden(_) => plain(ErrorType::Forbidden),
        // 429 and not 503: on a commit route clients read a 5xx as "the outcome is unknown", and it is known.
        Error::Busy { retry_after } => Some((ErrorType::TooManyRequests, Some(*retry_after))),
        Error::Unavailable(_) | Error::Full(_) => {
            Some((ErrorType::ServiceUnavailable, Some(UNAVAILABLE_RETRY_AFTER)))
        }
        // Use cases of this surface have no answer of our own.
        Error::Unknown(_) | Error::Internal(_) | Error::Own(_) => None,
        Error::Files(files) => files_type(files),
    }?;
    let code = match error {
        Error::Full(_) => StatusCode::INSUFFICIENT_STORAGE.as_u16(),
        _ => kind.status(),
    };
    Some(
        answer(&ErrorResponse::with_code(kind, code, text(error))).with_retry_after(retry_after.map(seconds)),
    )
}

/// The words of this surface, where they differ from the error's own.
fn text(error: &Error) -> String {
    match error {
        Error::NamespaceNotEmpty(name) => format!("Namespace {name} is not empty"),
        other => other.to_string(),
    }
}

fn missing(kind: ObjectKind) -> ErrorType {
    match kind {
        ObjectKind::Namespace => ErrorType::NoSuchNamespace,
        ObjectKind::Table => ErrorType::NoSuchTable,
        ObjectKind::View => ErrorType::NoSuchView,
    }
}

/// What the path of an operation names.
fn object_of(op: Op) -> ObjectKind {
    let template = op.template();
    if template.contains("/views") {
        ObjectKind::View
    } else if template.contains("/tables") || template.contains("/transactions") {
        ObjectKind::Table
    } else {
        ObjectKind::Namespace
    }
}

fn conflict_type(conflicts: &[Conflict]) -> ErrorType {
    match conflicts {
        [only] if only.kind == ConflictKind::KeyExists => ErrorType::AlreadyExists,
        _ if conflicts.iter().any(|conflict| conflict.kind == ConflictKind::NamespaceAbsent) => {
            ErrorType::NoSuchNamespace
        }
        _ if conflicts.iter().any(|conflict| conflict.kind == ConflictKind::NamespaceNotEmpty) => {
            ErrorType::NamespaceNotEmpty
        }
        _ => ErrorType::CommitFailed,
    }
}

fn document_type(document: &DocumentError, op: Option<Op>) -> ErrorType {
    match document {
        DocumentError::Requirement(_) | DocumentError::Conflict(_) => ErrorType::CommitFailed,
        DocumentError::AlreadyExists(_) => ErrorType::AlreadyExists,
        // The kits of Iceberg expect Java's class for a view that cannot be, which clients build from this type.
        DocumentError::Validation(_) if op.map(object_of) == Some(ObjectKind::View) => {
            ErrorType::IllegalArgument
        }
        DocumentError::Validation(_) => ErrorType::Validation,
        DocumentError::BadRequest(_) => ErrorType::BadRequest,
    }
}

fn files_type(files: &FilesError) -> Option<(ErrorType, Option<Duration>)> {
    match files {
        FilesError::NotFound { .. } | FilesError::Invalid { .. } | FilesError::TooLarge { .. } => {
            Some((ErrorType::IllegalArgument, None))
        }
        FilesError::Throttled { .. } => Some((ErrorType::TooManyRequests, Some(STORE_RETRY_AFTER))),
        FilesError::Denied { .. } => Some((ErrorType::Forbidden, None)),
        FilesError::Unavailable { .. } => Some((ErrorType::ServiceUnavailable, Some(STORE_RETRY_AFTER))),
        FilesError::AlreadyExists { .. } | FilesError::Other { .. } => None,
    }
}

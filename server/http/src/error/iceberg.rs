//! Errors of `/iceberg` (Iceberg REST contract, section 1.2): always the whole envelope.

use std::borrow::Cow;

use http::StatusCode;
use lochan_api_spec::iceberg::error::{ErrorResponse, ErrorType, OAuthError};

use super::Refusal;
use crate::reply::Reply;

/// Builds an error answer.
pub fn answer(body: &ErrorResponse) -> Reply {
    let status = StatusCode::from_u16(body.error.code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    Reply::document(status, body)
}

/// Builds the answer to what this layer refused itself.
pub fn refusal(refusal: &Refusal) -> Reply {
    let code = refusal.status().as_u16();
    answer(&ErrorResponse::with_code(kind(refusal), code, refusal.to_string()))
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

fn kind(refusal: &Refusal) -> ErrorType {
    match refusal {
        Refusal::Malformed(_)
        | Refusal::BodyBroken
        | Refusal::BodyTooLarge { .. }
        | Refusal::TargetTooLong { .. }
        | Refusal::UnsupportedMediaType(_)
        | Refusal::BodyTimeout
        | Refusal::NotAcceptable => ErrorType::BadRequest,
        // On a table route Java takes it for "no such table", which is the mildest reading of a 404.
        Refusal::UnknownPath => ErrorType::UnsupportedOperation,
        Refusal::WrongMethod { .. } | Refusal::NotOffered => ErrorType::UnsupportedOperation,
        Refusal::Busy { .. } | Refusal::ReadTimeout => ErrorType::ServiceUnavailable,
        Refusal::Unexpected { outcome_unknown: true, .. } => ErrorType::CommitStateUnknown,
        Refusal::Unexpected { .. } => ErrorType::InternalServerError,
    }
}

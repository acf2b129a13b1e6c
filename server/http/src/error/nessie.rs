//! Errors of `/api/v1` and `/api/v2` (Nessie contract, section 13).

use std::borrow::Cow;

use http::StatusCode;
use lochan_api_spec::nessie::model::{ErrorCode, NessieError};

use super::Refusal;
use crate::extract::ClientSpec;
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
    let status = refusal.status();
    let mut body = NessieError::new(code(refusal), refusal.to_string());
    body.status = status.as_u16();
    body.reason = Cow::Borrowed(status.canonical_reason().unwrap_or("Unknown"));
    answer(body, spec).with_retry_after(refusal.retry_after_seconds())
}

/// The code clients branch on. With the unknown one they go by the status.
fn code(refusal: &Refusal) -> ErrorCode {
    match refusal {
        Refusal::Malformed(_)
        | Refusal::BodyBroken
        | Refusal::BodyTooLarge { .. }
        | Refusal::TargetTooLong { .. } => ErrorCode::BadRequest,
        Refusal::UnsupportedMediaType(_) => ErrorCode::UnsupportedMediaType,
        Refusal::Busy { .. } | Refusal::ReadTimeout => ErrorCode::ServiceUnavailable,
        Refusal::UnknownPath
        | Refusal::WrongMethod { .. }
        | Refusal::NotAcceptable
        | Refusal::BodyTimeout
        | Refusal::NotOffered
        | Refusal::Unexpected { .. } => ErrorCode::Unknown,
    }
}

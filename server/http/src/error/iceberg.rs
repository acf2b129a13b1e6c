//! Errors of `/iceberg` (Iceberg REST contract, section 1.2): always the whole envelope.

use http::StatusCode;
use serde::Serialize;

use super::Refusal;
use crate::reply::Reply;

#[derive(Serialize)]
struct Envelope<'a> {
    error: Body<'a>,
}

#[derive(Serialize)]
struct Body<'a> {
    message: &'a str,
    r#type: &'a str,
    code: u16,
}

/// Builds an error answer.
pub fn answer(status: StatusCode, kind: &str, message: &str) -> Reply {
    Reply::document(status, &Envelope { error: Body { message, r#type: kind, code: status.as_u16() } })
}

/// Builds the answer to what this layer refused itself.
pub fn refusal(refusal: &Refusal) -> Reply {
    answer(refusal.status(), kind(refusal), &refusal.to_string())
        .with_retry_after(refusal.retry_after_seconds())
}

fn kind(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Malformed(_)
        | Refusal::BodyBroken
        | Refusal::BodyTooLarge { .. }
        | Refusal::TargetTooLong { .. }
        | Refusal::UnsupportedMediaType(_)
        | Refusal::BodyTimeout
        | Refusal::NotAcceptable => "BadRequestException",
        // Java reads any other type on a table route as "no such table", which is the mildest reading.
        Refusal::UnknownPath => "NoSuchEndpointException",
        Refusal::WrongMethod { .. } | Refusal::NotOffered => "UnsupportedOperationException",
        Refusal::Busy { .. } | Refusal::ReadTimeout => "ServiceUnavailableException",
        Refusal::Unexpected { outcome_unknown: true, .. } => "CommitStateUnknownException",
        Refusal::Unexpected { .. } => "InternalServerError",
    }
}

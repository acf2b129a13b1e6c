//! Errors of `/api/v1` and `/api/v2` (Nessie contract, section 13).

use http::StatusCode;
use serde::Serialize;

use super::Refusal;
use crate::extract::ClientSpec;
use crate::reply::Reply;

/// The error body of the Nessie surfaces.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a, D> {
    status: u16,
    reason: &'a str,
    message: &'a str,
    error_code: &'a str,
    server_stack_trace: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_details: Option<D>,
}

/// Builds an error answer. `details` are left out for clients that announce no contract version from 2 on.
pub fn answer<D: Serialize>(
    status: StatusCode,
    code: &str,
    message: &str,
    details: Option<D>,
    spec: ClientSpec,
) -> Reply {
    let reason = status.canonical_reason().unwrap_or("Unknown");
    let body = Body {
        status: status.as_u16(),
        reason,
        message,
        error_code: code,
        server_stack_trace: None,
        error_details: details.filter(|_| spec.takes_error_details()),
    };
    Reply::document(status, &body)
}

/// Builds the answer to what this layer refused itself.
pub fn refusal(refusal: &Refusal, spec: ClientSpec) -> Reply {
    let message = refusal.to_string();
    let reply = answer::<()>(refusal.status(), code(refusal), &message, None, spec);
    reply.with_retry_after(refusal.retry_after_seconds())
}

fn code(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::Malformed(_) | Refusal::BodyBroken => "BAD_REQUEST",
        Refusal::BodyTooLarge { .. } | Refusal::TargetTooLong { .. } => "BAD_REQUEST",
        Refusal::UnsupportedMediaType(_) => "UNSUPPORTED_MEDIA_TYPE",
        Refusal::Busy { .. } | Refusal::ReadTimeout => "SERVICE_UNAVAILABLE",
        Refusal::UnknownPath
        | Refusal::WrongMethod { .. }
        | Refusal::NotAcceptable
        | Refusal::BodyTimeout
        | Refusal::NotOffered
        | Refusal::Unexpected { .. } => "UNKNOWN",
    }
}

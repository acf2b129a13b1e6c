//! What can go wrong on the way to and in a handler, and how each surface says it.
//!
//! [`Refusal`] holds what this layer itself refuses, `catalog::Error` what use cases come to. The tables
//! [`nessie`], [`iceberg`] and [`ext`] match both exhaustively: a new variant does not compile until somebody has chosen
//! its status. Paths of no surface answer like our own.

pub mod ext;
pub mod iceberg;
pub mod nessie;
#[cfg(test)]
mod tests;
mod transport;

use std::fmt::Write as _;
use std::time::Duration;

use lochan_api_spec::ext::model::ErrorDetails;
use lochan_server_catalog::Error as AppError;
use lochan_server_catalog::error::FilesError;

pub use transport::Refusal;

use crate::extract::{ClientSpec, RequestId};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::router::{Op, Surface};

/// When to come back after the object store failed.
const STORE_RETRY_AFTER: Duration = Duration::from_secs(10);
/// When to come back while writes are refused or there is no room.
const UNAVAILABLE_RETRY_AFTER: Duration = Duration::from_secs(5);

/// The answer to a failure in the words of its surface. What an operator must know is logged here, once.
pub(crate) fn render(
    failure: Failure,
    op: Option<Op>,
    surface: Surface,
    spec: ClientSpec,
    id: &RequestId,
) -> Reply {
    let endpoint = op.map_or("none", Op::name);
    let refusal = match failure {
        Failure::Refusal(refusal) => refusal,
        Failure::App(error) => {
            log(&error, endpoint, id);
            let told = match surface {
                Surface::Iceberg => iceberg::failure(&error, op),
                Surface::NessieV1 | Surface::NessieV2 => nessie::failure(&error, spec),
                Surface::Ext => ext::failure(&error, ErrorDetails::default()),
            };
            match told {
                Some(reply) => return reply,
                None => unexpected(op, id),
            }
        }
        Failure::Panicked => {
            tracing::error!(request.id = %id, endpoint, "handler panicked");
            unexpected(op, id)
        }
        Failure::Unexpected(source) => {
            tracing::error!(request.id = %id, endpoint, error = chain(source.as_ref()), "unexpected error");
            unexpected(op, id)
        }
    };
    let reply = match surface {
        Surface::Iceberg if op.is_some_and(Op::is_token) => iceberg::token_refusal(&refusal),
        Surface::Iceberg => iceberg::refusal(&refusal),
        Surface::NessieV1 | Surface::NessieV2 if refusal.is_silent_on_nessie() => {
            Reply::empty(refusal.status())
        }
        Surface::NessieV1 | Surface::NessieV2 => nessie::refusal(&refusal, spec),
        Surface::Ext => ext::refusal(&refusal),
    };
    match refusal {
        Refusal::WrongMethod { allow } => reply.with_allow(&allow),
        refusal => reply.with_challenge(refusal.challenge()),
    }
}

fn unexpected(op: Option<Op>, id: &RequestId) -> Refusal {
    let outcome_unknown = op.is_some_and(Op::is_iceberg_commit);
    Refusal::Unexpected { request_id: id.to_string(), outcome_unknown }
}

/// Logs what an operator must know; a client's mistakes are none of it.
pub(crate) fn log(error: &AppError, endpoint: &str, id: &RequestId) {
    match error {
        AppError::Internal(source) => {
            tracing::error!(request.id = %id, endpoint, error = chain(source.as_ref()), "unexpected error");
        }
        AppError::Unknown(_) => {
            tracing::error!(request.id = %id, endpoint, error = chain(error), "the outcome of a write is unknown");
        }
        AppError::Files(FilesError::Other { .. } | FilesError::AlreadyExists { .. }) => {
            tracing::error!(request.id = %id, endpoint, error = chain(error), "the object store failed");
        }
        AppError::Files(
            FilesError::Unavailable { .. } | FilesError::Denied { .. } | FilesError::Throttled { .. },
        ) => tracing::warn!(request.id = %id, endpoint, error = chain(error), "the object store failed"),
        AppError::Unavailable(_) | AppError::Full(_) => {
            tracing::warn!(request.id = %id, endpoint, error = chain(error), "a write was refused");
        }
        AppError::Files(
            FilesError::NotFound { .. } | FilesError::Invalid { .. } | FilesError::TooLarge { .. },
        )
        | AppError::BadRequest(_)
        | AppError::FixedState(_)
        | AppError::ReferenceNotFound(_)
        | AppError::ContentNotFound { .. }
        | AppError::NamespaceNotFound { .. }
        | AppError::NamespaceExists(_)
        | AppError::NamespaceNotEmpty(_)
        | AppError::ObjectNotFound { .. }
        | AppError::ObjectExists(_)
        | AppError::WarehouseNotFound(_)
        | AppError::MetadataMissing(_)
        | AppError::ReferenceExists(_)
        | AppError::Conflict { .. }
        | AppError::Document(_)
        | AppError::Unprocessable(_)
        | AppError::Forbidden(_)
        | AppError::Own(_)
        | AppError::Busy { .. } => {}
    }
}

/// Whole seconds for `Retry-After`, at least one.
fn seconds(wait: Duration) -> u32 {
    u32::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX).max(1)
}

/// An error and its sources in one line.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let _ = write!(text, ": {error}");
        source = error.source();
    }
    text
}

//! What can go wrong on the way to and in a handler, and how each surface says it.
//!
//! [`Refusal`] holds what this layer itself refuses; the two tables, [`nessie`] and [`iceberg`], turn it into the
//! body of their surface. Paths of no surface, and our own, answer like Nessie.

pub mod iceberg;
pub mod nessie;
mod transport;

use std::fmt::Write as _;

pub use transport::Refusal;

use crate::extract::{ClientSpec, RequestId};
use crate::failure::Failure;
use crate::reply::Reply;
use crate::router::{Effect, Op, Surface};

/// The answer to a failure in the words of its surface. The unexpected is logged here, once.
pub(crate) fn render(
    failure: Failure,
    op: Option<Op>,
    surface: Surface,
    spec: ClientSpec,
    id: &RequestId,
) -> Reply {
    let outcome_unknown = op.is_some_and(|op| op.effect() == Effect::Writes);
    let refusal = match failure {
        Failure::Refusal(refusal) => refusal,
        Failure::Panicked => {
            tracing::error!(request.id = %id, endpoint = op.map_or("none", Op::name), "handler panicked");
            Refusal::Unexpected { request_id: id.to_string(), outcome_unknown }
        }
        Failure::Unexpected(source) => {
            let chain = chain(source.as_ref());
            tracing::error!(request.id = %id, endpoint = op.map_or("none", Op::name), error = chain, "unexpected error");
            Refusal::Unexpected { request_id: id.to_string(), outcome_unknown }
        }
    };
    let reply = match surface {
        Surface::Iceberg if op.is_some_and(Op::is_token) => iceberg::token_refusal(&refusal),
        Surface::Iceberg => iceberg::refusal(&refusal),
        Surface::NessieV1 | Surface::NessieV2 | Surface::Ext => nessie::refusal(&refusal, spec),
    };
    match refusal {
        Refusal::WrongMethod { allow } => reply.with_allow(&allow),
        _ => reply,
    }
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

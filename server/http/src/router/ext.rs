//! Paths of `/ext/v1`.

use lochan_api_spec::endpoint::Method;

use super::op::{Declaration, Effect, Op, Surface};
use super::{Found, Params};

/// `GET /ext/v1/info`: what this server is.
pub(super) const GET_INFO: Declaration = Declaration {
    surface: Surface::Ext,
    method: Method::Get,
    template: "/ext/v1/info",
    effect: Effect::Reads,
};

/// Operations of the path whose segments after `ext/v1` are `tail`.
pub(super) fn find(tail: &[&str]) -> Found {
    match tail {
        ["info"] => Some((&[Op::ExtGetInfo], Params::default())),
        _ => None,
    }
}

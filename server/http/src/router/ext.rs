//! Paths of `/ext/v1`.

use super::op::Op;
use super::{Found, Params};

/// Operations of the path whose segments after `ext/v1` are `tail`.
pub(super) fn find(tail: &[&str]) -> Found {
    match tail {
        ["info"] => Some((&[Op::ExtGetInfo], Params::default())),
        _ => None,
    }
}

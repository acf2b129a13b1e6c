//! Paths of `/api/v1`. References, keys and namespaces are one segment each.

use super::op::Op;
use super::path::Segments;
use super::{Found, Params};

/// Operations of the path whose segments after `api/v1` are `tail`.
pub(super) fn find(segments: &Segments<'_>, tail: &[&str]) -> Found {
    let plain = |ops: &'static [Op]| Some((ops, Params::default()));
    let on = |reference: &str, ops: &'static [Op]| {
        Some((ops, Params { reference: segments.at(reference), ..Params::default() }))
    };
    match tail {
        ["config"] => plain(&[Op::V1GetConfig]),
        ["trees"] => plain(&[Op::V1GetAllReferences]),
        ["trees", "tree"] => plain(&[Op::V1GetDefaultBranch, Op::V1CreateReference]),
        ["trees", "tree", r] => on(r, &[Op::V1GetReferenceByName]),
        ["trees", "tree", r, "entries"] => on(r, &[Op::V1GetEntries]),
        ["trees", "tree", r, "log"] => on(r, &[Op::V1GetCommitLog]),
        ["trees", "branch", r, "commit"] => on(r, &[Op::V1CommitMultipleOperations]),
        ["trees", "branch", r, "merge"] => on(r, &[Op::V1MergeRefIntoBranch]),
        ["trees", "branch", r, "transplant"] => on(r, &[Op::V1TransplantCommitsIntoBranch]),
        ["trees", kind, r] if kind.eq_ignore_ascii_case("branch") || kind.eq_ignore_ascii_case("tag") => {
            let params = Params { reference: segments.at(r), kind: segments.at(kind), ..Params::default() };
            Some((&[Op::V1AssignReference, Op::V1DeleteReference], params))
        }
        ["contents"] => plain(&[Op::V1GetMultipleContents]),
        ["contents", key] => {
            Some((&[Op::V1GetContent], Params { key: segments.at(key), ..Params::default() }))
        }
        ["diffs", both] => find_diff(segments, both),
        ["namespaces", r] => on(r, &[Op::V1GetNamespaces]),
        ["namespaces", "namespace", r, key] => {
            let params = Params { reference: segments.at(r), key: segments.at(key), ..Params::default() };
            Some((
                &[Op::V1GetNamespace, Op::V1CreateNamespace, Op::V1UpdateProperties, Op::V1DeleteNamespace],
                params,
            ))
        }
        _ => None,
    }
}

/// `{from}...{to}` in one segment, cut at the first three dots: names cannot hold two in a row.
fn find_diff(segments: &Segments<'_>, both: &str) -> Found {
    let (from, to) = both.split_once("...")?;
    let params = Params { reference: segments.at(from), to: segments.at(to), ..Params::default() };
    (!from.is_empty() && !to.is_empty()).then_some((&[Op::V1GetDiff], params))
}

//! Paths of `/api/v2`: suffixes are taken from the right, because a reference may hold raw slashes.

use super::op::Op;
use super::path::Segments;
use super::{Found, Params};

/// Operations of the path whose segments after `api/v2` are `tail`.
pub(super) fn find(segments: &Segments<'_>, tail: &[&str]) -> Found {
    let plain = |ops: &'static [Op]| Some((ops, Params::default()));
    match tail {
        ["config"] => plain(&[Op::V2GetConfig]),
        ["config", "repository"] => plain(&[Op::V2GetRepositoryConfig, Op::V2UpdateRepositoryConfig]),
        ["trees"] => plain(&[Op::V2GetAllReferences, Op::V2CreateReference]),
        ["trees", rest @ ..] => find_tree(segments, rest),
        _ => None,
    }
}

fn find_tree(segments: &Segments<'_>, rest: &[&str]) -> Found {
    let on = |reference: &[&str], ops: &'static [Op]| {
        Some((ops, Params { reference: segments.over(reference), ..Params::default() }))
    };
    match rest {
        [r @ .., "history", "commit"] if is_reference(r) => on(r, &[Op::V2CommitMultipleOperations]),
        [r @ .., "history", "merge"] if is_reference(r) => on(r, &[Op::V2MergeRefIntoBranch]),
        [r @ .., "history", "transplant"] if is_reference(r) => on(r, &[Op::V2TransplantCommitsIntoBranch]),
        [r @ .., "contents", key] if is_reference(r) => {
            let params = Params { reference: segments.over(r), key: segments.at(key), ..Params::default() };
            Some((&[Op::V2GetContent], params))
        }
        [r @ .., "history"] if is_reference(r) => on(r, &[Op::V2GetCommitLog]),
        [r @ .., "entries"] if is_reference(r) => on(r, &[Op::V2GetEntries]),
        [r @ .., "recent-changes"] if is_reference(r) => on(r, &[Op::V2GetReferenceHistory]),
        [r @ .., "contents"] if is_reference(r) => {
            on(r, &[Op::V2GetSeveralContents, Op::V2GetMultipleContents])
        }
        _ => find_diff(segments, rest).or_else(|| {
            is_reference(rest)
                .then(|| on(rest, &[Op::V2GetReferenceByName, Op::V2AssignReference, Op::V2DeleteReference]))
                .flatten()
        }),
    }
}

/// `{from}/diff/{to}`, where both sides may hold raw slashes: the first `diff` that leaves two references.
fn find_diff(segments: &Segments<'_>, rest: &[&str]) -> Found {
    rest.iter().enumerate().filter(|(_, part)| **part == "diff").find_map(|(at, _)| {
        let (from, to) = (rest.get(..at)?, rest.get(at + 1..)?);
        (is_reference(from) && is_reference(to)).then(|| {
            let params =
                Params { reference: segments.over(from), to: segments.over(to), ..Params::default() };
            (&[Op::V2GetDiff] as &'static [Op], params)
        })
    })
}

/// Whether the segments are one reference: a single one, or several of which only the last holds `@` or `%40`
/// (Nessie contract, section 2.5).
fn is_reference(run: &[&str]) -> bool {
    match run {
        [] => false,
        [_] => true,
        [init @ .., last] => {
            (last.contains('@') || last.contains("%40")) && !init.iter().any(|part| part.contains('@'))
        }
    }
}

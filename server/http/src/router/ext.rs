//! Paths of `/ext/v1`.

use super::op::Op;
use super::path::Segments;
use super::{Found, Params};

/// Operations of the path whose segments after `ext/v1` are `tail`.
pub(super) fn find(segments: &Segments<'_>, tail: &[&str]) -> Found {
    let plain = |ops: &'static [Op]| Some((ops, Params::default()));
    let import =
        |id: &str, ops: &'static [Op]| Some((ops, Params { name: segments.at(id), ..Params::default() }));
    match tail {
        ["info"] => plain(&[Op::ExtGetInfo]),
        ["reflog"] => plain(&[Op::ExtGetReflog]),
        ["export"] => plain(&[Op::ExtExportRepository]),
        ["import"] => plain(&[Op::ExtImportRepository]),
        ["imports"] => plain(&[Op::ExtListImports]),
        ["imports", id] => import(id, &[Op::ExtGetImport, Op::ExtDropImport]),
        ["imports", id, "commits"] => import(id, &[Op::ExtListImportedCommits]),
        ["refs", first @ .., last] => find_verb(segments, first, last),
        _ => None,
    }
}

/// `{ref}:verb`, where the reference may hold raw slashes: no name has a colon.
fn find_verb(segments: &Segments<'_>, first: &[&str], last: &str) -> Found {
    let (name, verb) = last.rsplit_once(':').filter(|(name, _)| !name.is_empty())?;
    let ops: &'static [Op] = match verb {
        "restore" => &[Op::ExtRestoreReference],
        "rebase" => &[Op::ExtRebaseBranch],
        _ => return None,
    };
    let reference = segments.over(&[first.first().copied().unwrap_or(name), name]);
    Some((ops, Params { reference, ..Params::default() }))
}

//! Paths of `/iceberg`: `v1/config`, `{ref}/v1/config`, `v1/{prefix}/…` and `{ref}/v1/{prefix}/…`.
//!
//! A prefix decides over a reference in front of `v1`; some clients send both.

use super::op::Op;
use super::path::Segments;
use super::{Found, Params};

/// Operations of the path whose segments after `iceberg` are `tail`.
pub(super) fn find(segments: &Segments<'_>, tail: &[&str]) -> Found {
    // A reference may itself be called `v1`, so every `v1` is tried, from the left.
    tail.iter().enumerate().filter(|(_, part)| **part == "v1").find_map(|(at, _)| {
        let (reference, rest) = (tail.get(..at)?, tail.get(at + 1..)?);
        let (ops, mut params) = find_below(segments, reference, rest)?;
        params.reference = segments.over(reference);
        Some((ops, params))
    })
}

/// Operations of the path whose segments after `v1` are `rest`, and before it `reference`.
fn find_below(segments: &Segments<'_>, reference: &[&str], rest: &[&str]) -> Found {
    let plain = |ops: &'static [Op]| Some((ops, Params::default()));
    match rest {
        ["config"] if reference.is_empty() => plain(&[Op::IcebergGetConfig]),
        ["config"] => plain(&[Op::IcebergGetConfigOfReference]),
        ["oauth", "tokens"] if reference.is_empty() => plain(&[Op::IcebergGetToken]),
        ["oauth", "tokens"] => plain(&[Op::IcebergGetTokenOfReference]),
        [prefix, below @ ..] => {
            let (ops, mut params) = find_prefixed(segments, below)?;
            params.prefix = segments.at(prefix);
            Some((ops, params))
        }
        [] => None,
    }
}

fn find_prefixed(segments: &Segments<'_>, below: &[&str]) -> Found {
    let plain = |ops: &'static [Op]| Some((ops, Params::default()));
    match below {
        ["namespaces"] => plain(&[Op::IcebergListNamespaces, Op::IcebergCreateNamespace]),
        ["tables", "rename"] => plain(&[Op::IcebergRenameTable]),
        ["views", "rename"] => plain(&[Op::IcebergRenameView]),
        ["transactions", "commit"] => plain(&[Op::IcebergCommitTransaction]),
        ["namespaces", namespace, rest @ ..] => {
            let (ops, mut params) = find_in_namespace(segments, rest)?;
            params.namespace = segments.at(namespace);
            Some((ops, params))
        }
        _ => None,
    }
}

fn find_in_namespace(segments: &Segments<'_>, rest: &[&str]) -> Found {
    let plain = |ops: &'static [Op]| Some((ops, Params::default()));
    let named =
        |name: &str, ops: &'static [Op]| Some((ops, Params { name: segments.at(name), ..Params::default() }));
    match rest {
        [] => plain(&[Op::IcebergLoadNamespace, Op::IcebergNamespaceExists, Op::IcebergDropNamespace]),
        ["properties"] => plain(&[Op::IcebergUpdateProperties]),
        ["register"] => plain(&[Op::IcebergRegisterTable]),
        ["register-view"] => plain(&[Op::IcebergRegisterView]),
        ["tables"] => plain(&[Op::IcebergListTables, Op::IcebergCreateTable]),
        ["tables", table] => named(
            table,
            &[Op::IcebergLoadTable, Op::IcebergTableExists, Op::IcebergCommitTable, Op::IcebergDropTable],
        ),
        ["tables", table, "credentials"] => named(table, &[Op::IcebergLoadCredentials]),
        ["tables", table, "metrics"] => named(table, &[Op::IcebergReportMetrics]),
        ["views"] => plain(&[Op::IcebergListViews, Op::IcebergCreateView]),
        ["views", view] => named(
            view,
            &[Op::IcebergLoadView, Op::IcebergViewExists, Op::IcebergCommitView, Op::IcebergDropView],
        ),
        _ => None,
    }
}

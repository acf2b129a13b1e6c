//! Handlers of `/api/v1`.

mod commit;
mod config;
mod contents;
mod diff;
mod entries;
mod log;
mod merge;
pub mod namespaces;
pub mod reference;
mod transplant;

use crate::app::App;
use crate::handlers::Handlers;
use crate::nessie::again;
use crate::replay::Writes;
use crate::router::Op;

/// The table with the handlers of this version.
pub fn register(handlers: Handlers<App>) -> Handlers<App> {
    let handlers = handlers
        .on(Op::V1GetConfig, config::get)
        .on(Op::V1GetAllReferences, reference::list)
        .on(Op::V1GetDefaultBranch, reference::get_default)
        .on(Op::V1GetReferenceByName, reference::get)
        .on(Op::V1GetEntries, entries::list)
        .on(Op::V1GetCommitLog, log::log)
        .on(Op::V1GetContent, contents::get)
        .on(Op::V1GetMultipleContents, contents::query)
        .on(Op::V1GetDiff, diff::get)
        .on(Op::V1GetNamespaces, namespaces::list)
        .on(Op::V1GetNamespace, namespaces::get);
    Writes::new(handlers, again::retell)
        .on(Op::V1CreateReference, reference::create)
        .on(Op::V1AssignReference, reference::assign)
        .on(Op::V1DeleteReference, reference::delete)
        .on(Op::V1CommitMultipleOperations, commit::commit)
        .on(Op::V1MergeRefIntoBranch, merge::merge)
        .on(Op::V1TransplantCommitsIntoBranch, transplant::transplant)
        .on(Op::V1CreateNamespace, namespaces::create)
        .on(Op::V1UpdateProperties, namespaces::update)
        .on(Op::V1DeleteNamespace, namespaces::delete)
        .handlers
}

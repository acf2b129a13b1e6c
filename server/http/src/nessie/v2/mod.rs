//! Handlers of `/api/v2`.

mod commit;
mod config;
pub mod contents;
mod create_reference;
pub mod diff;
pub mod entries;
mod history;
mod merge;
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
        .on(Op::V2GetConfig, config::get)
        .on(Op::V2GetRepositoryConfig, config::get_repository)
        .on(Op::V2GetAllReferences, reference::list)
        .on(Op::V2GetReferenceByName, reference::get)
        .on(Op::V2GetReferenceHistory, history::recent_changes)
        .on(Op::V2GetEntries, entries::list)
        .on(Op::V2GetCommitLog, history::log)
        .on(Op::V2GetDiff, diff::get)
        .on(Op::V2GetSeveralContents, contents::get_several)
        .on(Op::V2GetMultipleContents, contents::query)
        .on(Op::V2GetContent, contents::get);
    Writes::new(handlers, again::retell)
        .on(Op::V2UpdateRepositoryConfig, config::update_repository)
        .on(Op::V2CreateReference, create_reference::create)
        .on(Op::V2AssignReference, reference::assign)
        .on(Op::V2DeleteReference, reference::delete)
        .on(Op::V2CommitMultipleOperations, commit::commit)
        .on(Op::V2MergeRefIntoBranch, merge::merge)
        .on(Op::V2TransplantCommitsIntoBranch, transplant::transplant)
        .handlers
}

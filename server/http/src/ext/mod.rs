//! `/ext/v1`: what only this server has.

pub mod convert;
mod export;
mod import;
mod imports;
mod info;
mod rebase;
mod reflog;
mod restore;

use crate::app::App;
use crate::handlers::Handlers;
use crate::router::Op;

/// The table with the handlers of this surface.
pub fn register(handlers: Handlers<App>) -> Handlers<App> {
    handlers
        .on(Op::ExtGetInfo, info::get_info)
        .on(Op::ExtGetReflog, reflog::get)
        .on(Op::ExtRestoreReference, restore::restore)
        .on(Op::ExtRebaseBranch, rebase::rebase)
        .on(Op::ExtExportRepository, export::export)
        .on(Op::ExtImportRepository, import::import)
        .on(Op::ExtListImports, imports::list)
        .on(Op::ExtGetImport, imports::get)
        .on(Op::ExtDropImport, imports::drop)
        .on(Op::ExtListImportedCommits, imports::commits)
}

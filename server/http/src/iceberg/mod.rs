//! `/iceberg`: the Iceberg REST catalog API.
//!
//! A handler reads the request, makes one call of the catalog and translates the answer back; `convert` holds what they
//! share. Metadata documents pass through as text. Requests under an idempotency key go through [`crate::replay`].

mod again;
mod answer;
mod config;
mod convert;
mod namespaces;
mod paging;
mod tables;
mod tokens;
mod transactions;
mod views;

use crate::app::App;
use crate::handlers::Handlers;
use crate::replay::Writes;
use crate::router::Op;

/// The table with the handlers of this surface.
pub fn register(handlers: Handlers<App>) -> Handlers<App> {
    let handlers = handlers
        .on(Op::IcebergGetConfig, config::get)
        .on(Op::IcebergGetConfigOfReference, config::get)
        .on(Op::IcebergGetToken, tokens::get)
        .on(Op::IcebergGetTokenOfReference, tokens::get)
        .on(Op::IcebergListNamespaces, namespaces::list)
        .on(Op::IcebergLoadNamespace, namespaces::load)
        .on(Op::IcebergNamespaceExists, namespaces::exists)
        .on(Op::IcebergListTables, tables::list)
        .on(Op::IcebergLoadTable, tables::load)
        .on(Op::IcebergTableExists, tables::exists)
        .on(Op::IcebergLoadCredentials, tables::credentials)
        .on(Op::IcebergReportMetrics, tables::metrics)
        .on(Op::IcebergListViews, views::list)
        .on(Op::IcebergLoadView, views::load)
        .on(Op::IcebergViewExists, views::exists);
    Writes::new(handlers, again::retell)
        .on(Op::IcebergCreateNamespace, namespaces::create)
        .on(Op::IcebergDropNamespace, namespaces::drop)
        .on(Op::IcebergUpdateProperties, namespaces::update_properties)
        .on(Op::IcebergCreateTable, tables::create)
        .on(Op::IcebergCommitTable, tables::commit)
        .on(Op::IcebergDropTable, tables::drop)
        .on(Op::IcebergRegisterTable, tables::register)
        .on(Op::IcebergRenameTable, tables::rename)
        .on(Op::IcebergCommitTransaction, transactions::commit)
        .on(Op::IcebergCreateView, views::create)
        .on(Op::IcebergCommitView, views::commit)
        .on(Op::IcebergDropView, views::drop)
        .on(Op::IcebergRenameView, views::rename)
        .on(Op::IcebergRegisterView, views::register)
        .handlers
}

/// Routes announced to clients: every one above that a prefix leads to.
pub(crate) fn announced() -> Vec<String> {
    lochan_api_spec::iceberg::ALL.iter().filter_map(lochan_api_spec::iceberg::announcement).collect()
}

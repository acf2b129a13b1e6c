//! `/iceberg`: the Iceberg REST catalog API.
//!
//! A handler reads the request, makes one call of the catalog and translates the answer back; `convert` holds what they
//! share. Metadata documents pass through as text. Requests under an idempotency key go through `replay`.

mod again;
mod answer;
mod config;
mod convert;
mod namespaces;
mod paging;
mod replay;
mod tables;
mod tokens;
mod transactions;
mod views;

use std::future::Future;
use std::sync::Arc;

use crate::app::App;
use crate::extract::Req;
use crate::handlers::{Answer, Handlers};
use crate::router::Op;
use replay::Replays;

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
    let mut writes = Writes { handlers, replays: Arc::new(Replays::default()) };
    writes.on(Op::IcebergCreateNamespace, namespaces::create);
    writes.on(Op::IcebergDropNamespace, namespaces::drop);
    writes.on(Op::IcebergUpdateProperties, namespaces::update_properties);
    writes.on(Op::IcebergCreateTable, tables::create);
    writes.on(Op::IcebergCommitTable, tables::commit);
    writes.on(Op::IcebergDropTable, tables::drop);
    writes.on(Op::IcebergRegisterTable, tables::register);
    writes.on(Op::IcebergRenameTable, tables::rename);
    writes.on(Op::IcebergCommitTransaction, transactions::commit);
    writes.on(Op::IcebergCreateView, views::create);
    writes.on(Op::IcebergCommitView, views::commit);
    writes.on(Op::IcebergDropView, views::drop);
    writes.on(Op::IcebergRenameView, views::rename);
    writes.on(Op::IcebergRegisterView, views::register);
    writes.handlers
}

/// Routes announced to clients: every one above that a prefix leads to.
pub(crate) fn announced() -> Vec<String> {
    lochan_api_spec::iceberg::ALL.iter().filter_map(lochan_api_spec::iceberg::announcement).collect()
}

/// Handlers that write, each behind the memory of idempotency keys.
struct Writes {
    handlers: Handlers<App>,
    replays: Arc<Replays>,
}

impl Writes {
    fn on<F, Fut>(&mut self, op: Op, handler: F)
    where
        F: Fn(Arc<App>, Arc<Req>) -> Fut + Send + Sync + Clone + 'static,
        Fut: Future<Output = Answer> + Send + 'static,
    {
        let replays = self.replays.clone();
        let handlers = std::mem::take(&mut self.handlers);
        self.handlers = handlers.on(op, move |app, req| {
            let (replays, handler) = (replays.clone(), handler.clone());
            async move { replay::run(&replays, app, req, handler).await }
        });
    }
}

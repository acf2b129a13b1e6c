//! The Iceberg REST catalog API, in Nessie's dialect: the prefix names a reference and a warehouse.
//!
//! One file per endpoint, its documents beside it. Iceberg's own documents (metadata, schemas, updates,
//! requirements) pass through as raw JSON: reading them is the work of `storage/iceberg`, and a metadata document
//! reaches the client as it is stored.

pub mod config;
pub mod error;
pub mod identifier;
pub mod namespaces;
pub mod oauth;
pub mod paging;
pub mod tables;
pub mod transactions;
pub mod views;

use crate::endpoint::{Endpoint, EndpointInfo};

/// Every endpoint of this surface.
pub const ALL: &[EndpointInfo] = &[
    config::GetConfig::INFO,
    config::GetConfigOfReference::INFO,
    oauth::GetToken::INFO,
    oauth::GetTokenOfReference::INFO,
    namespaces::ListNamespaces::INFO,
    namespaces::CreateNamespace::INFO,
    namespaces::LoadNamespace::INFO,
    namespaces::NamespaceExists::INFO,
    namespaces::DropNamespace::INFO,
    namespaces::UpdateProperties::INFO,
    tables::ListTables::INFO,
    tables::CreateTable::INFO,
    tables::LoadTable::INFO,
    tables::TableExists::INFO,
    tables::CommitTable::INFO,
    tables::DropTable::INFO,
    tables::RegisterTable::INFO,
    tables::RenameTable::INFO,
    tables::LoadCredentials::INFO,
    tables::ReportMetrics::INFO,
    transactions::CommitTransaction::INFO,
    views::ListViews::INFO,
    views::CreateView::INFO,
    views::LoadView::INFO,
    views::ViewExists::INFO,
    views::CommitView::INFO,
    views::DropView::INFO,
    views::RenameView::INFO,
    views::RegisterView::INFO,
];

/// How a route is announced in the config's `endpoints`: `GET /v1/{prefix}/namespaces`.
///
/// `None` for config and tokens, which are never announced. Whether a route works, and so may be announced, is for
/// the server to say.
pub fn announcement(info: &EndpointInfo) -> Option<String> {
    let route = info.path.strip_prefix("/iceberg").filter(|route| route.starts_with("/v1/{prefix}/"))?;
    Some(format!("{} {route}", info.method))
}

#[cfg(test)]
mod tests;

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
pub(crate) mod parameters;
pub mod tables;
pub mod transactions;
pub mod views;

use crate::endpoint::{EndpointInfo, endpoints};

endpoints! {
    /// Every endpoint of this surface.
    config::GetConfig,
    config::GetConfigOfReference,
    oauth::GetToken,
    oauth::GetTokenOfReference,
    namespaces::ListNamespaces,
    namespaces::CreateNamespace,
    namespaces::LoadNamespace,
    namespaces::NamespaceExists,
    namespaces::DropNamespace,
    namespaces::UpdateProperties,
    tables::ListTables,
    tables::CreateTable,
    tables::LoadTable,
    tables::TableExists,
    tables::CommitTable,
    tables::DropTable,
    tables::RegisterTable,
    tables::RenameTable,
    tables::LoadCredentials,
    tables::ReportMetrics,
    transactions::CommitTransaction,
    views::ListViews,
    views::CreateView,
    views::LoadView,
    views::ViewExists,
    views::CommitView,
    views::DropView,
    views::RenameView,
    views::RegisterView,
}

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

//! `POST /iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}`: commits updates to a table under requirements, or finishes its creation.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::identifier::TableIdentifier;
use crate::syntax::lenient::null_default;
use crate::syntax::namespace_path::encode_segment as encode_namespace;
use crate::syntax::percent::encode_segment;

/// Commits updates to a table under requirements, or finishes its creation.
#[derive(Debug)]
pub struct CommitTable;

impl CommitTable {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str, namespace: &[String], table: &str) -> String {
        format!(
            "/iceberg/v1/{}/namespaces/{}/tables/{}",
            prefix,
            encode_namespace(namespace),
            encode_segment(table)
        )
    }
}

impl Endpoint for CommitTable {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Iceberg,
        Method::Post,
        "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}",
        "updateTable",
        "Commits updates to a table under requirements, or finishes its creation.",
    );
    type Query = ();
    type Request = CommitTableRequest;
    type Response = CommitTableResponse;
}

/// Changes of one table. Requirements and updates are kept as sent; `storage/iceberg` reads them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct CommitTableRequest {
    /// The table; required inside a transaction, else it must agree with the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifier: Option<TableIdentifier>,
    /// What must hold.
    #[serde(default, deserialize_with = "null_default")]
    #[cfg_attr(feature = "openapi", schemars(with = "Vec<lochan_storage_iceberg::table::TableRequirement>"))]
    pub requirements: Vec<Box<RawValue>>,
    /// What to change, in order.
    #[serde(default, deserialize_with = "null_default")]
    #[cfg_attr(feature = "openapi", schemars(with = "Vec<lochan_storage_iceberg::table::TableUpdate>"))]
    pub updates: Vec<Box<RawValue>>,
}

/// The table after a commit.
///
/// `M` is the metadata document, kept as text.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct CommitTableResponse<M = Box<RawValue>> {
    /// Where the metadata file lies.
    pub metadata_location: String,
    /// The metadata.
    #[cfg_attr(feature = "openapi", schemars(with = "lochan_storage_iceberg::table::TableMetadata"))]
    pub metadata: M,
}

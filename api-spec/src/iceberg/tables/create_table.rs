//! `POST /iceberg/v1/{prefix}/namespaces/{namespace}/tables`: creates a table, or stages its creation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::tables::LoadTableResult;
use crate::syntax::lenient::null_default;
use crate::syntax::namespace_path::encode_segment as encode_namespace;

/// Creates a table, or stages its creation.
#[derive(Debug)]
pub struct CreateTable;

impl CreateTable {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str, namespace: &[String]) -> String {
        format!("/iceberg/v1/{}/namespaces/{}/tables", prefix, encode_namespace(namespace))
    }
}

impl Endpoint for CreateTable {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Iceberg,
        Method::Post,
        "/iceberg/v1/{prefix}/namespaces/{namespace}/tables",
        "createTable",
        "Creates a table, or stages its creation.",
    );
    type Query = ();
    type Request = CreateTableRequest;
    type Response = LoadTableResult;
}

/// A table to be created. Null and absent mean the same for every field but the first two.
///
/// Schema, spec and order are kept as sent; they are Iceberg documents, which `storage/iceberg` reads.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct CreateTableRequest {
    /// The name, possibly with a reference.
    pub name: String,
    /// The schema; its field ids are assigned anew.
    #[cfg_attr(feature = "openapi", schemars(with = "lochan_storage_iceberg::schema::Schema"))]
    pub schema: Box<RawValue>,
    /// Where the table is to lie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// How it is partitioned.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        schemars(with = "Option<lochan_storage_iceberg::partition::PartitionSpec>")
    )]
    pub partition_spec: Option<Box<RawValue>>,
    /// How it is sorted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schemars(with = "Option<lochan_storage_iceberg::sort::SortOrder>"))]
    pub write_order: Option<Box<RawValue>>,
    /// Only prepares the metadata: nothing is stored.
    #[serde(default, deserialize_with = "null_default")]
    pub stage_create: bool,
    /// Names to values.
    #[serde(default, deserialize_with = "null_default")]
    pub properties: BTreeMap<String, String>,
}

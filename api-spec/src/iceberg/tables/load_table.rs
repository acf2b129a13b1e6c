//! `GET /iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}`: reads a table's metadata and how to reach its files.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::parameters::{REFERENCED_BY, SNAPSHOTS};
use crate::parameter::Parameter;
use crate::syntax::namespace_path::encode_segment as encode_namespace;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Reads a table's metadata and how to reach its files.
#[derive(Debug)]
pub struct LoadTable;

impl LoadTable {
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

impl Endpoint for LoadTable {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Iceberg,
        Method::Get,
        "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}",
        "loadTable",
        "Reads a table's metadata and how to reach its files.",
    );
    type Query = Query;
    type Request = ();
    type Response = LoadTableResult;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `snapshots`: `all` (also when absent) or `refs`, which leaves out snapshots no reference points at.
    pub snapshots: Option<String>,
    /// `referenced-by`: the views through which the table is read.
    pub referenced_by: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[SNAPSHOTS, REFERENCED_BY];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { snapshots: pairs.text("snapshots"), referenced_by: pairs.text("referenced-by") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("snapshots", self.snapshots.as_ref());
        out.opt("referenced-by", self.referenced_by.as_ref());
    }
}

/// A table as create, load and register answer it.
///
/// `M` is the metadata document, kept as text.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct LoadTableResult<M = Box<RawValue>> {
    /// Where the metadata file lies; absent for a staged create.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_location: Option<String>,
    /// The metadata.
    #[cfg_attr(feature = "openapi", schemars(with = "lochan_storage_iceberg::table::TableMetadata"))]
    pub metadata: M,
    /// Settings for reaching the table's files.
    #[serde(default = "BTreeMap::<String, String>::new", skip_serializing_if = "BTreeMap::is_empty")]
    pub config: BTreeMap<String, String>,
    /// Credentials by location; the longest matching prefix wins.
    #[serde(default = "Vec::<StorageCredential>::new", skip_serializing_if = "Vec::is_empty")]
    pub storage_credentials: Vec<StorageCredential>,
}

/// Credentials for files below a location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct StorageCredential {
    /// The location.
    pub prefix: String,
    /// Settings as in a load's `config`.
    pub config: BTreeMap<String, String>,
}

//! `POST /iceberg/v1/{prefix}/namespaces/{namespace}/register`: adds a table whose metadata file exists.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::tables::LoadTableResult;
use crate::syntax::lenient::null_default;
use crate::syntax::namespace_path::encode_segment as encode_namespace;

/// Adds a table whose metadata file exists.
#[derive(Debug)]
pub struct RegisterTable;

impl RegisterTable {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str, namespace: &[String]) -> String {
        format!("/iceberg/v1/{}/namespaces/{}/register", prefix, encode_namespace(namespace))
    }
}

impl Endpoint for RegisterTable {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Iceberg,
        Method::Post,
        "/iceberg/v1/{prefix}/namespaces/{namespace}/register",
        "registerTable",
        "Adds a table whose metadata file exists.",
    );
    type Query = ();
    type Request = RegisterTableRequest;
    type Response = LoadTableResult;
}

/// A table to be registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct RegisterTableRequest {
    /// The name, possibly with a reference.
    pub name: String,
    /// The metadata file.
    pub metadata_location: String,
    /// Whether a table of that name is replaced.
    #[serde(default, deserialize_with = "null_default")]
    pub overwrite: bool,
}

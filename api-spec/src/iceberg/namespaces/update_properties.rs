//! `POST /iceberg/v1/{prefix}/namespaces/{namespace}/properties`: sets and removes properties of a namespace.
//!
//! A name both set and removed is answered with 422.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::syntax::lenient::null_default;
use crate::syntax::namespace_path::encode_segment as encode_namespace;

/// Sets and removes properties of a namespace.
#[derive(Debug)]
pub struct UpdateProperties;

impl UpdateProperties {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str, namespace: &[String]) -> String {
        format!("/iceberg/v1/{}/namespaces/{}/properties", prefix, encode_namespace(namespace))
    }
}

impl Endpoint for UpdateProperties {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Iceberg,
        Method::Post,
        "/iceberg/v1/{prefix}/namespaces/{namespace}/properties",
        "updateProperties",
        "Sets and removes properties of a namespace.",
    );
    type Query = ();
    type Request = UpdatePropertiesRequest;
    type Response = UpdatePropertiesResponse;
}

/// What to change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct UpdatePropertiesRequest {
    /// Names to remove.
    #[serde(default, deserialize_with = "null_default")]
    pub removals: Vec<String>,
    /// Names to values to set.
    #[serde(default, deserialize_with = "null_default")]
    pub updates: BTreeMap<String, String>,
}

/// What was changed; all three are always written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct UpdatePropertiesResponse {
    /// Names set.
    pub updated: Vec<String>,
    /// Names removed.
    pub removed: Vec<String>,
    /// Removals that were not set.
    #[serde(default, deserialize_with = "null_default")]
    pub missing: Vec<String>,
}

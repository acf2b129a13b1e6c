//! `POST /iceberg/v1/{prefix}/namespaces`: creates a namespace below an existing one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::syntax::lenient::null_default;

/// Creates a namespace below an existing one.
#[derive(Debug)]
pub struct CreateNamespace;

impl CreateNamespace {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str) -> String {
        format!("/iceberg/v1/{}/namespaces", prefix)
    }
}

impl Endpoint for CreateNamespace {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Iceberg,
        Method::Post,
        "/iceberg/v1/{prefix}/namespaces",
        "createNamespace",
        "Creates a namespace below an existing one.",
    );
    type Query = ();
    type Request = NamespaceDocument;
    type Response = NamespaceDocument;
}

/// A namespace with its properties: the body of create, and the answer of create and load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct NamespaceDocument {
    /// The levels, outermost first.
    pub namespace: Vec<String>,
    /// Names to values; always written.
    #[serde(default, deserialize_with = "null_default")]
    pub properties: BTreeMap<String, String>,
}

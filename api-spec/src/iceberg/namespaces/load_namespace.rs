//! `GET /iceberg/v1/{prefix}/namespaces/{namespace}`: reads a namespace and its properties.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::namespaces::NamespaceDocument;
use crate::syntax::namespace_path::encode_segment as encode_namespace;

/// Reads a namespace and its properties.
#[derive(Debug)]
pub struct LoadNamespace;

impl LoadNamespace {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str, namespace: &[String]) -> String {
        format!("/iceberg/v1/{}/namespaces/{}", prefix, encode_namespace(namespace))
    }
}

impl Endpoint for LoadNamespace {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Iceberg,
        Method::Get,
        "/iceberg/v1/{prefix}/namespaces/{namespace}",
        "loadNamespaceMetadata",
        "Reads a namespace and its properties.",
    );
    type Query = ();
    type Request = ();
    type Response = NamespaceDocument;
}

//! `HEAD /iceberg/v1/{prefix}/namespaces/{namespace}`: tells whether a namespace exists: 204 or 404.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::syntax::namespace_path::encode_segment as encode_namespace;

/// Tells whether a namespace exists: 204 or 404.
#[derive(Debug)]
pub struct NamespaceExists;

impl NamespaceExists {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str, namespace: &[String]) -> String {
        format!("/iceberg/v1/{}/namespaces/{}", prefix, encode_namespace(namespace))
    }
}

impl Endpoint for NamespaceExists {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Iceberg,
        Method::Head,
        "/iceberg/v1/{prefix}/namespaces/{namespace}",
        "namespaceExists",
        "Tells whether a namespace exists: 204 or 404.",
    );
    type Query = ();
    type Request = ();
    type Response = ();
}

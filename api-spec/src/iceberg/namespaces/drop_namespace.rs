//! `DELETE /iceberg/v1/{prefix}/namespaces/{namespace}`: removes an empty namespace.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::syntax::namespace_path::encode_segment as encode_namespace;

/// Removes an empty namespace.
#[derive(Debug)]
pub struct DropNamespace;

impl DropNamespace {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str, namespace: &[String]) -> String {
        format!("/iceberg/v1/{}/namespaces/{}", prefix, encode_namespace(namespace))
    }
}

impl Endpoint for DropNamespace {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Iceberg,
        Method::Delete,
        "/iceberg/v1/{prefix}/namespaces/{namespace}",
        "dropNamespace",
        "Removes an empty namespace.",
    );
    type Query = ();
    type Request = ();
    type Response = ();
}

//! `DELETE /iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}`: removes a view from the catalog.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::syntax::namespace_path::encode_segment as encode_namespace;
use crate::syntax::percent::encode_segment;

/// Removes a view from the catalog.
#[derive(Debug)]
pub struct DropView;

impl DropView {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str, namespace: &[String], view: &str) -> String {
        format!(
            "/iceberg/v1/{}/namespaces/{}/views/{}",
            prefix,
            encode_namespace(namespace),
            encode_segment(view)
        )
    }
}

impl Endpoint for DropView {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Iceberg,
        Method::Delete,
        "/iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}",
        "dropView",
        "Removes a view from the catalog.",
    );
    type Query = ();
    type Request = ();
    type Response = ();
}

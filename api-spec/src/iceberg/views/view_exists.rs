//! `HEAD /iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}`: tells whether a view exists: 204 or 404, also when the name is a table.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::syntax::namespace_path::encode_segment as encode_namespace;
use crate::syntax::percent::encode_segment;

/// Tells whether a view exists: 204 or 404, also when the name is a table.
#[derive(Debug)]
pub struct ViewExists;

impl ViewExists {
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

impl Endpoint for ViewExists {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Iceberg,
        Method::Head,
        "/iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}",
        "viewExists",
        "Tells whether a view exists: 204 or 404, also when the name is a table.",
    );
    type Query = ();
    type Request = ();
    type Response = ();
}

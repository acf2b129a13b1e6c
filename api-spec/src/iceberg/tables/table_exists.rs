//! `HEAD /iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}`: tells whether a table exists: 204 or 404, also when the name is a view.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::syntax::namespace_path::encode_segment as encode_namespace;
use crate::syntax::percent::encode_segment;

/// Tells whether a table exists: 204 or 404, also when the name is a view.
#[derive(Debug)]
pub struct TableExists;

impl TableExists {
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

impl Endpoint for TableExists {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Iceberg,
        Method::Head,
        "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}",
        "tableExists",
        "Tells whether a table exists: 204 or 404, also when the name is a view.",
    );
    type Query = ();
    type Request = ();
    type Response = ();
}

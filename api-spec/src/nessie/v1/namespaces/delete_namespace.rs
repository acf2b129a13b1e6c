//! `DELETE /api/v1/namespaces/namespace/{ref}/{name}`: deletes a namespace.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::ContentKey;
use crate::syntax::percent::encode_segment;

/// Deletes a namespace.
#[derive(Debug)]
pub struct DeleteNamespace;

impl DeleteNamespace {
    /// The path, encoded.
    pub fn path(reference: &str, namespace: &ContentKey) -> String {
        format!(
            "/api/v1/namespaces/namespace/{}/{}",
            encode_segment(reference),
            encode_segment(&namespace.to_legacy())
        )
    }
}

impl Endpoint for DeleteNamespace {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::NessieV1,
        Method::Delete,
        "/api/v1/namespaces/namespace/{ref}/{name}",
        "deleteNamespace",
        "Deletes a namespace.",
    );
    type Query = ();
    type Request = ();
    type Response = ();
}

//! `PUT /api/v1/namespaces/namespace/{ref}/{name}`: creates a namespace.
//!
//! Elements and properties come from the body.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{Content, ContentKey, Namespace};
use crate::syntax::percent::encode_segment;

/// Creates a namespace.
#[derive(Debug)]
pub struct CreateNamespace;

impl CreateNamespace {
    /// The path, encoded.
    pub fn path(reference: &str, namespace: &ContentKey) -> String {
        format!(
            "/api/v1/namespaces/namespace/{}/{}",
            encode_segment(reference),
            encode_segment(&namespace.to_legacy())
        )
    }
}

impl Endpoint for CreateNamespace {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::NessieV1,
        Method::Put,
        "/api/v1/namespaces/namespace/{ref}/{name}",
        "createNamespace",
        "Creates a namespace.",
    );
    type Query = ();
    type Request = Namespace;
    type Response = Content;
}

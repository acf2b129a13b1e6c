//! `POST /api/v1/namespaces/namespace/{ref}/{name}`: removes and sets properties of a namespace.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{ContentKey, NamespaceUpdate};
use crate::syntax::percent::encode_segment;

/// Removes and sets properties of a namespace.
#[derive(Debug)]
pub struct UpdateProperties;

impl UpdateProperties {
    /// The path, encoded.
    pub fn path(reference: &str, namespace: &ContentKey) -> String {
        format!(
            "/api/v1/namespaces/namespace/{}/{}",
            encode_segment(reference),
            encode_segment(&namespace.to_legacy())
        )
    }
}

impl Endpoint for UpdateProperties {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::NessieV1,
        Method::Post,
        "/api/v1/namespaces/namespace/{ref}/{name}",
        "updateProperties",
        "Removes and sets properties of a namespace.",
    );
    type Query = ();
    type Request = NamespaceUpdate;
    type Response = ();
}

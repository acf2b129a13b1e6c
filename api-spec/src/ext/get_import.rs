//! `GET /ext/v1/imports/{id}`: says where an import stands.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::ext::model::ImportState;
use crate::syntax::percent::encode_segment;

/// Says where an import stands. 404 `IMPORT_NOT_FOUND` when nothing of it was taken yet. Needs the permission to import.
#[derive(Debug)]
pub struct GetImport;

impl GetImport {
    /// The path, encoded.
    pub fn path(id: &str) -> String {
        format!("/ext/v1/imports/{}", encode_segment(id))
    }
}

impl Endpoint for GetImport {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Ext,
        Method::Get,
        "/ext/v1/imports/{id}",
        "getImport",
        "Says where an import stands.",
    );
    type Query = ();
    type Request = ();
    type Response = ImportState;
}

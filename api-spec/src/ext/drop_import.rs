//! `DELETE /ext/v1/imports/{id}`: drops an import that is not done.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::ext::model::ImportState;
use crate::syntax::percent::encode_segment;

/// Drops an import that is not done: the place it has reached, its references, and its table of hashes. Its name is free from
/// then on. Commits that it brought stay in the store, where no reference leads to them. The answer says where it stood.
///
/// 404 `IMPORT_NOT_FOUND` when there is none, 409 `IMPORT_CONFLICT` when it is done, or takes in a part just now. Needs the
/// permission to import.
#[derive(Debug)]
pub struct DropImport;

impl DropImport {
    /// The path, encoded.
    pub fn path(id: &str) -> String {
        format!("/ext/v1/imports/{}", encode_segment(id))
    }
}

impl Endpoint for DropImport {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Ext,
        Method::Delete,
        "/ext/v1/imports/{id}",
        "dropImport",
        "Drops an import that is not done.",
    );
    type Query = ();
    type Request = ();
    type Response = ImportState;
}

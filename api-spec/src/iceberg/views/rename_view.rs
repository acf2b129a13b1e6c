//! `POST /iceberg/v1/{prefix}/views/rename`: moves a view to another name.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::identifier::RenameRequest;

/// Moves a view to another name.
#[derive(Debug)]
pub struct RenameView;

impl RenameView {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str) -> String {
        format!("/iceberg/v1/{}/views/rename", prefix)
    }
}

impl Endpoint for RenameView {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Iceberg,
        Method::Post,
        "/iceberg/v1/{prefix}/views/rename",
        "renameView",
        "Moves a view to another name.",
    );
    type Query = ();
    type Request = RenameRequest;
    type Response = ();
}

//! `POST /iceberg/v1/{prefix}/tables/rename`: moves a table to another name.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::identifier::RenameRequest;

/// Moves a table to another name.
#[derive(Debug)]
pub struct RenameTable;

impl RenameTable {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str) -> String {
        format!("/iceberg/v1/{}/tables/rename", prefix)
    }
}

impl Endpoint for RenameTable {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Iceberg,
        Method::Post,
        "/iceberg/v1/{prefix}/tables/rename",
        "renameTable",
        "Moves a table to another name.",
    );
    type Query = ();
    type Request = RenameRequest;
    type Response = ();
}

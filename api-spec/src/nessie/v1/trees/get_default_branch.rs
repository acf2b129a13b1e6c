//! `GET /api/v1/trees/tree`: reads the default branch.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::ReferenceV1;

/// Reads the default branch.
#[derive(Debug)]
pub struct GetDefaultBranch;

impl GetDefaultBranch {
    /// The path, encoded.
    pub fn path() -> String {
        Self::PATH.to_owned()
    }
}

impl Endpoint for GetDefaultBranch {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV1,
        Method::Get,
        "/api/v1/trees/tree",
        "getDefaultBranch",
        "Reads the default branch.",
    );
    type Query = ();
    type Request = ();
    type Response = ReferenceV1;
}

//! `GET /api/v1/diffs/{from}...{to}`: lists keys whose content differs between two states.
//!
//! Each side is `NAME` or `NAME*HASH`.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::DiffResponseV1;
use crate::syntax::percent::encode_segment;
use crate::syntax::reference::DiffSide;

/// Lists keys whose content differs between two states.
#[derive(Debug)]
pub struct GetDiff;

impl GetDiff {
    /// The path, encoded.
    pub fn path(from: &DiffSide, to: &DiffSide) -> String {
        format!("/api/v1/diffs/{}...{}", encode_segment(&from.to_string()), encode_segment(&to.to_string()))
    }
}

impl Endpoint for GetDiff {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV1,
        Method::Get,
        "/api/v1/diffs/{from}...{to}",
        "getDiff",
        "Lists keys whose content differs between two states.",
    );
    type Query = ();
    type Request = ();
    type Response = DiffResponseV1;
}

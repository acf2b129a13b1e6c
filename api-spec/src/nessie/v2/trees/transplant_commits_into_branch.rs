//! `POST /api/v2/trees/{branch}/history/transplant`: replays commits onto a branch.
//!
//! The path carries the expected hash: the head or an ancestor of it.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{MergeResponseV2, TransplantRequestV2};
use crate::syntax::RefSpec;
use crate::syntax::percent::encode_segment;

/// Replays commits onto a branch.
#[derive(Debug)]
pub struct TransplantCommitsIntoBranch;

impl TransplantCommitsIntoBranch {
    /// The path, encoded.
    pub fn path(branch: &RefSpec) -> String {
        format!("/api/v2/trees/{}/history/transplant", encode_segment(&branch.to_string()))
    }
}

impl Endpoint for TransplantCommitsIntoBranch {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::NessieV2,
        Method::Post,
        "/api/v2/trees/{branch}/history/transplant",
        "transplantCommitsIntoBranch",
        "Replays commits onto a branch.",
    );
    type Query = ();
    type Request = TransplantRequestV2;
    type Response = MergeResponseV2;
}

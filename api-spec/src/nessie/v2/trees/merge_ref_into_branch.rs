//! `POST /api/v2/trees/{branch}/history/merge`: merges a state into a branch, as one commit.
//!
//! The path carries the expected hash: the head or an ancestor of it.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{MergeRequestV2, MergeResponseV2};
use crate::syntax::RefSpec;
use crate::syntax::percent::encode_segment;

/// Merges a state into a branch, as one commit.
#[derive(Debug)]
pub struct MergeRefIntoBranch;

impl MergeRefIntoBranch {
    /// The path, encoded.
    pub fn path(branch: &RefSpec) -> String {
        format!("/api/v2/trees/{}/history/merge", encode_segment(&branch.to_string()))
    }
}

impl Endpoint for MergeRefIntoBranch {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::NessieV2,
        Method::Post,
        "/api/v2/trees/{branch}/history/merge",
        "mergeRefIntoBranch",
        "Merges a state into a branch, as one commit.",
    );
    type Query = ();
    type Request = MergeRequestV2;
    type Response = MergeResponseV2;
}

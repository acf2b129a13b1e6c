//! `POST /api/v2/trees/{branch}/history/commit`: commits operations to a branch.
//!
//! The path carries the expected hash: the head or an ancestor of it.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{CommitResponse, Operations};
use crate::syntax::RefSpec;
use crate::syntax::percent::encode_segment;

/// Commits operations to a branch.
#[derive(Debug)]
pub struct CommitMultipleOperations;

impl CommitMultipleOperations {
    /// The path, encoded.
    pub fn path(branch: &RefSpec) -> String {
        format!("/api/v2/trees/{}/history/commit", encode_segment(&branch.to_string()))
    }
}

impl Endpoint for CommitMultipleOperations {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::NessieV2,
        Method::Post,
        "/api/v2/trees/{branch}/history/commit",
        "commitMultipleOperations",
        "Commits operations to a branch.",
    );
    type Query = ();
    type Request = Operations;
    type Response = CommitResponse;
}

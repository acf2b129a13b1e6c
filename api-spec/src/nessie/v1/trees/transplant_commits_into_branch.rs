//! `POST /api/v1/trees/branch/{branch}/transplant`: replays commits onto a branch.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{MergeResponseV1, TransplantRequestV1};
use crate::nessie::parameters::v1::{EXPECTED_HASH, MESSAGE};
use crate::parameter::Parameter;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Replays commits onto a branch.
#[derive(Debug)]
pub struct TransplantCommitsIntoBranch;

impl TransplantCommitsIntoBranch {
    /// The path, encoded.
    pub fn path(branch: &str) -> String {
        format!("/api/v1/trees/branch/{}/transplant", encode_segment(branch))
    }
}

impl Endpoint for TransplantCommitsIntoBranch {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::NessieV1,
        Method::Post,
        "/api/v1/trees/branch/{branch}/transplant",
        "transplantCommitsIntoBranch",
        "Replays commits onto a branch.",
    );
    type Query = Query;
    type Request = TransplantRequestV1;
    type Response = MergeResponseV1;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `expectedHash`: the plain hash the reference must be at or descend from; required, which the endpoint checks.
    pub expected_hash: Option<String>,
    /// `message`: overrides the message of a single commit.
    pub message: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[EXPECTED_HASH, MESSAGE];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { expected_hash: pairs.text("expectedHash"), message: pairs.text("message") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("expectedHash", self.expected_hash.as_ref());
        out.opt("message", self.message.as_ref());
    }
}

//! `POST /api/v1/trees/branch/{branch}/merge`: merges a state into a branch, as one commit.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{MergeRequestV1, MergeResponseV1};
use crate::nessie::parameters::v1::EXPECTED_HASH;
use crate::parameter::Parameter;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Merges a state into a branch, as one commit.
#[derive(Debug)]
pub struct MergeRefIntoBranch;

impl MergeRefIntoBranch {
    /// The path, encoded.
    pub fn path(branch: &str) -> String {
        format!("/api/v1/trees/branch/{}/merge", encode_segment(branch))
    }
}

impl Endpoint for MergeRefIntoBranch {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::NessieV1,
        Method::Post,
        "/api/v1/trees/branch/{branch}/merge",
        "mergeRefIntoBranch",
        "Merges a state into a branch, as one commit.",
    );
    type Query = Query;
    type Request = MergeRequestV1;
    type Response = MergeResponseV1;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `expectedHash`: the plain hash the reference must be at or descend from; required, which the endpoint checks.
    pub expected_hash: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[EXPECTED_HASH];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { expected_hash: pairs.text("expectedHash") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("expectedHash", self.expected_hash.as_ref());
    }
}

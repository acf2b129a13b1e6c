//! `POST /api/v1/trees/branch/{branch}/commit`: commits operations to a branch.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{Operations, ReferenceV1};
use crate::nessie::parameters::v1::EXPECTED_HASH;
use crate::parameter::Parameter;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Commits operations to a branch.
#[derive(Debug)]
pub struct CommitMultipleOperations;

impl CommitMultipleOperations {
    /// The path, encoded.
    pub fn path(branch: &str) -> String {
        format!("/api/v1/trees/branch/{}/commit", encode_segment(branch))
    }
}

impl Endpoint for CommitMultipleOperations {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::NessieV1,
        Method::Post,
        "/api/v1/trees/branch/{branch}/commit",
        "commitMultipleOperations",
        "Commits operations to a branch.",
    );
    type Query = Query;
    type Request = Operations;
    type Response = ReferenceV1;
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

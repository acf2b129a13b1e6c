//! `GET /api/v2/trees/{ref}/recent-changes`: lists earlier heads of a reference.
//!
//! A hash in the path is answered with 400.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::ReferenceHistoryResponse;
use crate::nessie::parameters::v2::SCAN_COMMITS;
use crate::parameter::Parameter;
use crate::syntax::RefSpec;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Lists earlier heads of a reference.
#[derive(Debug)]
pub struct GetReferenceHistory;

impl GetReferenceHistory {
    /// The path, encoded.
    pub fn path(reference: &RefSpec) -> String {
        format!("/api/v2/trees/{}/recent-changes", encode_segment(&reference.to_string()))
    }
}

impl Endpoint for GetReferenceHistory {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV2,
        Method::Get,
        "/api/v2/trees/{ref}/recent-changes",
        "getReferenceHistory",
        "Lists earlier heads of a reference.",
    );
    type Query = Query;
    type Request = ();
    type Response = ReferenceHistoryResponse;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `scan-commits`: how many commits to check for soundness; none when absent or not positive.
    pub scan_commits: Option<i32>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[SCAN_COMMITS];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { scan_commits: pairs.int("scan-commits")? })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.int("scan-commits", self.scan_commits);
    }
}

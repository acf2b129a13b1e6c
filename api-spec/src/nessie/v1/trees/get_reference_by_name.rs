//! `GET /api/v1/trees/tree/{ref}`: reads one branch or tag.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::fetch::{fetch, write_fetch};
use crate::nessie::model::{Fetch, ReferenceV1};
use crate::nessie::parameters::FETCH;
use crate::parameter::Parameter;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Reads one branch or tag.
#[derive(Debug)]
pub struct GetReferenceByName;

impl GetReferenceByName {
    /// The path, encoded.
    pub fn path(name: &str) -> String {
        format!("/api/v1/trees/tree/{}", encode_segment(name))
    }
}

impl Endpoint for GetReferenceByName {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV1,
        Method::Get,
        "/api/v1/trees/tree/{ref}",
        "getReferenceByName",
        "Reads one branch or tag.",
    );
    type Query = Query;
    type Request = ();
    type Response = ReferenceV1;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `fetch`: how much is filled in.
    pub fetch: Fetch,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[FETCH];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { fetch: fetch(pairs)? })
    }

    fn write(&self, out: &mut QueryWriter) {
        write_fetch(out, self.fetch);
    }
}

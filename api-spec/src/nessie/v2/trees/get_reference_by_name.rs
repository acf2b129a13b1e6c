//! `GET /api/v2/trees/{ref}`: reads one branch or tag.
//!
//! A hash in the path is answered with 400.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::fetch::{fetch, write_fetch};
use crate::nessie::model::{Fetch, SingleReferenceResponse};
use crate::nessie::parameters::FETCH;
use crate::parameter::Parameter;
use crate::syntax::RefSpec;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Reads one branch or tag.
#[derive(Debug)]
pub struct GetReferenceByName;

impl GetReferenceByName {
    /// The path, encoded.
    pub fn path(reference: &RefSpec) -> String {
        format!("/api/v2/trees/{}", encode_segment(&reference.to_string()))
    }
}

impl Endpoint for GetReferenceByName {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV2,
        Method::Get,
        "/api/v2/trees/{ref}",
        "getReferenceByName",
        "Reads one branch or tag.",
    );
    type Query = Query;
    type Request = ();
    type Response = SingleReferenceResponse;
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

//! `DELETE /api/v1/trees/{type}/{name}`: deletes a branch or tag.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::ReferenceKind;
use crate::nessie::parameters::v1::EXPECTED_HEAD;
use crate::parameter::Parameter;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Deletes a branch or tag.
#[derive(Debug)]
pub struct DeleteReference;

impl DeleteReference {
    /// The path, encoded.
    pub fn path(kind: ReferenceKind, name: &str) -> String {
        format!("/api/v1/trees/{}/{}", kind.as_str().to_ascii_lowercase(), encode_segment(name))
    }
}

impl Endpoint for DeleteReference {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::NessieV1,
        Method::Delete,
        "/api/v1/trees/{type}/{name}",
        "deleteReference",
        "Deletes a branch or tag.",
    );
    type Query = Query;
    type Request = ();
    type Response = ();
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `expectedHash`: the plain hash the reference must be at; required, which the endpoint checks.
    pub expected_hash: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[EXPECTED_HEAD];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { expected_hash: pairs.text("expectedHash") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("expectedHash", self.expected_hash.as_ref());
    }
}

//! `PUT /api/v2/trees/{ref}`: moves a branch or tag to another commit.
//!
//! The path carries the expected hash, which must equal the head.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{ReferenceInput, SingleReferenceResponse};
use crate::nessie::parameters::v2::TYPE;
use crate::parameter::Parameter;
use crate::syntax::RefSpec;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Moves a branch or tag to another commit.
#[derive(Debug)]
pub struct AssignReference;

impl AssignReference {
    /// The path, encoded.
    pub fn path(reference: &RefSpec) -> String {
        format!("/api/v2/trees/{}", encode_segment(&reference.to_string()))
    }
}

impl Endpoint for AssignReference {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::NessieV2,
        Method::Put,
        "/api/v2/trees/{ref}",
        "assignReference",
        "Moves a branch or tag to another commit.",
    );
    type Query = Query;
    type Request = ReferenceInput;
    type Response = SingleReferenceResponse;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `type`: `BRANCH` or `TAG`, any of the two cases.
    pub kind: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[TYPE];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { kind: pairs.text("type") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("type", self.kind.as_ref());
    }
}

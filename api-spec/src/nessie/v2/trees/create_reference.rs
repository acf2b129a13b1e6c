//! `POST /api/v2/trees`: creates a branch or tag.
//!
//! The body names the target: its type is ignored, its hash is required. A null or empty body counts as a body
//! without hash.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{ReferenceInput, SingleReferenceResponse};
use crate::nessie::parameters::v2::{NAME, TYPE};
use crate::parameter::Parameter;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Creates a branch or tag.
#[derive(Debug)]
pub struct CreateReference;

impl CreateReference {
    /// The path, encoded.
    pub fn path() -> String {
        Self::PATH.to_owned()
    }
}

impl Endpoint for CreateReference {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::NessieV2,
        Method::Post,
        "/api/v2/trees",
        "createReference",
        "Creates a branch or tag.",
    );
    type Query = Query;
    type Request = ReferenceInput;
    type Response = SingleReferenceResponse;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `name`: the new name; required.
    pub name: Option<String>,
    /// `type`: `BRANCH` or `TAG`, any of the two cases; required.
    pub kind: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[NAME, TYPE.required()];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { name: pairs.text("name"), kind: pairs.text("type") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("name", self.name.as_ref());
        out.opt("type", self.kind.as_ref());
    }
}

//! `POST /api/v1/trees/tree`: creates a branch or tag.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{ReferenceInput, ReferenceV1};
use crate::nessie::parameters::v1::SOURCE_REF_NAME;
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
        Surface::NessieV1,
        Method::Post,
        "/api/v1/trees/tree",
        "createReference",
        "Creates a branch or tag.",
    );
    type Query = Query;
    type Request = ReferenceInput;
    type Response = ReferenceV1;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `sourceRefName`: where the hash is looked for; the default branch when absent.
    pub source_ref_name: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[SOURCE_REF_NAME];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { source_ref_name: pairs.text("sourceRefName") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("sourceRefName", self.source_ref_name.as_ref());
    }
}

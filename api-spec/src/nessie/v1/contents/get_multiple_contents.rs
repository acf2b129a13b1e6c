//! `POST /api/v1/contents`: reads the contents of the keys in the body.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{GetMultipleContentsRequest, GetMultipleContentsResponseV1};
use crate::nessie::parameters::v1::{HASH_ON_REF, REF};
use crate::parameter::Parameter;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Reads the contents of the keys in the body.
#[derive(Debug)]
pub struct GetMultipleContents;

impl GetMultipleContents {
    /// The path, encoded.
    pub fn path() -> String {
        Self::PATH.to_owned()
    }
}

impl Endpoint for GetMultipleContents {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV1,
        Method::Post,
        "/api/v1/contents",
        "getMultipleContents",
        "Reads the contents of the keys in the body.",
    );
    type Query = Query;
    type Request = GetMultipleContentsRequest;
    type Response = GetMultipleContentsResponseV1;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `ref`: the name; the default branch when absent, `DETACHED` with a hash.
    pub reference: Option<String>,
    /// `hashOnRef`: the state to read, as a hash, perhaps relative; absent is the head.
    pub hash_on_ref: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[REF, HASH_ON_REF];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { reference: pairs.text("ref"), hash_on_ref: pairs.text("hashOnRef") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("ref", self.reference.as_ref());
        out.opt("hashOnRef", self.hash_on_ref.as_ref());
    }
}

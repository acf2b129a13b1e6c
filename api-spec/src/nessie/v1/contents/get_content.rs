//! `GET /api/v1/contents/{key}`: reads one content.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{Content, ContentKey};
use crate::nessie::parameters::v1::{HASH_ON_REF, REF};
use crate::parameter::Parameter;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Reads one content.
#[derive(Debug)]
pub struct GetContent;

impl GetContent {
    /// The path, encoded.
    pub fn path(key: &ContentKey) -> String {
        format!("/api/v1/contents/{}", encode_segment(&key.to_legacy()))
    }
}

impl Endpoint for GetContent {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV1,
        Method::Get,
        "/api/v1/contents/{key}",
        "getContent",
        "Reads one content.",
    );
    type Query = Query;
    type Request = ();
    type Response = Content;
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

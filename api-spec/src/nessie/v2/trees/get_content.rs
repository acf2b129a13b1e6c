//! `GET /api/v2/trees/{ref}/contents/{key}`: reads one content.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{ContentKey, ContentResponse};
use crate::nessie::parameters::v2::{FOR_WRITE, WITH_DOC};
use crate::parameter::Parameter;
use crate::syntax::RefSpec;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Reads one content.
#[derive(Debug)]
pub struct GetContent;

impl GetContent {
    /// The path, encoded.
    pub fn path(reference: &RefSpec, key: &ContentKey) -> String {
        format!(
            "/api/v2/trees/{}/contents/{}",
            encode_segment(&reference.to_string()),
            encode_segment(&key.to_escaped())
        )
    }
}

impl Endpoint for GetContent {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV2,
        Method::Get,
        "/api/v2/trees/{ref}/contents/{key}",
        "getContent",
        "Reads one content.",
    );
    type Query = Query;
    type Request = ();
    type Response = ContentResponse;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `for-write`: accepted and without effect.
    pub for_write: bool,
    /// `with-doc`: accepted and without effect.
    pub with_doc: bool,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[FOR_WRITE, WITH_DOC];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { for_write: pairs.flag("for-write"), with_doc: pairs.flag("with-doc") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.flag("for-write", self.for_write);
        out.flag("with-doc", self.with_doc);
    }
}

//! `POST /api/v2/trees/{ref}/contents`: reads the contents of the keys in the body.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{GetMultipleContentsRequest, GetMultipleContentsResponseV2};
use crate::nessie::parameters::v2::{FOR_WRITE, WITH_DOC};
use crate::parameter::Parameter;
use crate::syntax::RefSpec;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Reads the contents of the keys in the body.
#[derive(Debug)]
pub struct GetMultipleContents;

impl GetMultipleContents {
    /// The path, encoded.
    pub fn path(reference: &RefSpec) -> String {
        format!("/api/v2/trees/{}/contents", encode_segment(&reference.to_string()))
    }
}

impl Endpoint for GetMultipleContents {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV2,
        Method::Post,
        "/api/v2/trees/{ref}/contents",
        "getMultipleContents",
        "Reads the contents of the keys in the body.",
    );
    type Query = Query;
    type Request = GetMultipleContentsRequest;
    type Response = GetMultipleContentsResponseV2;
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

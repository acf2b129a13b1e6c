//! `GET /api/v2/trees/{ref}/contents`: reads the contents of the keys in the query.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::GetMultipleContentsResponseV2;
use crate::nessie::parameters::v2::{FOR_WRITE, KEY, WITH_DOC};
use crate::parameter::Parameter;
use crate::syntax::RefSpec;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Reads the contents of the keys in the query.
#[derive(Debug)]
pub struct GetSeveralContents;

impl GetSeveralContents {
    /// The path, encoded.
    pub fn path(reference: &RefSpec) -> String {
        format!("/api/v2/trees/{}/contents", encode_segment(&reference.to_string()))
    }
}

impl Endpoint for GetSeveralContents {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV2,
        Method::Get,
        "/api/v2/trees/{ref}/contents",
        "getSeveralContents",
        "Reads the contents of the keys in the query.",
    );
    type Query = Query;
    type Request = ();
    type Response = GetMultipleContentsResponseV2;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `key`: the keys, in string form; at least one.
    pub keys: Vec<String>,
    /// `for-write`: accepted and without effect.
    pub for_write: bool,
    /// `with-doc`: accepted and without effect.
    pub with_doc: bool,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[KEY.required(), FOR_WRITE, WITH_DOC];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self {
            keys: pairs.all("key"),
            for_write: pairs.flag("for-write"),
            with_doc: pairs.flag("with-doc"),
        })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.all("key", &self.keys);
        out.flag("for-write", self.for_write);
        out.flag("with-doc", self.with_doc);
    }
}

//! `GET /api/v1/namespaces/namespace/{ref}/{name}`: reads one namespace.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{Content, ContentKey};
use crate::nessie::parameters::v1::HASH_ON_REF;
use crate::parameter::Parameter;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Reads one namespace.
#[derive(Debug)]
pub struct GetNamespace;

impl GetNamespace {
    /// The path, encoded.
    pub fn path(reference: &str, namespace: &ContentKey) -> String {
        format!(
            "/api/v1/namespaces/namespace/{}/{}",
            encode_segment(reference),
            encode_segment(&namespace.to_legacy())
        )
    }
}

impl Endpoint for GetNamespace {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV1,
        Method::Get,
        "/api/v1/namespaces/namespace/{ref}/{name}",
        "getNamespace",
        "Reads one namespace.",
    );
    type Query = Query;
    type Request = ();
    type Response = Content;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `hashOnRef`: the state to read, as a hash; absent is the head.
    pub hash_on_ref: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[HASH_ON_REF];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { hash_on_ref: pairs.text("hashOnRef") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("hashOnRef", self.hash_on_ref.as_ref());
    }
}

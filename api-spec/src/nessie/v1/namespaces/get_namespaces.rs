//! `GET /api/v1/namespaces/{ref}`: lists namespaces, implicit ones included.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::GetNamespacesResponse;
use crate::nessie::parameters::v1::{HASH_ON_REF, NAME};
use crate::parameter::Parameter;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Lists namespaces, implicit ones included.
#[derive(Debug)]
pub struct GetNamespaces;

impl GetNamespaces {
    /// The path, encoded.
    pub fn path(name: &str) -> String {
        format!("/api/v1/namespaces/{}", encode_segment(name))
    }
}

impl Endpoint for GetNamespaces {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV1,
        Method::Get,
        "/api/v1/namespaces/{ref}",
        "getNamespaces",
        "Lists namespaces, implicit ones included.",
    );
    type Query = Query;
    type Request = ();
    type Response = GetNamespacesResponse;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `name`: only this namespace and those below it; all when absent.
    pub name: Option<String>,
    /// `hashOnRef`: the state to read, as a hash; absent is the head.
    pub hash_on_ref: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[NAME, HASH_ON_REF];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { name: pairs.text("name"), hash_on_ref: pairs.text("hashOnRef") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("name", self.name.as_ref());
        out.opt("hashOnRef", self.hash_on_ref.as_ref());
    }
}

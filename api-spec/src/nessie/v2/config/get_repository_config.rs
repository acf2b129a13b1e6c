//! `GET /api/v2/config/repository`: reads stored settings by type.
//!
//! An unknown type is answered with 400 `No repository config type registered for name X`.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::RepositoryConfigResponse;
use crate::nessie::parameters::v2::CONFIG_TYPE;
use crate::parameter::Parameter;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Reads stored settings by type.
#[derive(Debug)]
pub struct GetRepositoryConfig;

impl GetRepositoryConfig {
    /// The path, encoded.
    pub fn path() -> String {
        Self::PATH.to_owned()
    }
}

impl Endpoint for GetRepositoryConfig {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::NessieV2,
        Method::Get,
        "/api/v2/config/repository",
        "getRepositoryConfig",
        "Reads stored settings by type.",
    );
    type Query = Query;
    type Request = ();
    type Response = RepositoryConfigResponse;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `type`: the types asked for.
    pub types: Vec<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[CONFIG_TYPE];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { types: pairs.all("type") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.all("type", &self.types);
    }
}

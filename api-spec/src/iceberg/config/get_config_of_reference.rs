//! `GET /iceberg/{reference}/v1/config`: as the plain route, for the reference (and warehouse) in the URL.
//!
//! The segment has the form of a prefix: `dev`, `dev|sales`, `|sales`.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::config::CatalogConfig;
use crate::iceberg::parameters::WAREHOUSE;
use crate::parameter::Parameter;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// As the plain route, for the reference (and warehouse) in the URL.
#[derive(Debug)]
pub struct GetConfigOfReference;

impl GetConfigOfReference {
    /// The path, encoded.
    pub fn path(reference: &str) -> String {
        format!("/iceberg/{}/v1/config", encode_segment(reference))
    }
}

impl Endpoint for GetConfigOfReference {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Iceberg,
        Method::Get,
        "/iceberg/{reference}/v1/config",
        "getConfigOfReference",
        "As the plain route, for the reference (and warehouse) in the URL.",
    );
    type Query = Query;
    type Request = ();
    type Response = CatalogConfig;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `warehouse`: a warehouse by name or location; the one in the URL or the default one when absent.
    pub warehouse: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[WAREHOUSE];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { warehouse: pairs.text("warehouse") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("warehouse", self.warehouse.as_ref());
    }
}

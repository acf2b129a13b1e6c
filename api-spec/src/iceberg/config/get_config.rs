//! `GET /iceberg/v1/config`: hands out defaults, overrides and the routes offered.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::parameters::WAREHOUSE;
use crate::parameter::Parameter;
use crate::syntax::duration::IsoDuration;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Hands out defaults, overrides and the routes offered.
#[derive(Debug)]
pub struct GetConfig;

impl GetConfig {
    /// The path, encoded.
    pub fn path() -> String {
        Self::PATH.to_owned()
    }
}

impl Endpoint for GetConfig {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Iceberg,
        Method::Get,
        "/iceberg/v1/config",
        "getConfig",
        "Hands out defaults, overrides and the routes offered.",
    );
    type Query = Query;
    type Request = ();
    type Response = CatalogConfig;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `warehouse`: a warehouse by name or location; the default one when absent.
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

/// What a client merges with its own settings: defaults, then its own, then overrides.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct CatalogConfig {
    /// Weaker than the client's settings; required.
    #[serde(default)]
    pub defaults: BTreeMap<String, String>,
    /// Stronger than the client's settings; required.
    #[serde(default)]
    pub overrides: BTreeMap<String, String>,
    /// The routes that work, as `VERB /v1/…`.
    ///
    /// See [`crate::iceberg::announcement`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub endpoints: Vec<String>,
    /// How long an idempotency key is remembered, an ISO-8601 duration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotency_key_lifetime: Option<IsoDuration>,
}

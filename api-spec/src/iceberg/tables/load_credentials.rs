//! `GET /iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials`: hands out fresh credentials for a table's files.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::parameters::{PLAN_ID, REFERENCED_BY};
use crate::iceberg::tables::StorageCredential;
use crate::parameter::Parameter;
use crate::syntax::namespace_path::encode_segment as encode_namespace;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Hands out fresh credentials for a table's files.
#[derive(Debug)]
pub struct LoadCredentials;

impl LoadCredentials {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str, namespace: &[String], table: &str) -> String {
        format!(
            "/iceberg/v1/{}/namespaces/{}/tables/{}/credentials",
            prefix,
            encode_namespace(namespace),
            encode_segment(table)
        )
    }
}

impl Endpoint for LoadCredentials {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Iceberg,
        Method::Get,
        "/iceberg/v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials",
        "loadCredentials",
        "Hands out fresh credentials for a table's files.",
    );
    type Query = Query;
    type Request = ();
    type Response = LoadCredentialsResponse;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `planId`: the scan plan the credentials are for.
    pub plan_id: Option<String>,
    /// `referenced-by`: the views through which the table is read.
    pub referenced_by: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[PLAN_ID, REFERENCED_BY];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { plan_id: pairs.text("planId"), referenced_by: pairs.text("referenced-by") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("planId", self.plan_id.as_ref());
        out.opt("referenced-by", self.referenced_by.as_ref());
    }
}

/// Credentials by location.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct LoadCredentialsResponse {
    /// The longest matching prefix wins.
    pub storage_credentials: Vec<StorageCredential>,
}

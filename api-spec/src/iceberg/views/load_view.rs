//! `GET /iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}`: reads a view's metadata.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::parameters::REFERENCED_BY;
use crate::parameter::Parameter;
use crate::syntax::namespace_path::encode_segment as encode_namespace;
use crate::syntax::percent::encode_segment;
use crate::syntax::query::{Pairs, QueryError, QueryParams, QueryWriter};

/// Reads a view's metadata.
#[derive(Debug)]
pub struct LoadView;

impl LoadView {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str, namespace: &[String], view: &str) -> String {
        format!(
            "/iceberg/v1/{}/namespaces/{}/views/{}",
            prefix,
            encode_namespace(namespace),
            encode_segment(view)
        )
    }
}

impl Endpoint for LoadView {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Iceberg,
        Method::Get,
        "/iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}",
        "loadView",
        "Reads a view's metadata.",
    );
    type Query = Query;
    type Request = ();
    type Response = LoadViewResult;
}

/// Query parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// `referenced-by`: the views through which the table is read.
    pub referenced_by: Option<String>,
}

impl QueryParams for Query {
    const PARAMETERS: &'static [Parameter] = &[REFERENCED_BY];

    fn parse(pairs: &Pairs<'_>) -> Result<Self, QueryError> {
        Ok(Self { referenced_by: pairs.text("referenced-by") })
    }

    fn write(&self, out: &mut QueryWriter) {
        out.opt("referenced-by", self.referenced_by.as_ref());
    }
}

/// A view as create, load, commit and register answer it.
///
/// `M` is the metadata document, kept as text.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct LoadViewResult<M = Box<RawValue>> {
    /// Where the metadata file lies.
    pub metadata_location: String,
    /// The metadata.
    #[cfg_attr(feature = "openapi", schemars(with = "lochan_storage_iceberg::view::ViewMetadata"))]
    pub metadata: M,
    /// Settings for the client.
    #[serde(default = "BTreeMap::<String, String>::new", skip_serializing_if = "BTreeMap::is_empty")]
    pub config: BTreeMap<String, String>,
}

//! `POST /iceberg/v1/{prefix}/namespaces/{namespace}/views`: creates a view.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::views::LoadViewResult;
use crate::syntax::lenient::null_default;
use crate::syntax::namespace_path::encode_segment as encode_namespace;

/// Creates a view.
#[derive(Debug)]
pub struct CreateView;

impl CreateView {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str, namespace: &[String]) -> String {
        format!("/iceberg/v1/{}/namespaces/{}/views", prefix, encode_namespace(namespace))
    }
}

impl Endpoint for CreateView {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Iceberg,
        Method::Post,
        "/iceberg/v1/{prefix}/namespaces/{namespace}/views",
        "createView",
        "Creates a view.",
    );
    type Query = ();
    type Request = CreateViewRequest;
    type Response = LoadViewResult;
}

/// A view to be created. Schema and version are kept as sent; `storage/iceberg` reads them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct CreateViewRequest {
    /// The name, possibly with a reference.
    pub name: String,
    /// Where the view's metadata is to lie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// The schema.
    #[cfg_attr(feature = "openapi", schemars(with = "lochan_storage_iceberg::schema::Schema"))]
    pub schema: Box<RawValue>,
    /// The first version.
    #[cfg_attr(feature = "openapi", schemars(with = "lochan_storage_iceberg::view::ViewVersion"))]
    pub view_version: Box<RawValue>,
    /// Names to values; some clients leave them out.
    #[serde(default, deserialize_with = "null_default")]
    pub properties: BTreeMap<String, String>,
}

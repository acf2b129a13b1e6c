//! `POST /iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}`: commits updates to a view under requirements.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::identifier::TableIdentifier;
use crate::iceberg::views::LoadViewResult;
use crate::syntax::lenient::null_default;
use crate::syntax::namespace_path::encode_segment as encode_namespace;
use crate::syntax::percent::encode_segment;

/// Commits updates to a view under requirements.
#[derive(Debug)]
pub struct CommitView;

impl CommitView {
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

impl Endpoint for CommitView {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Iceberg,
        Method::Post,
        "/iceberg/v1/{prefix}/namespaces/{namespace}/views/{view}",
        "replaceView",
        "Commits updates to a view under requirements.",
    );
    type Query = ();
    type Request = CommitViewRequest;
    type Response = LoadViewResult;
}

/// Changes of one view. Requirements and updates are kept as sent; `storage/iceberg` reads them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct CommitViewRequest {
    /// The view; must agree with the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifier: Option<TableIdentifier>,
    /// What must hold.
    #[serde(default, deserialize_with = "null_default")]
    #[cfg_attr(feature = "openapi", schemars(with = "Vec<lochan_storage_iceberg::view::ViewRequirement>"))]
    pub requirements: Vec<Box<RawValue>>,
    /// What to change, in order.
    #[serde(default, deserialize_with = "null_default")]
    #[cfg_attr(feature = "openapi", schemars(with = "Vec<lochan_storage_iceberg::view::ViewUpdate>"))]
    pub updates: Vec<Box<RawValue>>,
}

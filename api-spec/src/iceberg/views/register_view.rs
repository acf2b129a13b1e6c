//! `POST /iceberg/v1/{prefix}/namespaces/{namespace}/register-view`: adds a view whose metadata file exists.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::views::LoadViewResult;
use crate::syntax::namespace_path::encode_segment as encode_namespace;

/// Adds a view whose metadata file exists.
#[derive(Debug)]
pub struct RegisterView;

impl RegisterView {
    /// The path. The prefix is inserted as it was handed out, already encoded; the rest is encoded here.
    pub fn path(prefix: &str, namespace: &[String]) -> String {
        format!("/iceberg/v1/{}/namespaces/{}/register-view", prefix, encode_namespace(namespace))
    }
}

impl Endpoint for RegisterView {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Iceberg,
        Method::Post,
        "/iceberg/v1/{prefix}/namespaces/{namespace}/register-view",
        "registerView",
        "Adds a view whose metadata file exists.",
    );
    type Query = ();
    type Request = RegisterViewRequest;
    type Response = LoadViewResult;
}

/// A view to be registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct RegisterViewRequest {
    /// The name, possibly with a reference.
    pub name: String,
    /// The metadata file.
    pub metadata_location: String,
}

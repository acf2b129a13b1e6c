//! `GET /ext/v1/info`: what this server is and what it promises.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};

/// Says what this server is and what it promises. A server without it is not Lochan.
#[derive(Debug)]
pub struct GetInfo;

impl GetInfo {
    /// The path.
    pub fn path() -> String {
        Self::PATH.to_owned()
    }
}

impl Endpoint for GetInfo {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Ext,
        Method::Get,
        "/ext/v1/info",
        "getInfo",
        "Says what this server is and what it promises.",
    );
    type Query = ();
    type Request = ();
    type Response = Info;
}

/// What a server is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Info {
    /// Name of the program: `lochan-server`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Name of the default branch.
    pub default_branch: String,
    /// Where commits are kept.
    pub store: Store,
    /// Where tables are kept, for those who may see the default branch.
    pub warehouses: Vec<Warehouse>,
}

/// Where commits are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Store {
    /// The storage engine.
    pub engine: String,
    /// When a write is acknowledged: `fsync` (it survives a power cut) or `os` (it survives the process).
    pub durability: String,
}

/// A named place in object storage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Warehouse {
    /// Its name.
    pub name: String,
    /// Its root.
    pub location: String,
    /// Whether it is the one used when none is named.
    pub default: bool,
}

//! `GET /api/v2/config`: tells versions, the default branch and the no-ancestor hash.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::NessieConfigurationV2;

/// Tells versions, the default branch and the no-ancestor hash.
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
        Surface::NessieV2,
        Method::Get,
        "/api/v2/config",
        "getConfig",
        "Tells versions, the default branch and the no-ancestor hash.",
    );
    type Query = ();
    type Request = ();
    type Response = NessieConfigurationV2;
}

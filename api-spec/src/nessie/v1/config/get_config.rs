//! `GET /api/v1/config`: tells the default branch and the newest version.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::NessieConfigurationV1;

/// Tells the default branch and the newest version.
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
        Surface::NessieV1,
        Method::Get,
        "/api/v1/config",
        "getConfig",
        "Tells the default branch and the newest version.",
    );
    type Query = ();
    type Request = ();
    type Response = NessieConfigurationV1;
}

//! `POST /api/v2/config/repository`: replaces the stored setting of a type.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{UpdateRepositoryConfigRequest, UpdateRepositoryConfigResponse};

/// Replaces the stored setting of a type.
#[derive(Debug)]
pub struct UpdateRepositoryConfig;

impl UpdateRepositoryConfig {
    /// The path, encoded.
    pub fn path() -> String {
        Self::PATH.to_owned()
    }
}

impl Endpoint for UpdateRepositoryConfig {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::NessieV2,
        Method::Post,
        "/api/v2/config/repository",
        "updateRepositoryConfig",
        "Replaces the stored setting of a type.",
    );
    type Query = ();
    type Request = UpdateRepositoryConfigRequest;
    type Response = UpdateRepositoryConfigResponse;
}

//! `POST /iceberg/{reference}/v1/oauth/tokens`: as the plain route, below a reference.

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::iceberg::oauth::{TokenRequest, TokenResponse};
use crate::syntax::percent::encode_segment;

/// As the plain route, below a reference.
#[derive(Debug)]
pub struct GetTokenOfReference;

impl GetTokenOfReference {
    /// The path, encoded.
    pub fn path(reference: &str) -> String {
        format!("/iceberg/{}/v1/oauth/tokens", encode_segment(reference))
    }
}

impl Endpoint for GetTokenOfReference {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Iceberg,
        Method::Post,
        "/iceberg/{reference}/v1/oauth/tokens",
        "getTokenOfReference",
        "As the plain route, below a reference.",
    )
    .anonymous();
    type Query = ();
    type Request = TokenRequest;
    type Response = TokenResponse;
}

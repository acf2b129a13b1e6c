//! `POST /iceberg/v1/oauth/tokens`: exchanges credentials for a token.
//!
//! This server issues no tokens and answers 501 in the shape of RFC 6749; clients are told the identity server's
//! address. Kept because old clients ask.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};

/// Exchanges credentials for a token.
#[derive(Debug)]
pub struct GetToken;

impl GetToken {
    /// The path, encoded.
    pub fn path() -> String {
        Self::PATH.to_owned()
    }
}

impl Endpoint for GetToken {
    const INFO: EndpointInfo = EndpointInfo::reads(
        Surface::Iceberg,
        Method::Post,
        "/iceberg/v1/oauth/tokens",
        "getToken",
        "Exchanges credentials for a token.",
    )
    .anonymous();
    type Query = ();
    type Request = TokenRequest;
    type Response = TokenResponse;
}

/// The form, `application/x-www-form-urlencoded`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct TokenRequest {
    /// `client_credentials` or the token exchange URN.
    pub grant_type: String,
    /// The client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Its secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// What the token is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// The token to exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_token: Option<String>,
    /// Its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_token_type: Option<String>,
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct TokenResponse {
    /// The token.
    pub access_token: String,
    /// `bearer`
    pub token_type: String,
    /// Seconds it is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_in: Option<u64>,
    /// Its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued_token_type: Option<String>,
    /// Gets the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

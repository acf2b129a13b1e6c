//! Reading contents.

use serde::{Deserialize, Serialize};

use crate::nessie::model::{Content, ContentKey, ReferenceV2};

/// Answer of v2 `contents/{key}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ContentResponse {
    /// The content.
    pub content: Content,
    /// The state that was read.
    pub effective_reference: ReferenceV2,
}

/// Body of `POST contents`, both versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GetMultipleContentsRequest {
    /// At least one key, which the endpoint checks.
    #[serde(default, deserialize_with = "crate::syntax::lenient::null_default")]
    pub requested_keys: Vec<ContentKey>,
}

/// A key with its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct ContentWithKey {
    /// The key.
    pub key: ContentKey,
    /// The content.
    pub content: Content,
}

/// Answer of v2 `contents` for several keys; missing ones are left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GetMultipleContentsResponseV2 {
    /// What was found.
    pub contents: Vec<ContentWithKey>,
    /// The state that was read.
    pub effective_reference: ReferenceV2,
}

/// Answer of v1 `contents` for several keys; missing ones are left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct GetMultipleContentsResponseV1 {
    /// What was found.
    pub contents: Vec<ContentWithKey>,
}

impl From<GetMultipleContentsResponseV2> for GetMultipleContentsResponseV1 {
    fn from(response: GetMultipleContentsResponseV2) -> Self {
        Self { contents: response.contents }
    }
}

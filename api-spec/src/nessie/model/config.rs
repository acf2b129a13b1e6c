//! What the server says about itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::syntax::Instant;

/// Answer of v1 `config`: exactly these two fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NessieConfigurationV1 {
    /// The default branch's name.
    pub default_branch: String,
    /// The newest API version served.
    pub max_supported_api_version: i32,
}

/// Answer of v2 `config`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NessieConfigurationV2 {
    /// The default branch's name.
    pub default_branch: String,
    /// The oldest API version served.
    #[serde(default)]
    pub min_supported_api_version: i32,
    /// The newest API version served.
    pub max_supported_api_version: i32,
    /// The version of this answer.
    #[serde(default)]
    pub actual_api_version: i32,
    /// The announced spec; from 2.2 on clients write keys in the escaped form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec_version: Option<String>,
    /// The commit without ancestors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_ancestor_hash: Option<String>,
    /// When the repository was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repository_creation_timestamp: Option<Instant>,
    /// No commit is older.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oldest_possible_commit_timestamp: Option<Instant>,
    /// Anything else, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub additional_properties: BTreeMap<String, String>,
}

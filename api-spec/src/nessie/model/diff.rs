//! Differences between two states.

use serde::{Deserialize, Serialize};

use crate::nessie::model::{Content, ContentKey, ReferenceV2};

/// Answer of a v2 diff.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiffResponseV2 {
    /// Whether another page exists.
    pub has_more: bool,
    /// Where the next page begins.
    pub token: Option<String>,
    /// In key order.
    pub diffs: Vec<DiffEntry>,
    /// The state on the left.
    pub effective_from_reference: ReferenceV2,
    /// The state on the right.
    pub effective_to_reference: ReferenceV2,
}

/// Answer of a v1 diff, which is never paged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DiffResponseV1 {
    /// Always false.
    pub has_more: bool,
    /// Always null.
    pub token: Option<String>,
    /// In key order.
    pub diffs: Vec<DiffEntry>,
}

/// A key whose content differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct DiffEntry {
    /// The key.
    pub key: ContentKey,
    /// The content on the left; null when the key is only on the right.
    pub from: Option<Content>,
    /// The content on the right; null when the key is only on the left.
    pub to: Option<Content>,
}

impl From<DiffResponseV2> for DiffResponseV1 {
    fn from(response: DiffResponseV2) -> Self {
        Self { has_more: response.has_more, token: response.token, diffs: response.diffs }
    }
}

//! Listings of keys.

use serde::{Deserialize, Serialize};

use crate::nessie::model::{Content, ContentKey, ContentType, ReferenceV2};

/// Answer of v2 `entries`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EntriesResponseV2 {
    /// Whether another page exists.
    pub has_more: bool,
    /// Where the next page begins.
    pub token: Option<String>,
    /// In key order.
    pub entries: Vec<EntryV2>,
    /// The state that was read.
    pub effective_reference: ReferenceV2,
}

/// A key of a v2 listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EntryV2 {
    /// The content's kind.
    #[serde(rename = "type")]
    pub kind: ContentType,
    /// The key.
    pub name: ContentKey,
    /// The content id.
    pub content_id: Option<String>,
    /// The content, if asked for.
    pub content: Option<Content>,
}

/// Answer of v1 `entries`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EntriesResponseV1 {
    /// Whether another page exists.
    pub has_more: bool,
    /// Where the next page begins.
    pub token: Option<String>,
    /// In key order.
    pub entries: Vec<EntryV1>,
}

/// A key of a v1 listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct EntryV1 {
    /// The content's kind.
    #[serde(rename = "type")]
    pub kind: ContentType,
    /// The key.
    pub name: ContentKey,
}

impl From<EntryV2> for EntryV1 {
    fn from(entry: EntryV2) -> Self {
        Self { kind: entry.kind, name: entry.name }
    }
}

impl From<EntriesResponseV2> for EntriesResponseV1 {
    fn from(response: EntriesResponseV2) -> Self {
        Self {
            has_more: response.has_more,
            token: response.token,
            entries: response.entries.into_iter().map(Into::into).collect(),
        }
    }
}

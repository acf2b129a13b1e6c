//! Commit meta: what is known about a commit besides its operations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::syntax::Instant;
use crate::syntax::lenient::{null_default, present};

/// Commit meta as API v2 writes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CommitMetaV2 {
    /// The commit's id.
    pub hash: Option<String>,
    /// Who was authenticated when the commit was made; empty without authentication.
    pub committer: Option<String>,
    /// Who made the change.
    #[serde(default, deserialize_with = "null_default")]
    pub authors: Vec<String>,
    /// Who signed it off.
    #[serde(default, deserialize_with = "null_default")]
    pub all_signed_off_by: Vec<String>,
    /// The message.
    pub message: String,
    /// When the server made the commit; strictly increasing along a branch.
    pub commit_time: Option<Instant>,
    /// When the change was made.
    pub author_time: Option<Instant>,
    /// Names to values.
    #[serde(default, deserialize_with = "null_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub all_properties: BTreeMap<String, Vec<String>>,
    /// The direct parent, then merge parents.
    #[serde(default, deserialize_with = "null_default", skip_serializing_if = "Vec::is_empty")]
    pub parent_commit_hashes: Vec<String>,
}

/// Commit meta as API v1 writes it: the first of each list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CommitMetaV1 {
    /// The commit's id.
    pub hash: Option<String>,
    /// Who was authenticated when the commit was made; empty without authentication.
    pub committer: Option<String>,
    /// The first author.
    pub author: Option<String>,
    /// The first who signed it off.
    pub signed_off_by: Option<String>,
    /// The message.
    pub message: String,
    /// When the server made the commit.
    pub commit_time: Option<Instant>,
    /// When the change was made.
    pub author_time: Option<Instant>,
    /// Names to first values; written even when empty.
    #[serde(default, deserialize_with = "null_default")]
    pub properties: BTreeMap<String, String>,
}

impl From<CommitMetaV2> for CommitMetaV1 {
    fn from(meta: CommitMetaV2) -> Self {
        let properties = meta.all_properties.into_iter();
        Self {
            hash: meta.hash,
            committer: meta.committer,
            author: meta.authors.into_iter().next(),
            signed_off_by: meta.all_signed_off_by.into_iter().next(),
            message: meta.message,
            commit_time: meta.commit_time,
            author_time: meta.author_time,
            properties: properties.filter_map(|(name, v)| Some((name, v.into_iter().next()?))).collect(),
        }
    }
}

/// Commit meta in a request, whichever spelling it came in; what a client may set. Unlike anywhere else, a field that
/// nobody knows is refused: whoever wrote it would miss it later.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", from = "RawCommitMeta")]
pub struct CommitMetaInput {
    /// The message, perhaps empty.
    pub message: String,
    /// Who made the change; empty means the committer.
    pub authors: Vec<String>,
    /// Who signed it off.
    pub all_signed_off_by: Vec<String>,
    /// When the change was made; absent means the commit time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author_time: Option<Instant>,
    /// Names to values; never an empty list.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub all_properties: BTreeMap<String, Vec<String>>,
    /// The first field sent that only the server may set: refused with its `Display`, after the reference was
    /// looked up (the order of checks is the endpoint's).
    #[serde(skip)]
    pub server_set: Option<ServerSetField>,
}

/// A field that only the server may set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("Cannot set the {} on the client side. It is set by the server.", self.words())]
pub enum ServerSetField {
    /// `committer`
    Committer,
    /// `commitTime`
    CommitTime,
    /// `hash`
    Hash,
    /// `parentCommitHashes`
    ParentCommitHashes,
}

impl ServerSetField {
    fn words(self) -> &'static str {
        match self {
            Self::Committer => "committer",
            Self::CommitTime => "commit time",
            Self::Hash => "commit hash",
            Self::ParentCommitHashes => "parent commit hashes",
        }
    }
}

#[derive(Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename = "CommitMeta", rename_all = "camelCase", deny_unknown_fields)]
struct RawCommitMeta {
    message: String,
    author: Option<String>,
    #[serde(default, deserialize_with = "present")]
    authors: Option<Option<Vec<String>>>,
    signed_off_by: Option<String>,
    #[serde(default, deserialize_with = "present")]
    all_signed_off_by: Option<Option<Vec<String>>>,
    properties: Option<BTreeMap<String, String>>,
    #[serde(default, deserialize_with = "present")]
    all_properties: Option<Option<BTreeMap<String, Vec<String>>>>,
    author_time: Option<Instant>,
    committer: Option<String>,
    commit_time: Option<Instant>,
    hash: Option<String>,
    #[serde(default, deserialize_with = "null_default")]
    parent_commit_hashes: Vec<String>,
}

impl From<RawCommitMeta> for CommitMetaInput {
    fn from(raw: RawCommitMeta) -> Self {
        // A field of v2 counts whenever it is there, an empty or null one too.
        let list = |all: Option<Option<Vec<String>>>, one: Option<String>| match all {
            Some(all) => all.unwrap_or_default(),
            None => one.into_iter().collect(),
        };
        let mut all_properties = match raw.all_properties {
            Some(all) => all.unwrap_or_default(),
            None => {
                let one = raw.properties.unwrap_or_default().into_iter();
                one.map(|(name, value)| (name, vec![value])).collect()
            }
        };
        all_properties.retain(|_, values| !values.is_empty());
        let server_set = [
            (raw.committer.is_some(), ServerSetField::Committer),
            (raw.commit_time.is_some(), ServerSetField::CommitTime),
            (raw.hash.is_some(), ServerSetField::Hash),
            (!raw.parent_commit_hashes.is_empty(), ServerSetField::ParentCommitHashes),
        ]
        .into_iter()
        .find_map(|(set, field)| set.then_some(field));
        Self {
            message: raw.message,
            authors: list(raw.authors, raw.author),
            all_signed_off_by: list(raw.all_signed_off_by, raw.signed_off_by),
            author_time: raw.author_time,
            all_properties,
            server_set,
        }
    }
}

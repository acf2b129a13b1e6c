//! Answers of merge and transplant.

use std::fmt;

use serde::de::IgnoredAny;
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::nessie::model::{Conflict, ContentKey, MergeBehavior};

/// Answer of a v2 merge or transplant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MergeResponseV2 {
    /// A new head was written.
    pub was_applied: bool,
    /// There was no conflict.
    pub was_successful: bool,
    /// The head after the call; null for dry runs and conflicts.
    pub resultant_target_hash: Option<String>,
    /// The merge base; null for transplants.
    pub common_ancestor: Option<String>,
    /// The target's name.
    pub target_branch: String,
    /// The head the work was based on.
    pub effective_target_hash: Option<String>,
    /// The resolved expected hash of the request.
    pub expected_hash: Option<String>,
    /// Keys applied, dropped by mode, or in conflict.
    pub details: Vec<MergeDetailV2>,
}

/// A key considered by a v2 merge or transplant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MergeDetailV2 {
    /// The key.
    pub key: ContentKey,
    /// The effective behaviour.
    pub merge_behavior: MergeBehavior,
    /// Why the key did not apply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict: Option<Conflict>,
}

/// Answer of a v1 merge or transplant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MergeResponseV1 {
    /// A new head was written.
    pub was_applied: bool,
    /// There was no conflict.
    pub was_successful: bool,
    /// The head after the call; null for dry runs and conflicts.
    pub resultant_target_hash: Option<String>,
    /// The merge base; null for transplants.
    pub common_ancestor: Option<String>,
    /// The target's name.
    pub target_branch: String,
    /// The head the work was based on.
    pub effective_target_hash: Option<String>,
    /// The resolved expected hash of the request.
    pub expected_hash: Option<String>,
    /// Always empty, but pynessie requires it.
    pub source_commits: NoCommits,
    /// Always null, but pynessie requires it.
    pub target_commits: Option<NoCommits>,
    /// Keys applied, dropped by mode, or in conflict.
    pub details: Vec<MergeDetailV1>,
}

/// A key considered by a v1 merge or transplant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MergeDetailV1 {
    /// The key.
    pub key: ContentKey,
    /// The effective behaviour.
    pub merge_behavior: MergeBehavior,
    /// Whether the key is in conflict.
    pub conflict_type: UnresolvableConflict,
    /// Always empty.
    pub source_commits: NoCommits,
    /// Always empty.
    pub target_commits: NoCommits,
}

/// Whether a key of a v1 merge is in conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum UnresolvableConflict {
    /// It is not.
    None,
    /// It is.
    Unresolvable,
}

/// A list of commits that is always written empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NoCommits;

impl Serialize for NoCommits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_seq(Some(0))?.end()
    }
}

impl<'de> Deserialize<'de> for NoCommits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

impl From<MergeResponseV2> for MergeResponseV1 {
    fn from(response: MergeResponseV2) -> Self {
        Self {
            was_applied: response.was_applied,
            was_successful: response.was_successful,
            resultant_target_hash: response.resultant_target_hash,
            common_ancestor: response.common_ancestor,
            target_branch: response.target_branch,
            effective_target_hash: response.effective_target_hash,
            expected_hash: response.expected_hash,
            source_commits: NoCommits,
            target_commits: None,
            details: response.details.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<MergeDetailV2> for MergeDetailV1 {
    fn from(detail: MergeDetailV2) -> Self {
        let in_conflict = detail.conflict.is_some();
        Self {
            key: detail.key,
            merge_behavior: detail.merge_behavior,
            conflict_type: if in_conflict {
                UnresolvableConflict::Unresolvable
            } else {
                UnresolvableConflict::None
            },
            source_commits: NoCommits,
            target_commits: NoCommits,
        }
    }
}

impl fmt::Display for UnresolvableConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "NONE",
            Self::Unresolvable => "UNRESOLVABLE",
        })
    }
}

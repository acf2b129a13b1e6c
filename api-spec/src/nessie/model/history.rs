//! Recent changes of a reference.

use serde::{Deserialize, Serialize};

use crate::nessie::model::{CommitMetaV2, ReferenceV2};

/// How sound a commit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CommitConsistency {
    /// Not looked at.
    NotChecked,
    /// Sound.
    CommitConsistent,
    /// Some content is missing.
    CommitContentInconsistent,
    /// The commit is missing or broken.
    CommitInconsistent,
}

/// Answer of v2 `recent-changes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReferenceHistoryResponse {
    /// The reference.
    pub reference: ReferenceV2,
    /// Its head.
    pub current: ReferenceHistoryElement,
    /// Earlier heads, newest first.
    pub previous: Vec<ReferenceHistoryElement>,
    /// The worst state found in the commits scanned.
    pub commit_log_consistency: CommitConsistency,
}

/// A present or earlier head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReferenceHistoryElement {
    /// The commit.
    pub commit_hash: String,
    /// Its state.
    pub commit_consistency: CommitConsistency,
    /// Its meta; null at the no-ancestor hash.
    pub meta: Option<CommitMetaV2>,
}

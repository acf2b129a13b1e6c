//! Merge and transplant requests.

use serde::{Deserialize, Serialize};

use crate::nessie::model::{CommitMetaInput, Content, ContentKey};
use crate::syntax::lenient::{boolean, null_default};

/// What happens to a key that both sides may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum MergeBehavior {
    /// A conflict is reported.
    #[default]
    Normal,
    /// The source wins.
    Force,
    /// The source's change is left out.
    Drop,
}

impl MergeBehavior {
    /// The wire word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "NORMAL",
            Self::Force => "FORCE",
            Self::Drop => "DROP",
        }
    }
}

/// Behaviour of one key. Documentation and metadata fields are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MergeKeyBehavior {
    /// The key.
    pub key: ContentKey,
    /// Its behaviour.
    pub merge_behavior: MergeBehavior,
    /// What the target must hold instead of the base's content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_target_content: Option<Content>,
    /// What to store instead of the source's content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_content: Option<Content>,
}

/// Body of a v2 merge. The booleans are read under both their spellings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MergeRequestV2 {
    /// The source's name, or `DETACHED`.
    pub from_ref_name: String,
    /// The source's hash-or-relative form; must start with an absolute hash, which the endpoint checks.
    pub from_hash: Option<String>,
    /// The merge commit's message; deprecated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The merge commit's meta; wins over `message` when its own is not empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_meta: Option<CommitMetaInput>,
    /// Behaviours per key.
    #[serde(default, deserialize_with = "null_default", skip_serializing_if = "Vec::is_empty")]
    pub key_merge_modes: Vec<MergeKeyBehavior>,
    /// The behaviour of all other keys.
    #[serde(default, deserialize_with = "null_default")]
    pub default_key_merge_mode: MergeBehavior,
    /// Only says what would happen.
    #[serde(rename = "isDryRun", alias = "dryRun", default, deserialize_with = "boolean")]
    pub is_dry_run: bool,
    /// Has no effect any more.
    #[serde(
        rename = "isFetchAdditionalInfo",
        alias = "fetchAdditionalInfo",
        default,
        deserialize_with = "boolean"
    )]
    pub is_fetch_additional_info: bool,
    /// Answers 200 with the conflicts instead of 409.
    #[serde(
        rename = "isReturnConflictAsResult",
        alias = "returnConflictAsResult",
        default,
        deserialize_with = "boolean"
    )]
    pub is_return_conflict_as_result: bool,
}

/// Body of a v1 merge: no message, no meta.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MergeRequestV1 {
    /// The source's name, or `DETACHED`.
    pub from_ref_name: String,
    /// The source's plain hash.
    pub from_hash: String,
    /// Behaviours per key.
    #[serde(default, deserialize_with = "null_default", skip_serializing_if = "Vec::is_empty")]
    pub key_merge_modes: Vec<MergeKeyBehavior>,
    /// The behaviour of all other keys.
    #[serde(default, deserialize_with = "null_default")]
    pub default_key_merge_mode: MergeBehavior,
    /// Only says what would happen.
    #[serde(rename = "isDryRun", alias = "dryRun", default, deserialize_with = "boolean")]
    pub is_dry_run: bool,
    /// Has no effect any more.
    #[serde(
        rename = "isFetchAdditionalInfo",
        alias = "fetchAdditionalInfo",
        default,
        deserialize_with = "boolean"
    )]
    pub is_fetch_additional_info: bool,
    /// Answers 200 with the conflicts instead of 409.
    #[serde(
        rename = "isReturnConflictAsResult",
        alias = "returnConflictAsResult",
        default,
        deserialize_with = "boolean"
    )]
    pub is_return_conflict_as_result: bool,
    /// Must be absent, null or false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_individual_commits: Option<bool>,
}

/// Body of a v2 transplant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TransplantRequestV2 {
    /// The source's name, or `DETACHED`.
    pub from_ref_name: String,
    /// The commits, oldest first, in hash-or-relative form; at least one, which the endpoint checks.
    #[serde(default, deserialize_with = "null_default")]
    pub hashes_to_transplant: Vec<String>,
    /// Overrides the message of a single commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Behaviours per key.
    #[serde(default, deserialize_with = "null_default", skip_serializing_if = "Vec::is_empty")]
    pub key_merge_modes: Vec<MergeKeyBehavior>,
    /// The behaviour of all other keys.
    #[serde(default, deserialize_with = "null_default")]
    pub default_key_merge_mode: MergeBehavior,
    /// Only says what would happen.
    #[serde(rename = "isDryRun", alias = "dryRun", default, deserialize_with = "boolean")]
    pub is_dry_run: bool,
    /// Has no effect any more.
    #[serde(
        rename = "isFetchAdditionalInfo",
        alias = "fetchAdditionalInfo",
        default,
        deserialize_with = "boolean"
    )]
    pub is_fetch_additional_info: bool,
    /// Answers 200 with the conflicts instead of 409.
    #[serde(
        rename = "isReturnConflictAsResult",
        alias = "returnConflictAsResult",
        default,
        deserialize_with = "boolean"
    )]
    pub is_return_conflict_as_result: bool,
}

/// Body of a v1 transplant; the message is a query parameter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TransplantRequestV1 {
    /// The source's name, or `DETACHED`.
    pub from_ref_name: String,
    /// The commits, oldest first, as plain hashes; at least one, which the endpoint checks.
    #[serde(default, deserialize_with = "null_default")]
    pub hashes_to_transplant: Vec<String>,
    /// Behaviours per key.
    #[serde(default, deserialize_with = "null_default", skip_serializing_if = "Vec::is_empty")]
    pub key_merge_modes: Vec<MergeKeyBehavior>,
    /// The behaviour of all other keys.
    #[serde(default, deserialize_with = "null_default")]
    pub default_key_merge_mode: MergeBehavior,
    /// Only says what would happen.
    #[serde(rename = "isDryRun", alias = "dryRun", default, deserialize_with = "boolean")]
    pub is_dry_run: bool,
    /// Has no effect any more.
    #[serde(
        rename = "isFetchAdditionalInfo",
        alias = "fetchAdditionalInfo",
        default,
        deserialize_with = "boolean"
    )]
    pub is_fetch_additional_info: bool,
    /// Answers 200 with the conflicts instead of 409.
    #[serde(
        rename = "isReturnConflictAsResult",
        alias = "returnConflictAsResult",
        default,
        deserialize_with = "boolean"
    )]
    pub is_return_conflict_as_result: bool,
    /// Must be absent, null or true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_individual_commits: Option<bool>,
}

//! Merge and transplant requests.

use serde::{Deserialize, Deserializer, Serialize, de};

use super::operation::{ContentMetadata, Documentation};
use crate::nessie::model::{CommitMetaInput, Content, ContentKey};
use crate::syntax::lenient::{boolean, null_default, object, object_or_null, objects};
use crate::syntax::reference::HASH_OR_RELATIVE_MESSAGE;

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

/// Behaviour of one key. Documentation and metadata are ignored, but must have their shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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

#[derive(Deserialize)]
#[serde(rename = "MergeKeyBehavior", rename_all = "camelCase")]
struct RawMergeKeyBehavior {
    key: ContentKey,
    merge_behavior: MergeBehavior,
    expected_target_content: Option<Content>,
    resolved_content: Option<Content>,
    #[serde(default, deserialize_with = "objects", rename = "metadata")]
    _metadata: Vec<ContentMetadata>,
    #[serde(default, deserialize_with = "object_or_null", rename = "expectedTargetDocumentation")]
    _expected_target_documentation: Option<Documentation>,
    #[serde(default, deserialize_with = "object_or_null", rename = "resolvedDocumentation")]
    _resolved_documentation: Option<Documentation>,
}

impl<'de> Deserialize<'de> for MergeKeyBehavior {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: RawMergeKeyBehavior = object(deserializer)?;
        Ok(Self {
            key: raw.key,
            merge_behavior: raw.merge_behavior,
            expected_target_content: raw.expected_target_content,
            resolved_content: raw.resolved_content,
        })
    }
}

/// Refuses an empty hash, which is told before anything is looked up. Other shapes are the endpoint's to judge.
fn not_empty<E: de::Error>(hash: &str) -> Result<(), E> {
    if hash.is_empty() { Err(E::custom(HASH_OR_RELATIVE_MESSAGE)) } else { Ok(()) }
}

fn hash<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let hash = String::deserialize(deserializer)?;
    not_empty(&hash).map(|()| hash)
}

fn hash_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let hash = Option::<String>::deserialize(deserializer)?;
    hash.as_deref().map_or(Ok(()), not_empty).map(|()| hash)
}

fn hashes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let hashes: Vec<String> = null_default(deserializer)?;
    hashes.iter().try_for_each(|hash| not_empty(hash)).map(|()| hashes)
}

/// Body of a v2 merge. The booleans are read under both their spellings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct MergeRequestV2 {
    /// The source's name, or `DETACHED`.
    pub from_ref_name: String,
    /// The source's hash-or-relative form; must start with an absolute hash, which the endpoint checks.
    #[serde(default, deserialize_with = "hash_or_null")]
    pub from_hash: Option<String>,
    /// The merge commit's message; deprecated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The merge commit's meta; wins over `message` when its own is not empty.
    #[serde(default, deserialize_with = "object_or_null", skip_serializing_if = "Option::is_none")]
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
    #[serde(deserialize_with = "hash")]
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
    #[serde(default, deserialize_with = "hashes")]
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
    #[serde(default, deserialize_with = "hashes")]
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

//! `POST /ext/v1/refs/{ref}:rebase`: makes the commits of a branch again on top of another reference.

use serde::{Deserialize, Serialize};

use crate::endpoint::{Endpoint, EndpointInfo, Method, Surface};
use crate::nessie::model::{MergeBehavior, MergeDetailV2, MergeKeyBehavior};
use crate::syntax::percent::encode_segment;

/// Most commits that one call makes again.
pub const COMMITS_MAX: usize = 10_000;

/// Transplants the commits of a branch that another reference does not contain onto that reference's head, and sets the
/// branch there, in one batch: both or neither.
///
/// Both references must be where the caller has seen them, from the first look to the write (409 `REFERENCE_CONFLICT`
/// otherwise). Commits are those along first parents from the head down to the first that `onto` contains, at most
/// [`COMMITS_MAX`] (400). Each becomes a new commit by the caller, with the message, authors, properties and author time
/// of the old one. Left out are commits whose changes `onto` holds already. A merge commit becomes a commit of its own
/// operations; what came from a merge parent that `onto` contains is left out, so that merging `onto` into the branch
/// beforehand does no harm; merge parents that `onto` does not contain stay merge parents.
///
/// Where keys conflict, 409 `MERGE_CONFLICT` with `details.conflicts`, or, with `returnConflictAsResult` or `dryRun`,
/// a 200 that holds them; nothing is changed. A branch without commits of its own is moved forward. Needs the permissions
/// for a transplant into the branch and for assigning it.
#[derive(Debug)]
pub struct RebaseBranch;

impl RebaseBranch {
    /// The path, encoded.
    pub fn path(branch: &str) -> String {
        format!("/ext/v1/refs/{}:rebase", encode_segment(branch))
    }
}

impl Endpoint for RebaseBranch {
    const INFO: EndpointInfo = EndpointInfo::changes(
        Surface::Ext,
        Method::Post,
        "/ext/v1/refs/{ref}:rebase",
        "rebaseBranch",
        "Makes the commits of a branch again on top of another reference.",
    );
    type Query = ();
    type Request = RebaseRequest;
    type Response = RebaseResponse;
}

/// What to rebase on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RebaseRequest {
    /// The head of the branch, as the caller has seen it: 64 digits.
    pub expected_hash: String,
    /// Name of the branch or tag to rebase on.
    pub onto: String,
    /// Its head, as the caller has seen it: 64 digits.
    pub onto_hash: String,
    /// Behaviours per key, as for a transplant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key_merge_modes: Vec<MergeKeyBehavior>,
    /// The behaviour of all other keys.
    #[serde(default)]
    pub default_key_merge_mode: MergeBehavior,
    /// Only says what would happen.
    #[serde(default)]
    pub dry_run: bool,
    /// Answers 200 with the conflicts instead of 409.
    #[serde(default)]
    pub return_conflict_as_result: bool,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RebaseResponse {
    /// The branch was set to another commit.
    pub was_applied: bool,
    /// There was no conflict.
    pub was_successful: bool,
    /// The branch.
    pub branch: String,
    /// Its head before the call.
    pub old_hash: String,
    /// Its head after the call; null for conflicts and for a dry run that would change it.
    pub new_hash: Option<String>,
    /// The nearest commit that both had in common.
    pub common_ancestor: String,
    /// Commits of the branch that `onto` did not contain, oldest first.
    pub commits: Vec<RebasedCommit>,
    /// Keys applied, dropped by mode, or in conflict.
    pub details: Vec<MergeDetailV2>,
}

/// What became of one commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RebasedCommit {
    /// The commit on the branch before.
    pub old_hash: String,
    /// The commit made of it; null when none was needed or made.
    pub new_hash: Option<String>,
    /// What was done with it.
    pub outcome: RebaseOutcome,
}

/// What was done with a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum RebaseOutcome {
    /// It was made again, or would be.
    Picked,
    /// The target holds all that it changes.
    Contained,
    /// Some of its keys conflict.
    Conflict,
}

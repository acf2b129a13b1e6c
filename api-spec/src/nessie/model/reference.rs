//! References: branches, tags and detached commits.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::nessie::model::{CommitMetaInput, CommitMetaV1, CommitMetaV2};
use crate::syntax::lenient::object_or_null;
use crate::syntax::reference::{
    HASH_OR_RELATIVE_MESSAGE, HashSpec, NAME_MESSAGE, ReferenceError, check_name,
};

/// What a reference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum ReferenceKind {
    /// Moves with commits.
    Branch,
    /// Moves only when assigned.
    Tag,
    /// A commit outside any reference.
    Detached,
}

impl ReferenceKind {
    /// The wire word, upper case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Branch => "BRANCH",
            Self::Tag => "TAG",
            Self::Detached => "DETACHED",
        }
    }

    /// Reads the `type` parameter of create, assign and delete: `BRANCH`, `branch`, `TAG` or `tag`.
    pub fn parse_named(text: &str) -> Result<Self, ReferenceError> {
        match text {
            "BRANCH" | "branch" => Ok(Self::Branch),
            "TAG" | "tag" => Ok(Self::Tag),
            _ => Err(ReferenceError::Type),
        }
    }
}

impl fmt::Display for ReferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How much of a listing is filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fetch {
    /// The default.
    #[default]
    Minimal,
    /// With reference metadata, or with the operations of commits.
    All,
}

/// A reference as answers show it.
///
/// `M` is the commit meta of the API version.
///
/// DETACHED has no name. The hash is null only in requests that leave it out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Reference<M> {
    /// Branch, tag or detached.
    #[serde(rename = "type")]
    pub kind: ReferenceKind,
    /// The name; none for DETACHED.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The commit, 64 hexadecimal digits.
    pub hash: Option<String>,
    /// Only with `fetch=ALL`, and never at the no-ancestor hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<ReferenceMetadata<M>>,
}

/// A reference of API v1.
pub type ReferenceV1 = Reference<CommitMetaV1>;
/// A reference of API v2.
pub type ReferenceV2 = Reference<CommitMetaV2>;

impl<M> Reference<M> {
    /// A branch at a commit.
    pub fn branch(name: impl Into<String>, hash: impl Into<String>) -> Self {
        Self { kind: ReferenceKind::Branch, name: Some(name.into()), hash: Some(hash.into()), metadata: None }
    }

    /// A tag at a commit.
    pub fn tag(name: impl Into<String>, hash: impl Into<String>) -> Self {
        Self { kind: ReferenceKind::Tag, name: Some(name.into()), hash: Some(hash.into()), metadata: None }
    }

    /// A commit outside any reference.
    pub fn detached(hash: impl Into<String>) -> Self {
        Self { kind: ReferenceKind::Detached, name: None, hash: Some(hash.into()), metadata: None }
    }

    /// Converts the commit meta of the metadata.
    pub fn map_meta<N>(self, convert: impl FnOnce(M) -> N) -> Reference<N> {
        let Self { kind, name, hash, metadata } = self;
        Reference { kind, name, hash, metadata: metadata.map(|metadata| metadata.map_meta(convert)) }
    }
}

/// What `fetch=ALL` adds to a reference. The first three are null for tags and the default branch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReferenceMetadata<M> {
    /// Commits since the common ancestor.
    pub num_commits_ahead: Option<i32>,
    /// Commits of the default branch since the common ancestor.
    pub num_commits_behind: Option<i32>,
    /// The commit at the head.
    #[serde(rename = "commitMetaOfHEAD")]
    pub commit_meta_of_head: Option<M>,
    /// The nearest commit shared with the default branch, along direct parents.
    pub common_ancestor_hash: Option<String>,
    /// Length of the chain of direct parents.
    pub num_total_commits: Option<i64>,
}

impl<M> ReferenceMetadata<M> {
    fn map_meta<N>(self, convert: impl FnOnce(M) -> N) -> ReferenceMetadata<N> {
        ReferenceMetadata {
            num_commits_ahead: self.num_commits_ahead,
            num_commits_behind: self.num_commits_behind,
            commit_meta_of_head: self.commit_meta_of_head.map(convert),
            common_ancestor_hash: self.common_ancestor_hash,
            num_total_commits: self.num_total_commits,
        }
    }
}

/// Answer of `GET trees`, both versions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReferencesResponse<M> {
    /// Whether another page exists.
    pub has_more: bool,
    /// Where the next page begins; set exactly when `has_more` is.
    pub token: Option<String>,
    /// All branches by name, then all tags by name.
    pub references: Vec<Reference<M>>,
}

/// Answer of the v2 calls about one reference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct SingleReferenceResponse {
    /// The reference.
    pub reference: ReferenceV2,
}

/// A reference in a request body: a source for create, a target for assign.
///
/// The name follows the reference-name rules (none for DETACHED), the hash is a hash-or-relative form or null;
/// both are checked when read. `metadata` is ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(try_from = "RawReference")]
pub struct ReferenceInput {
    /// Branch, tag or detached.
    #[serde(rename = "type")]
    pub kind: ReferenceKind,
    /// The name; none for DETACHED.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The text of the hash with its relative parts; an empty one is read as null.
    pub hash: Option<String>,
}

impl ReferenceInput {
    /// The hash with its parts; empty when there is none.
    pub fn hash_spec(&self) -> Result<HashSpec, ReferenceError> {
        HashSpec::parse(self.hash.as_deref().unwrap_or_default())
    }
}

#[derive(Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema), schemars(transform = crate::openapi::scalars::named_or_detached))]
#[serde(rename = "Reference")]
struct RawReference {
    #[serde(rename = "type")]
    #[cfg_attr(feature = "openapi", schemars(required, with = "ReferenceKind"))]
    kind: Option<String>,
    #[cfg_attr(
        feature = "openapi",
        schemars(default, schema_with = "crate::openapi::scalars::reference_name")
    )]
    name: Option<String>,
    #[cfg_attr(
        feature = "openapi",
        schemars(default, schema_with = "crate::openapi::scalars::hash_or_relative")
    )]
    hash: Option<String>,
    /// Checked for its shape by being read.
    #[serde(default, rename = "metadata", deserialize_with = "object_or_null")]
    #[cfg_attr(feature = "openapi", schemars(skip))]
    _metadata: Option<RawMetadata>,
}

/// What clients echo of a reference they have read.
#[derive(Deserialize)]
#[serde(rename = "ReferenceMetadata", rename_all = "camelCase")]
struct RawMetadata {
    #[serde(rename = "numCommitsAhead")]
    _num_commits_ahead: Option<i32>,
    #[serde(rename = "numCommitsBehind")]
    _num_commits_behind: Option<i32>,
    #[serde(default, rename = "commitMetaOfHEAD", deserialize_with = "object_or_null")]
    _commit_meta_of_head: Option<CommitMetaInput>,
    #[serde(rename = "commonAncestorHash")]
    _common_ancestor_hash: Option<String>,
    #[serde(rename = "numTotalCommits")]
    _num_total_commits: Option<i64>,
}

impl TryFrom<RawReference> for ReferenceInput {
    type Error = String;

    /// The messages for a wrong name and an unknown type are compared word for word by the Java kit, line break
    /// included (Nessie API, messages that tools compare).
    fn try_from(raw: RawReference) -> Result<Self, String> {
        let (kind, class) = match raw.kind.as_deref() {
            Some("BRANCH") => (ReferenceKind::Branch, "Branch"),
            Some("TAG") => (ReferenceKind::Tag, "Tag"),
            Some("DETACHED") => (ReferenceKind::Detached, "Detached"),
            Some(other) => {
                return Err(format!(
                    "Could not resolve type id '{other}' as a subtype of `org.projectnessie.model.Reference`: known \
                     type ids = [BRANCH, DETACHED, TAG]"
                ));
            }
            None => return Err("the reference has no 'type'; it must be BRANCH, TAG or DETACHED".to_owned()),
        };
        let problem = |message: &str, value: &str| {
            format!(
                "Cannot construct instance of `org.projectnessie.model.Immutable{class}`, problem: {message} - but \
                 was: {value}\n"
            )
        };
        let name = match (kind, raw.name) {
            (ReferenceKind::Detached, _) => None,
            (_, None) => return Err(format!("a reference of type {kind} needs a 'name'")),
            (_, Some(name)) => {
                check_name(&name).map_err(|_| problem(NAME_MESSAGE, &name))?;
                Some(name)
            }
        };
        let hash = raw.hash;
        match &hash {
            // Only the shape is judged here: an impossible relative value is the endpoint's to report.
            Some(text) if text.is_empty() || HashSpec::parse(text).is_err_and(|e| e.is_violation()) => {
                return Err(problem(HASH_OR_RELATIVE_MESSAGE, text));
            }
            None if kind == ReferenceKind::Detached => {
                return Err("a reference of type DETACHED needs a 'hash'".to_owned());
            }
            _ => {}
        }
        Ok(Self { kind, name, hash })
    }
}

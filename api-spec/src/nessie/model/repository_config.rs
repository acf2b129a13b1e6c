//! Settings stored in the repository.

use serde::{Deserialize, Serialize};

use crate::syntax::cutoff;
use crate::syntax::duration::IsoDuration;
use crate::syntax::lenient::{object, objects};

/// A stored setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type")]
pub enum RepositoryConfig {
    /// What the garbage collector keeps.
    #[serde(rename = "GARBAGE_COLLECTOR")]
    GarbageCollector(GarbageCollectorConfig),
}

impl RepositoryConfig {
    /// The types served, as the `type` parameter names them.
    pub const TYPES: &[&str] = &["GARBAGE_COLLECTOR"];

    /// The wire word of the type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::GarbageCollector(_) => "GARBAGE_COLLECTOR",
        }
    }
}

/// `GARBAGE_COLLECTOR`: everything is optional, nulls and empty lists are omitted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GarbageCollectorConfig {
    /// The policy of references without their own, verbatim; checked when read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_cutoff_policy: Option<String>,
    /// Policies by name pattern; not checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schemars(default))]
    pub per_ref_cutoff_policies: Vec<ReferenceCutoffPolicy>,
    /// How long files stay that nothing refers to yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_files_grace_period: Option<IsoDuration>,
    /// Sizes the collector's filters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_file_count_per_content: Option<i32>,
}

/// A policy for references whose name matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ReferenceCutoffPolicy {
    /// A regular expression.
    pub reference_name_pattern: String,
    /// The policy, verbatim.
    pub policy: String,
}

#[derive(Deserialize)]
#[serde(rename = "RepositoryConfig", rename_all = "camelCase")]
struct RawConfig {
    #[serde(rename = "type")]
    kind: Option<String>,
    default_cutoff_policy: Option<String>,
    #[serde(default, deserialize_with = "objects")]
    per_ref_cutoff_policies: Vec<ReferenceCutoffPolicy>,
    new_files_grace_period: Option<IsoDuration>,
    expected_file_count_per_content: Option<i32>,
}

impl<'de> Deserialize<'de> for RepositoryConfig {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let raw: RawConfig = object(deserializer)?;
        match raw.kind.as_deref() {
            Some("GARBAGE_COLLECTOR") => {}
            Some(other) => {
                return Err(D::Error::custom(format!(
                    "Repository config type bundle for '{other}' is not available on the Nessie server side."
                )));
            }
            None => return Err(D::Error::custom("the repository config has no 'type'")),
        }
        if let Some(text) = &raw.default_cutoff_policy {
            cutoff::check(text).map_err(D::Error::custom)?;
        }
        Ok(Self::GarbageCollector(GarbageCollectorConfig {
            default_cutoff_policy: raw.default_cutoff_policy,
            per_ref_cutoff_policies: raw.per_ref_cutoff_policies,
            new_files_grace_period: raw.new_files_grace_period,
            expected_file_count_per_content: raw.expected_file_count_per_content,
        }))
    }
}

/// Answer of `GET config/repository`: `{}` when nothing is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct RepositoryConfigResponse {
    /// What was found of the types asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configs: Vec<RepositoryConfig>,
}

/// Body of `POST config/repository`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct UpdateRepositoryConfigRequest {
    /// Replaces the stored config of its type as a whole.
    pub config: RepositoryConfig,
}

/// Answer of `POST config/repository`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct UpdateRepositoryConfigResponse {
    /// What was stored before, or null.
    pub previous: Option<RepositoryConfig>,
}

//! Snapshots, the references on them, and the two logs of a table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Error, Extra};

/// Name of the reference that is the table's current state.
pub const MAIN_BRANCH: &str = "main";

/// A state of the table's data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct Snapshot {
    /// Order of the change among all changes of the table; absent in format v1, read as 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence_number: Option<i64>,
    /// Id, chosen by the writer.
    pub snapshot_id: i64,
    /// The snapshot this one was made from.
    #[serde(
        default,
        deserialize_with = "crate::de::snapshot_id_or_none",
        skip_serializing_if = "Option::is_none"
    )]
    pub parent_snapshot_id: Option<i64>,
    /// When the writer made it, milliseconds since 1970.
    pub timestamp_ms: i64,
    /// What changed: `operation` and counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<BTreeMap<String, Value>>,
    /// Location of the manifest list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest_list: Option<String>,
    /// Locations of the manifests, instead of a list (format v1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifests: Option<Vec<String>>,
    /// The schema current when it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_id: Option<i32>,
    /// First row id of its new rows (format v3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_row_id: Option<i64>,
    /// How many row ids it takes (format v3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_rows: Option<i64>,
    /// Encryption key of the manifest list (format v3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Snapshot {
    /// Sequence number, 0 for snapshots of format v1.
    #[must_use]
    pub fn sequence_number(&self) -> i64 {
        self.sequence_number.unwrap_or(0)
    }
}

/// What a reference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RefType {
    /// Moves with writes.
    #[serde(alias = "BRANCH")]
    Branch,
    /// Stays.
    #[serde(alias = "TAG")]
    Tag,
}

impl RefType {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::Tag => "tag",
        }
    }
}

/// A named snapshot with its retention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct SnapshotRef {
    /// The snapshot it names.
    pub snapshot_id: i64,
    /// Branch or tag.
    #[serde(rename = "type")]
    pub ref_type: RefType,
    /// Snapshots to keep on a branch at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_snapshots_to_keep: Option<i32>,
    /// Age up to which snapshots of a branch are kept, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_snapshot_age_ms: Option<i64>,
    /// Age up to which the reference itself is kept, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ref_age_ms: Option<i64>,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

impl SnapshotRef {
    /// A branch without retention settings.
    #[must_use]
    pub fn branch(snapshot_id: i64) -> Self {
        Self {
            snapshot_id,
            ref_type: RefType::Branch,
            min_snapshots_to_keep: None,
            max_snapshot_age_ms: None,
            max_ref_age_ms: None,
            extra: Extra::new(),
        }
    }

    /// Checks the retention settings.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let refuse = |text: &str| Err(Error::Validation(text.to_owned()));
        if self.ref_type == RefType::Tag {
            if self.min_snapshots_to_keep.is_some() {
                return refuse("Tags do not support setting minSnapshotsToKeep");
            }
            if self.max_snapshot_age_ms.is_some() {
                return refuse("Tags do not support setting maxSnapshotAgeMs");
            }
        }
        if self.min_snapshots_to_keep.is_some_and(|n| n <= 0) {
            return refuse("Min snapshots to keep must be greater than 0");
        }
        if self.max_snapshot_age_ms.is_some_and(|ms| ms <= 0) {
            return refuse("Max snapshot age must be greater than 0 ms");
        }
        if self.max_ref_age_ms.is_some_and(|ms| ms <= 0) {
            return refuse("Max reference age must be greater than 0");
        }
        Ok(())
    }
}

/// When a snapshot became current.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct SnapshotLogEntry {
    /// Milliseconds since 1970.
    pub timestamp_ms: i64,
    /// The snapshot.
    pub snapshot_id: i64,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// An earlier metadata file of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct MetadataLogEntry {
    /// When that file was written (its `last-updated-ms`), milliseconds since 1970.
    pub timestamp_ms: i64,
    /// Location of the file.
    pub metadata_file: String,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

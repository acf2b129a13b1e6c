//! Statistics files and encryption keys listed in table metadata.

use serde::{Deserialize, Serialize};

use crate::Extra;

/// A Puffin file with statistics of one snapshot. `blob-metadata` and `key-metadata` are kept as sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct StatisticsFile {
    /// The snapshot it describes.
    pub snapshot_id: i64,
    /// Location.
    pub statistics_path: String,
    /// Size in bytes.
    pub file_size_in_bytes: i64,
    /// Size of the footer in bytes.
    pub file_footer_size_in_bytes: i64,
    /// Other fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A file with partition statistics of one snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct PartitionStatisticsFile {
    /// The snapshot it describes.
    pub snapshot_id: i64,
    /// Location.
    pub statistics_path: String,
    /// Size in bytes.
    pub file_size_in_bytes: i64,
    /// Other fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// An encrypted key (format v3).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct EncryptedKey {
    /// Id.
    pub key_id: String,
    /// The encrypted key, base64.
    pub encrypted_key_metadata: String,
    /// Id of the key that encrypts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted_by_id: Option<String>,
    /// Other fields, `properties` among them.
    #[serde(flatten)]
    pub extra: Extra,
}

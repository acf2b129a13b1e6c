//! Contents: what a key holds.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::syntax::key::check_namespace;
use crate::syntax::lenient::{IsObject, TextOrNumber, null_default, object};

/// The kind of a content, as entries and CEL name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ContentType {
    /// An Iceberg table.
    IcebergTable,
    /// An Iceberg view.
    IcebergView,
    /// A Delta Lake table.
    DeltaLakeTable,
    /// A namespace.
    Namespace,
    /// A user defined function.
    Udf,
    /// A stored kind this program does not know.
    #[serde(other)]
    Unknown,
}

impl ContentType {
    /// The types that contents have.
    const STORED: [Self; 5] =
        [Self::IcebergTable, Self::IcebergView, Self::DeltaLakeTable, Self::Namespace, Self::Udf];

    /// The wire word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::IcebergTable => "ICEBERG_TABLE",
            Self::IcebergView => "ICEBERG_VIEW",
            Self::DeltaLakeTable => "DELTA_LAKE_TABLE",
            Self::Namespace => "NAMESPACE",
            Self::Udf => "UDF",
            Self::Unknown => "UNKNOWN",
        }
    }
}

impl fmt::Display for ContentType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A content of any type. In each, `id` is null or absent in requests for new contents and always set in answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "type")]
pub enum Content {
    /// An Iceberg table.
    #[serde(rename = "ICEBERG_TABLE")]
    IcebergTable(IcebergTable),
    /// An Iceberg view.
    #[serde(rename = "ICEBERG_VIEW")]
    IcebergView(IcebergView),
    /// A Delta Lake table.
    #[serde(rename = "DELTA_LAKE_TABLE")]
    DeltaLakeTable(DeltaLakeTable),
    /// A namespace.
    #[serde(rename = "NAMESPACE")]
    Namespace(Namespace),
    /// A user defined function.
    #[serde(rename = "UDF")]
    Udf(Udf),
}

/// `ICEBERG_TABLE`: all fields are always written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct IcebergTable {
    /// The content id.
    pub id: Option<String>,
    /// Where the metadata file lies; may be blank.
    pub metadata_location: String,
    /// The current snapshot; −1 without one.
    pub snapshot_id: i64,
    /// The current schema.
    pub schema_id: i32,
    /// The default partition spec.
    pub spec_id: i32,
    /// The default sort order.
    pub sort_order_id: i32,
}

/// `ICEBERG_VIEW`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct IcebergView {
    /// The content id.
    pub id: Option<String>,
    /// Where the metadata file lies.
    pub metadata_location: String,
    /// The current version.
    #[cfg_attr(feature = "openapi", schemars(schema_with = "crate::openapi::scalars::number_or_text"))]
    pub version_id: i64,
    /// The schema of the current version.
    pub schema_id: i32,
    /// Deprecated; returned as sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sql_text: Option<String>,
    /// Deprecated; returned as sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
}

/// `DELTA_LAKE_TABLE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DeltaLakeTable {
    /// The content id.
    pub id: Option<String>,
    /// Log files, as the client keeps them.
    #[cfg_attr(feature = "openapi", schemars(default))]
    pub metadata_location_history: Vec<String>,
    /// Checkpoints, as the client keeps them.
    #[cfg_attr(feature = "openapi", schemars(default))]
    pub checkpoint_location_history: Vec<String>,
    /// The last checkpoint; written as null when there is none.
    pub last_checkpoint: Option<String>,
}

/// `NAMESPACE`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Namespace {
    /// The content id; null for a namespace that only exists as a prefix of keys.
    pub id: Option<String>,
    /// The elements; clients make them equal to the key's.
    #[cfg_attr(feature = "openapi", schemars(default, schema_with = "crate::openapi::scalars::elements"))]
    pub elements: Vec<String>,
    /// Names to values; omitted when empty.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, String>,
}

/// `UDF`: each field but the id is omitted when null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Udf {
    /// The content id.
    pub id: Option<String>,
    /// Where the metadata file lies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata_location: Option<String>,
    /// The current version.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schemars(schema_with = "crate::openapi::scalars::text_or_number"))]
    pub version_id: Option<String>,
    /// The current signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schemars(schema_with = "crate::openapi::scalars::text_or_number"))]
    pub signature_id: Option<String>,
    /// Deprecated; returned as sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sql_text: Option<String>,
    /// Deprecated; returned as sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
}

impl Content {
    /// The kind.
    pub fn kind(&self) -> ContentType {
        match self {
            Self::IcebergTable(_) => ContentType::IcebergTable,
            Self::IcebergView(_) => ContentType::IcebergView,
            Self::DeltaLakeTable(_) => ContentType::DeltaLakeTable,
            Self::Namespace(_) => ContentType::Namespace,
            Self::Udf(_) => ContentType::Udf,
        }
    }

    /// The content id, if set.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::IcebergTable(content) => content.id.as_deref(),
            Self::IcebergView(content) => content.id.as_deref(),
            Self::DeltaLakeTable(content) => content.id.as_deref(),
            Self::Namespace(content) => content.id.as_deref(),
            Self::Udf(content) => content.id.as_deref(),
        }
    }

    /// Sets or clears the content id.
    pub fn set_id(&mut self, id: Option<String>) {
        match self {
            Self::IcebergTable(content) => content.id = id,
            Self::IcebergView(content) => content.id = id,
            Self::DeltaLakeTable(content) => content.id = id,
            Self::Namespace(content) => content.id = id,
            Self::Udf(content) => content.id = id,
        }
    }
}

/// The fields of every type at once: contents stream in without a buffer, whichever place `type` has.
#[derive(Deserialize)]
#[serde(rename = "Content", rename_all = "camelCase")]
struct RawContent {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    metadata_location: Option<String>,
    snapshot_id: Option<i64>,
    schema_id: Option<i32>,
    spec_id: Option<i32>,
    sort_order_id: Option<i32>,
    /// A number in views, text in functions.
    version_id: Option<TextOrNumber>,
    signature_id: Option<TextOrNumber>,
    sql_text: Option<String>,
    dialect: Option<String>,
    metadata: Option<IsObject>,
    #[serde(default, deserialize_with = "null_default")]
    metadata_location_history: Vec<String>,
    #[serde(default, deserialize_with = "null_default")]
    checkpoint_location_history: Vec<String>,
    last_checkpoint: Option<String>,
    #[serde(default, deserialize_with = "null_default")]
    elements: Vec<String>,
    #[serde(default, deserialize_with = "null_default")]
    properties: BTreeMap<String, String>,
}

impl TryFrom<RawContent> for Content {
    type Error = String;

    fn try_from(raw: RawContent) -> Result<Self, String> {
        fn needed<T>(kind: &str, name: &str, value: Option<T>) -> Result<T, String> {
            value.ok_or_else(|| format!("content of type {kind} needs a '{name}'"))
        }
        let RawContent { id, metadata_location, sql_text, dialect, .. } = raw;
        let kind = raw.kind.ok_or_else(|| "the content has no 'type'".to_owned())?;
        if matches!(kind.as_str(), "ICEBERG_TABLE" | "ICEBERG_VIEW") && raw.metadata == Some(IsObject(false))
        {
            return Err(format!("the 'metadata' of content of type {kind} must be an object"));
        }
        let content = match kind.as_str() {
            "ICEBERG_TABLE" => Self::IcebergTable(IcebergTable {
                id,
                metadata_location: needed(&kind, "metadataLocation", metadata_location)?,
                snapshot_id: needed(&kind, "snapshotId", raw.snapshot_id)?,
                schema_id: needed(&kind, "schemaId", raw.schema_id)?,
                spec_id: needed(&kind, "specId", raw.spec_id)?,
                sort_order_id: needed(&kind, "sortOrderId", raw.sort_order_id)?,
            }),
            "ICEBERG_VIEW" => Self::IcebergView(IcebergView {
                id,
                metadata_location: needed(&kind, "metadataLocation", metadata_location)?,
                version_id: {
                    let text = needed(&kind, "versionId", raw.version_id)?.0;
                    text.parse().map_err(|_| {
                        format!("'versionId' of type {kind} must be an integer, but was: {text}")
                    })?
                },
                schema_id: needed(&kind, "schemaId", raw.schema_id)?,
                sql_text,
                dialect,
            }),
            "DELTA_LAKE_TABLE" => Self::DeltaLakeTable(DeltaLakeTable {
                id,
                metadata_location_history: raw.metadata_location_history,
                checkpoint_location_history: raw.checkpoint_location_history,
                last_checkpoint: raw.last_checkpoint,
            }),
            "NAMESPACE" => {
                check_namespace(&raw.elements).map_err(|e| e.to_string())?;
                Self::Namespace(Namespace { id, elements: raw.elements, properties: raw.properties })
            }
            "UDF" => Self::Udf(Udf {
                id,
                metadata_location,
                version_id: raw.version_id.map(|v| v.0),
                signature_id: raw.signature_id.map(|v| v.0),
                sql_text,
                dialect,
            }),
            other => return Err(format!("No type registered for {other}")),
        };
        Ok(content)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        object::<D, RawContent>(deserializer)?.try_into().map_err(serde::de::Error::custom)
    }
}

/// The fields of a namespace; those of other types are passed over.
#[derive(Deserialize)]
#[serde(rename = "Namespace")]
struct RawNamespace {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    #[serde(default, deserialize_with = "null_default")]
    elements: Vec<String>,
    #[serde(default, deserialize_with = "null_default")]
    properties: BTreeMap<String, String>,
}

/// Reads a namespace where nothing else can stand, as v1 namespace calls send it: which type of content it says to be plays
/// no part, but it must be one.
impl<'de> Deserialize<'de> for Namespace {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let RawNamespace { kind, id, elements, properties } = object(deserializer)?;
        let kind = kind.ok_or_else(|| D::Error::custom("the content has no 'type'"))?;
        if !ContentType::STORED.iter().any(|known| known.as_str() == kind) {
            return Err(D::Error::custom(format!("No type registered for {kind}")));
        }
        check_namespace(&elements).map_err(D::Error::custom)?;
        Ok(Self { id, elements, properties })
    }
}

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::FORMAT_VERSION;
use crate::de::{null_default, string_map};
use crate::schema::Schema;
use crate::{Error, Extra};

/// View metadata (Iceberg view spec, View Metadata). Schemas and versions are kept by id; the current version and the
/// schema of every version exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", try_from = "Document")]
pub struct ViewMetadata {
    pub(super) view_uuid: String,
    pub(super) format_version: i64,
    pub(super) location: String,
    pub(super) properties: BTreeMap<String, String>,
    pub(super) schemas: Vec<Arc<Schema>>,
    pub(super) current_version_id: i32,
    pub(super) versions: Vec<Arc<ViewVersion>>,
    pub(super) version_log: Vec<ViewLogEntry>,
    #[serde(flatten)]
    pub(super) extra: Extra,
}

/// One definition of a view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct ViewVersion {
    /// Id among the versions of the view. Ids in requests are hints.
    pub version_id: i32,
    /// When it was made, milliseconds since 1970.
    pub timestamp_ms: i64,
    /// Schema of its rows; -1 in a request is the last added.
    pub schema_id: i32,
    /// Engine and the like, kept as sent.
    #[serde(default, deserialize_with = "null_default")]
    pub summary: BTreeMap<String, Value>,
    /// Its texts, one per dialect.
    pub representations: Vec<Representation>,
    /// Catalog of names without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_catalog: Option<String>,
    /// Namespace of names without one.
    #[serde(default, deserialize_with = "null_default")]
    pub default_namespace: Vec<String>,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One text of a view version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Representation {
    /// Kind; `sql` is the only one with a meaning.
    #[serde(rename = "type")]
    pub kind: String,
    /// The query, for `sql`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
    /// Its dialect, for `sql`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// When a version became current.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct ViewLogEntry {
    /// Milliseconds since 1970.
    pub timestamp_ms: i64,
    /// The version.
    pub version_id: i32,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

impl ViewVersion {
    /// Dialects of its queries in lower case.
    #[must_use]
    pub fn dialects(&self) -> BTreeSet<String> {
        self.representations.iter().filter_map(|r| r.dialect.as_ref()).map(|d| d.to_lowercase()).collect()
    }

    /// Whether both say the same; ids and times are not compared.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> bool {
        self.summary == other.summary
            && self.representations == other.representations
            && self.default_catalog == other.default_catalog
            && self.default_namespace == other.default_namespace
            && self.schema_id == other.schema_id
    }
}

impl ViewMetadata {
    /// Reads a metadata document.
    ///
    /// # Errors
    /// Bad request, saying what is wrong, for bytes that are no valid view metadata.
    pub fn parse(json: &[u8]) -> Result<Self, Error> {
        serde_json::from_slice(json).map_err(|e| Error::parse("view metadata", &e))
    }

    /// Writes the document: compact, fixed field order, equal metadata gives equal bytes.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("maps with text keys and plain values always serialise")
    }

    /// The document as a JSON value.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).expect("maps with text keys and plain values always serialise")
    }

    /// View uuid as written.
    #[must_use]
    pub fn uuid(&self) -> &str {
        &self.view_uuid
    }

    /// Base location.
    #[must_use]
    pub fn location(&self) -> &str {
        &self.location
    }

    /// Properties by key.
    #[must_use]
    pub fn properties(&self) -> &BTreeMap<String, String> {
        &self.properties
    }

    /// Properties for answers that add derived ones (see [`crate::properties`]); what is stored goes through [`super::apply()`].
    pub fn properties_mut(&mut self) -> &mut BTreeMap<String, String> {
        &mut self.properties
    }

    /// Id of the current version.
    #[must_use]
    pub fn current_version_id(&self) -> i32 {
        self.current_version_id
    }

    /// Schema of the current version.
    #[must_use]
    pub fn current_schema_id(&self) -> i32 {
        self.current_version().map_or(0, |v| v.schema_id)
    }

    /// The current version. `None` never happens to a value that was parsed or built.
    #[must_use]
    pub fn current_version(&self) -> Option<&ViewVersion> {
        self.version(self.current_version_id)
    }

    /// Version of an id.
    #[must_use]
    pub fn version(&self, id: i32) -> Option<&ViewVersion> {
        self.versions.iter().find(|v| v.version_id == id).map(AsRef::as_ref)
    }

    /// Versions by id.
    #[must_use]
    pub fn versions(&self) -> &[Arc<ViewVersion>] {
        &self.versions
    }

    /// Schemas by id.
    #[must_use]
    pub fn schemas(&self) -> &[Arc<Schema>] {
        &self.schemas
    }

    /// Schema of an id.
    #[must_use]
    pub fn schema(&self, id: i32) -> Option<&Schema> {
        self.schemas.iter().find(|s| s.schema_id == id).map(AsRef::as_ref)
    }

    /// When which version became current, oldest first.
    #[must_use]
    pub fn version_log(&self) -> &[ViewLogEntry] {
        &self.version_log
    }
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ViewMetadata"))]
#[serde(rename_all = "kebab-case")]
struct Document {
    view_uuid: String,
    format_version: i64,
    location: String,
    #[serde(default, deserialize_with = "string_map")]
    properties: BTreeMap<String, String>,
    schemas: Vec<Arc<Schema>>,
    current_version_id: i32,
    versions: Vec<Arc<ViewVersion>>,
    #[serde(default, deserialize_with = "null_default")]
    version_log: Vec<ViewLogEntry>,
    #[serde(flatten)]
    extra: Extra,
}

impl TryFrom<Document> for ViewMetadata {
    type Error = String;

    fn try_from(mut doc: Document) -> Result<Self, String> {
        if doc.format_version != FORMAT_VERSION {
            return Err(format!("cannot read unsupported view version {}", doc.format_version));
        }
        doc.schemas.sort_by_key(|s| s.schema_id);
        doc.versions.sort_by_key(|v| v.version_id);
        let schemas: BTreeSet<i32> = doc.schemas.iter().map(|s| s.schema_id).collect();
        let versions: BTreeSet<i32> = doc.versions.iter().map(|v| v.version_id).collect();
        if schemas.len() != doc.schemas.len() || versions.len() != doc.versions.len() {
            return Err("a schema or version id is used more than once".to_owned());
        }
        if !versions.contains(&doc.current_version_id) {
            return Err(format!("cannot find current version {} in view versions", doc.current_version_id));
        }
        if let Some(version) = doc.versions.iter().find(|v| !schemas.contains(&v.schema_id)) {
            return Err(format!(
                "cannot find schema {} of view version {}",
                version.schema_id, version.version_id
            ));
        }
        Ok(Self {
            view_uuid: doc.view_uuid,
            format_version: doc.format_version,
            location: doc.location,
            properties: doc.properties,
            schemas: doc.schemas,
            current_version_id: doc.current_version_id,
            versions: doc.versions,
            version_log: doc.version_log,
            extra: doc.extra,
        })
    }
}

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::apply::check_version;
use super::{FORMAT_VERSION, ViewLogEntry, ViewMetadata, ViewVersion};
use crate::de::string_map;
use crate::properties::is_stored;
use crate::schema::{self, Schema};
use crate::table::clean_location;
use crate::{Error, Extra, bounds};

/// A request to create a view (Iceberg REST, `CreateViewRequest`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct CreateView {
    /// Name of the view within its namespace; not part of the metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where the client would like it; the caller of [`create()`] decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Columns, with the ids they shall have.
    pub schema: Schema,
    /// The definition.
    pub view_version: ViewVersion,
    /// Properties.
    #[serde(default, deserialize_with = "string_map")]
    pub properties: BTreeMap<String, String>,
}

/// Builds the metadata of a new view: version 1 with schema 0. The version keeps the client's time, or gets `now_ms` if
/// that is not positive.
///
/// # Errors
/// Validation for a schema or version that is not legal; bad request beyond the bounds.
pub fn create(request: &CreateView, uuid: Uuid, location: &str, now_ms: i64) -> Result<ViewMetadata, Error> {
    bounds::properties(&request.properties)?;
    schema::structure(&request.schema)?;
    check_version(&request.view_version)?;
    let timestamp_ms = Some(request.view_version.timestamp_ms).filter(|ms| *ms > 0).unwrap_or(now_ms);
    let version = ViewVersion { version_id: 1, schema_id: 0, timestamp_ms, ..request.view_version.clone() };
    let properties = request.properties.iter().filter(|(key, _)| is_stored(key));
    Ok(ViewMetadata {
        view_uuid: uuid.to_string(),
        format_version: FORMAT_VERSION,
        location: clean_location(location)?,
        properties: properties.map(|(k, v)| (k.clone(), v.clone())).collect(),
        schemas: vec![Arc::new(Schema { schema_id: 0, ..request.schema.clone() })],
        current_version_id: 1,
        versions: vec![Arc::new(version)],
        version_log: vec![ViewLogEntry { timestamp_ms, version_id: 1, extra: Extra::new() }],
        extra: Extra::new(),
    })
}

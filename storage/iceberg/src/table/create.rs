use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::updates::clean_location;
use super::{FORMAT_VERSION_DEFAULT, FORMAT_VERSION_MAX, TableMetadata};
use crate::de::{null_default, string_map};
use crate::partition::{PartitionSpec, UNPARTITIONED_LAST_ID};
use crate::properties::{FORMAT_VERSION, is_stored};
use crate::schema::{self, Index, Schema};
use crate::sort::SortOrder;
use crate::{Error, Extra, bounds};

/// A request to create a table (Iceberg REST, `CreateTableRequest`). `null` counts as absent everywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct CreateTable {
    /// Name of the table within its namespace; not part of the metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Columns; their ids are provisional.
    pub schema: Schema,
    /// Where the client would like it; the caller of [`create()`] decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Partitioning over the provisional ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_spec: Option<PartitionSpec>,
    /// Ordering over the provisional ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_order: Option<SortOrder>,
    /// Whether only the metadata is wanted, to be committed later.
    #[serde(default, deserialize_with = "null_default")]
    pub stage_create: bool,
    /// Properties.
    #[serde(default, deserialize_with = "string_map")]
    pub properties: BTreeMap<String, String>,
}

/// Builds the metadata of a new table: columns numbered from 1 level by level, spec and order bound to them, format
/// version from the property `format-version` (default 2). Reserved and derived properties are not kept.
///
/// # Errors
/// Validation for a schema, spec or order that is not legal; bad request beyond the bounds.
pub fn create(
    request: &CreateTable,
    uuid: Uuid,
    location: &str,
    now_ms: i64,
) -> Result<TableMetadata, Error> {
    bounds::properties(&request.properties)?;
    let format_version = format_version(&request.properties)?;
    schema::validate(&request.schema, format_version)?;
    let fresh = schema::fresh(&request.schema);
    let index = Index::of(&fresh.schema)?;

    let spec = match &request.partition_spec {
        Some(spec) if !spec.fields.is_empty() => {
            let mut spec = spec.with_sources(&fresh.ids)?;
            spec.spec_id = 0;
            for field in &mut spec.fields {
                field.field_id = None;
            }
            let spec = spec.with_field_ids(&[], UNPARTITIONED_LAST_ID, format_version);
            spec.check_new(&index, format_version)?;
            spec
        }
        _ => PartitionSpec::default(),
    };
    let order = match &request.write_order {
        Some(order) if !order.fields.is_empty() => {
            let order = SortOrder { order_id: 1, ..order.with_sources(&fresh.ids)? };
            order.check(&index)?;
            order
        }
        _ => SortOrder::unsorted(),
    };
    let properties = request.properties.iter().filter(|(key, _)| is_stored(key));
    Ok(TableMetadata {
        format_version,
        table_uuid: Some(uuid.to_string()),
        location: clean_location(location)?,
        last_sequence_number: 0,
        last_updated_ms: now_ms,
        last_column_id: fresh.schema.highest_field_id(),
        current_schema_id: 0,
        default_spec_id: 0,
        last_partition_id: spec.highest_field_id(),
        default_sort_order_id: order.order_id,
        properties: properties.map(|(k, v)| (k.clone(), v.clone())).collect(),
        current_snapshot_id: None,
        next_row_id: 0,
        encryption_keys: Vec::new(),
        refs: BTreeMap::new(),
        snapshots: Vec::new(),
        statistics: Vec::new(),
        partition_statistics: Vec::new(),
        snapshot_log: Vec::new(),
        metadata_log: Vec::new(),
        extra: Extra::new(),
        schemas: vec![Arc::new(fresh.schema)],
        partition_specs: vec![Arc::new(spec)],
        sort_orders: vec![Arc::new(order)],
    })
}

fn format_version(properties: &BTreeMap<String, String>) -> Result<u8, Error> {
    let Some(text) = properties.get(FORMAT_VERSION) else { return Ok(FORMAT_VERSION_DEFAULT) };
    text.trim().parse().ok().filter(|v| (1..=FORMAT_VERSION_MAX).contains(v)).ok_or_else(|| {
        Error::Validation(format!(
            "Unsupported format version: v{text} (supported: v1 to v{FORMAT_VERSION_MAX})"
        ))
    })
}

//! Writing a metadata document, fields in the order other implementations write them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::TableMetadata;
use crate::Extra;
use crate::partition::{PartitionField, PartitionSpec};
use crate::schema::Schema;
use crate::snapshot::{MetadataLogEntry, Snapshot, SnapshotLogEntry, SnapshotRef};
use crate::sort::SortOrder;
use crate::statistics::{EncryptedKey, PartitionStatisticsFile, StatisticsFile};

/// Metadata of a table (Iceberg table spec, Table Metadata).
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "TableMetadata"))]
#[serde(rename_all = "kebab-case")]
struct Document<'a> {
    format_version: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    table_uuid: Option<&'a str>,
    location: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_sequence_number: Option<i64>,
    last_updated_ms: i64,
    last_column_id: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'a Schema>,
    current_schema_id: i32,
    schemas: &'a [Arc<Schema>],
    #[serde(skip_serializing_if = "Option::is_none")]
    partition_spec: Option<&'a [PartitionField]>,
    default_spec_id: i32,
    partition_specs: &'a [Arc<PartitionSpec>],
    last_partition_id: i32,
    default_sort_order_id: i32,
    sort_orders: &'a [Arc<SortOrder>],
    properties: &'a BTreeMap<String, String>,
    current_snapshot_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_row_id: Option<i64>,
    #[serde(skip_serializing_if = "<[EncryptedKey]>::is_empty")]
    encryption_keys: &'a [EncryptedKey],
    refs: &'a BTreeMap<String, SnapshotRef>,
    snapshots: &'a [Arc<Snapshot>],
    statistics: &'a [StatisticsFile],
    partition_statistics: &'a [PartitionStatisticsFile],
    snapshot_log: &'a [SnapshotLogEntry],
    metadata_log: &'a [MetadataLogEntry],
    #[serde(flatten)]
    extra: &'a Extra,
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for TableMetadata {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        <Document<'static> as schemars::JsonSchema>::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <Document<'static> as schemars::JsonSchema>::json_schema(generator)
    }
}

impl Serialize for TableMetadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let v1 = self.format_version == 1;
        // Old readers fail on a missing or null id in v1 and v2, newer ones expect null in v3.
        let none = if self.format_version < 3 { Some(-1) } else { None };
        Document {
            format_version: self.format_version,
            table_uuid: self.table_uuid.as_deref(),
            location: &self.location,
            last_sequence_number: (!v1).then_some(self.last_sequence_number),
            last_updated_ms: self.last_updated_ms,
            last_column_id: self.last_column_id,
            schema: self.current_schema().filter(|_| v1),
            current_schema_id: self.current_schema_id,
            schemas: &self.schemas,
            partition_spec: self.spec(self.default_spec_id).filter(|_| v1).map(|s| s.fields.as_slice()),
            default_spec_id: self.default_spec_id,
            partition_specs: &self.partition_specs,
            last_partition_id: self.last_partition_id,
            default_sort_order_id: self.default_sort_order_id,
            sort_orders: &self.sort_orders,
            properties: &self.properties,
            current_snapshot_id: self.current_snapshot_id.or(none),
            next_row_id: (self.format_version >= 3).then_some(self.next_row_id),
            encryption_keys: &self.encryption_keys,
            refs: &self.refs,
            snapshots: &self.snapshots,
            statistics: &self.statistics,
            partition_statistics: &self.partition_statistics,
            snapshot_log: &self.snapshot_log,
            metadata_log: &self.metadata_log,
            extra: &self.extra,
        }
        .serialize(serializer)
    }
}

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::partition::PartitionSpec;
use crate::schema::Schema;
use crate::snapshot::{MetadataLogEntry, Snapshot, SnapshotLogEntry, SnapshotRef};
use crate::sort::SortOrder;
use crate::statistics::{EncryptedKey, PartitionStatisticsFile, StatisticsFile};
use crate::{Error, Extra};

/// Table metadata of format version 1, 2 or 3 (Iceberg table spec, Table Metadata).
///
/// Always consistent: current schema, default spec and default order exist, every reference names a snapshot that is
/// present, `main` and the current snapshot agree. Schemas, specs and orders are kept by id, snapshots in the order
/// they were added. Cloning is cheap: the long lists share their items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableMetadata {
    pub(crate) format_version: u8,
    pub(crate) table_uuid: Option<String>,
    pub(crate) location: String,
    pub(crate) last_sequence_number: i64,
    pub(crate) last_updated_ms: i64,
    pub(crate) last_column_id: i32,
    pub(crate) current_schema_id: i32,
    pub(crate) schemas: Vec<Arc<Schema>>,
    pub(crate) default_spec_id: i32,
    pub(crate) partition_specs: Vec<Arc<PartitionSpec>>,
    pub(crate) last_partition_id: i32,
    pub(crate) default_sort_order_id: i32,
    pub(crate) sort_orders: Vec<Arc<SortOrder>>,
    pub(crate) properties: BTreeMap<String, String>,
    pub(crate) current_snapshot_id: Option<i64>,
    pub(crate) next_row_id: i64,
    pub(crate) encryption_keys: Vec<EncryptedKey>,
    pub(crate) refs: BTreeMap<String, SnapshotRef>,
    pub(crate) snapshots: Vec<Arc<Snapshot>>,
    pub(crate) statistics: Vec<StatisticsFile>,
    pub(crate) partition_statistics: Vec<PartitionStatisticsFile>,
    pub(crate) snapshot_log: Vec<SnapshotLogEntry>,
    pub(crate) metadata_log: Vec<MetadataLogEntry>,
    pub(crate) extra: Extra,
}

impl TableMetadata {
    /// Reads a metadata document.
    ///
    /// # Errors
    /// Bad request, saying what is wrong, for bytes that are no valid metadata of version 1 to 3.
    pub fn parse(json: &[u8]) -> Result<Self, Error> {
        serde_json::from_slice(json).map_err(|e| Error::parse("table metadata", &e))
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

    /// Format version, 1 to 3.
    #[must_use]
    pub fn format_version(&self) -> u8 {
        self.format_version
    }

    /// Table uuid as written; may be absent in format v1.
    #[must_use]
    pub fn uuid(&self) -> Option<&str> {
        self.table_uuid.as_deref()
    }

    /// Base location, without trailing slash in what this crate writes.
    #[must_use]
    pub fn location(&self) -> &str {
        &self.location
    }

    /// Highest sequence number given out, 0 in format v1.
    #[must_use]
    pub fn last_sequence_number(&self) -> i64 {
        self.last_sequence_number
    }

    /// When this metadata was made, milliseconds since 1970.
    #[must_use]
    pub fn last_updated_ms(&self) -> i64 {
        self.last_updated_ms
    }

    /// Highest column id given out.
    #[must_use]
    pub fn last_column_id(&self) -> i32 {
        self.last_column_id
    }

    /// Id of the current schema.
    #[must_use]
    pub fn current_schema_id(&self) -> i32 {
        self.current_schema_id
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

    /// The current schema. `None` never happens to a value that was parsed or built.
    #[must_use]
    pub fn current_schema(&self) -> Option<&Schema> {
        self.schema(self.current_schema_id)
    }

    /// Id of the default partition spec.
    #[must_use]
    pub fn default_spec_id(&self) -> i32 {
        self.default_spec_id
    }

    /// Partition specs by id.
    #[must_use]
    pub fn partition_specs(&self) -> &[Arc<PartitionSpec>] {
        &self.partition_specs
    }

    /// Partition spec of an id.
    #[must_use]
    pub fn spec(&self, id: i32) -> Option<&PartitionSpec> {
        self.partition_specs.iter().find(|s| s.spec_id == id).map(AsRef::as_ref)
    }

    /// Highest partition field id given out, 999 if none ever was.
    #[must_use]
    pub fn last_partition_id(&self) -> i32 {
        self.last_partition_id
    }

    /// Id of the default sort order.
    #[must_use]
    pub fn default_sort_order_id(&self) -> i32 {
        self.default_sort_order_id
    }

    /// Sort orders by id.
    #[must_use]
    pub fn sort_orders(&self) -> &[Arc<SortOrder>] {
        &self.sort_orders
    }

    /// Sort order of an id.
    #[must_use]
    pub fn sort_order(&self, id: i32) -> Option<&SortOrder> {
        self.sort_orders.iter().find(|s| s.order_id == id).map(AsRef::as_ref)
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

    /// Id of the current snapshot.
    #[must_use]
    pub fn current_snapshot_id(&self) -> Option<i64> {
        self.current_snapshot_id
    }

    /// The current snapshot.
    #[must_use]
    pub fn current_snapshot(&self) -> Option<&Snapshot> {
        self.snapshot(self.current_snapshot_id?)
    }

    /// Snapshots in the order they were added.
    #[must_use]
    pub fn snapshots(&self) -> &[Arc<Snapshot>] {
        &self.snapshots
    }

    /// Snapshot of an id. Looks through the list from the newest.
    #[must_use]
    pub fn snapshot(&self, id: i64) -> Option<&Snapshot> {
        self.snapshots.iter().rev().find(|s| s.snapshot_id == id).map(AsRef::as_ref)
    }

    /// References by name.
    #[must_use]
    pub fn refs(&self) -> &BTreeMap<String, SnapshotRef> {
        &self.refs
    }

    /// Next row id to give out (format v3), 0 before.
    #[must_use]
    pub fn next_row_id(&self) -> i64 {
        self.next_row_id
    }

    /// Encryption keys in the order they were added.
    #[must_use]
    pub fn encryption_keys(&self) -> &[EncryptedKey] {
        &self.encryption_keys
    }

    /// Statistics files, at most one per snapshot.
    #[must_use]
    pub fn statistics(&self) -> &[StatisticsFile] {
        &self.statistics
    }

    /// Partition statistics files, at most one per snapshot.
    #[must_use]
    pub fn partition_statistics(&self) -> &[PartitionStatisticsFile] {
        &self.partition_statistics
    }

    /// When which snapshot became current, oldest first.
    #[must_use]
    pub fn snapshot_log(&self) -> &[SnapshotLogEntry] {
        &self.snapshot_log
    }

    /// Earlier metadata files, oldest first.
    #[must_use]
    pub fn metadata_log(&self) -> &[MetadataLogEntry] {
        &self.metadata_log
    }
}

/// What the catalog keeps of a table beside its metadata location (Nessie's `IcebergTable` content).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Current snapshot, -1 without one.
    pub snapshot_id: i64,
    /// Current schema.
    pub schema_id: i32,
    /// Default partition spec.
    pub spec_id: i32,
    /// Default sort order.
    pub sort_order_id: i32,
}

/// Ids that the catalog content of a table carries.
#[must_use]
pub fn summary(metadata: &TableMetadata) -> Summary {
    Summary {
        snapshot_id: metadata.current_snapshot_id.unwrap_or(-1),
        schema_id: metadata.current_schema_id,
        spec_id: metadata.default_spec_id,
        sort_order_id: metadata.default_sort_order_id,
    }
}

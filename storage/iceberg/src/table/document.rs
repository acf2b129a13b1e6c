//! Reading a metadata document: what each format version may leave out, and what must fit together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Deserializer};

use super::{FORMAT_VERSION_MAX, TableMetadata};
use crate::Extra;
use crate::de::{null_default, snapshot_id_or_none, string_map};
use crate::partition::{PartitionField, PartitionSpec, UNPARTITIONED_LAST_ID};
use crate::schema::Schema;
use crate::snapshot::{MAIN_BRANCH, MetadataLogEntry, Snapshot, SnapshotLogEntry, SnapshotRef};
use crate::sort::SortOrder;
use crate::statistics::{EncryptedKey, PartitionStatisticsFile, StatisticsFile};

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Document {
    format_version: i64,
    #[serde(default)]
    table_uuid: Option<String>,
    location: String,
    #[serde(default)]
    last_sequence_number: Option<i64>,
    last_updated_ms: i64,
    last_column_id: i32,
    #[serde(default)]
    schema: Option<Arc<Schema>>,
    #[serde(default)]
    schemas: Option<Vec<Arc<Schema>>>,
    #[serde(default)]
    current_schema_id: Option<i32>,
    #[serde(default)]
    partition_spec: Option<Vec<PartitionField>>,
    #[serde(default)]
    partition_specs: Option<Vec<Arc<PartitionSpec>>>,
    #[serde(default)]
    default_spec_id: Option<i32>,
    #[serde(default)]
    last_partition_id: Option<i32>,
    #[serde(default)]
    sort_orders: Option<Vec<Arc<SortOrder>>>,
    #[serde(default)]
    default_sort_order_id: Option<i32>,
    #[serde(default, deserialize_with = "string_map")]
    properties: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "snapshot_id_or_none")]
    current_snapshot_id: Option<i64>,
    #[serde(default)]
    next_row_id: Option<i64>,
    #[serde(default, deserialize_with = "null_default")]
    encryption_keys: Vec<EncryptedKey>,
    #[serde(default, deserialize_with = "null_default")]
    refs: BTreeMap<String, SnapshotRef>,
    #[serde(default, deserialize_with = "null_default")]
    snapshots: Vec<Arc<Snapshot>>,
    #[serde(default, deserialize_with = "null_default")]
    statistics: Vec<StatisticsFile>,
    #[serde(default, deserialize_with = "null_default")]
    partition_statistics: Vec<PartitionStatisticsFile>,
    #[serde(default, deserialize_with = "null_default")]
    snapshot_log: Vec<SnapshotLogEntry>,
    #[serde(default, deserialize_with = "null_default")]
    metadata_log: Vec<MetadataLogEntry>,
    #[serde(flatten)]
    extra: Extra,
}

impl<'de> Deserialize<'de> for TableMetadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Document::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl TryFrom<Document> for TableMetadata {
    type Error = String;

    fn try_from(mut doc: Document) -> Result<Self, String> {
        let format_version = u8::try_from(doc.format_version)
            .ok()
            .filter(|v| (1..=FORMAT_VERSION_MAX).contains(v))
            .ok_or_else(|| format!("cannot read unsupported version {}", doc.format_version))?;
        if format_version > 1 {
            require(doc.table_uuid.is_some(), "table-uuid", format_version)?;
            require(doc.last_sequence_number.is_some(), "last-sequence-number", format_version)?;
        }
        if format_version > 2 {
            require(doc.next_row_id.is_some(), "next-row-id", format_version)?;
        }
        let (schemas, current_schema_id) = schemas(&mut doc, format_version)?;
        let (partition_specs, default_spec_id) = specs(&mut doc, format_version)?;
        let (sort_orders, default_sort_order_id) = orders(&mut doc)?;
        let highest = partition_specs.iter().map(|s| s.highest_field_id()).max();
        let last_partition_id = doc.last_partition_id.or(highest).unwrap_or(UNPARTITIONED_LAST_ID);
        let (refs, current_snapshot_id) = refs(doc.refs, doc.current_snapshot_id, &doc.snapshots)?;
        let metadata = Self {
            format_version,
            table_uuid: doc.table_uuid,
            location: doc.location,
            last_sequence_number: doc.last_sequence_number.unwrap_or(0),
            last_updated_ms: doc.last_updated_ms,
            last_column_id: doc.last_column_id,
            current_schema_id,
            schemas,
            default_spec_id,
            partition_specs,
            last_partition_id,
            default_sort_order_id,
            sort_orders,
            properties: doc.properties,
            current_snapshot_id,
            next_row_id: doc.next_row_id.unwrap_or(0),
            encryption_keys: doc.encryption_keys,
            refs,
            snapshots: doc.snapshots,
            statistics: doc.statistics,
            partition_statistics: doc.partition_statistics,
            snapshot_log: doc.snapshot_log,
            metadata_log: doc.metadata_log,
            extra: doc.extra,
        };
        Ok(metadata)
    }
}

fn require(present: bool, field: &str, format_version: u8) -> Result<(), String> {
    if present { Ok(()) } else { Err(format!("missing field {field} in format v{format_version}")) }
}

/// Schemas by id and the current one. Format v1 may have a single `schema` only.
fn schemas(doc: &mut Document, format_version: u8) -> Result<(Vec<Arc<Schema>>, i32), String> {
    let (mut schemas, current) = match (doc.schemas.take().filter(|list| !list.is_empty()), doc.schema.take())
    {
        (Some(list), single) => {
            let current =
                doc.current_schema_id.or(single.map(|s| s.schema_id).filter(|_| format_version == 1));
            (list, current.ok_or("missing field current-schema-id")?)
        }
        (None, Some(single)) if format_version == 1 => {
            let id = single.schema_id;
            (vec![single], id)
        }
        _ => return Err("missing field schemas".to_owned()),
    };
    schemas.sort_by_key(|s| s.schema_id);
    unique(schemas.iter().map(|s| s.schema_id), "schema")?;
    if !schemas.iter().any(|s| s.schema_id == current) {
        return Err(format!("cannot find current schema with id {current}"));
    }
    Ok((schemas, current))
}

/// Partition specs by id and the default one. Format v1 may have the fields of a single spec only, without ids.
fn specs(doc: &mut Document, format_version: u8) -> Result<(Vec<Arc<PartitionSpec>>, i32), String> {
    let (mut specs, default) =
        match (doc.partition_specs.take().filter(|list| !list.is_empty()), doc.partition_spec.take()) {
            (Some(list), _) => (list, doc.default_spec_id.ok_or("missing field default-spec-id")?),
            (None, Some(fields)) if format_version == 1 => {
                (vec![Arc::new(PartitionSpec { fields, ..PartitionSpec::default() })], 0)
            }
            _ => return Err("missing field partition-specs".to_owned()),
        };
    for spec in specs.iter_mut().filter(|s| s.fields.iter().any(|f| f.field_id.is_none())) {
        *spec = Arc::new(spec.with_field_ids(&[], UNPARTITIONED_LAST_ID, format_version));
    }
    specs.sort_by_key(|s| s.spec_id);
    unique(specs.iter().map(|s| s.spec_id), "partition spec")?;
    if !specs.iter().any(|s| s.spec_id == default) {
        return Err(format!("cannot find default partition spec with id {default}"));
    }
    Ok((specs, default))
}

/// Sort orders by id and the default one; unsorted if there are none.
fn orders(doc: &mut Document) -> Result<(Vec<Arc<SortOrder>>, i32), String> {
    let mut orders = doc.sort_orders.take().unwrap_or_default();
    if orders.is_empty() {
        orders.push(Arc::new(SortOrder::unsorted()));
    }
    let default = doc.default_sort_order_id.unwrap_or(crate::sort::UNSORTED_ID);
    orders.sort_by_key(|s| s.order_id);
    unique(orders.iter().map(|s| s.order_id), "sort order")?;
    if !orders.iter().any(|s| s.order_id == default) {
        return Err(format!("cannot find default sort order with id {default}"));
    }
    Ok((orders, default))
}

/// References and the current snapshot, each completed from the other: older writers know no references.
fn refs(
    mut refs: BTreeMap<String, SnapshotRef>,
    current: Option<i64>,
    snapshots: &[Arc<Snapshot>],
) -> Result<(BTreeMap<String, SnapshotRef>, Option<i64>), String> {
    let known: BTreeSet<i64> = snapshots.iter().map(|s| s.snapshot_id).collect();
    if known.len() != snapshots.len() {
        return Err("a snapshot id is used more than once".to_owned());
    }
    let main = refs.get(MAIN_BRANCH).map(|r| r.snapshot_id);
    let current = match (current, main) {
        (Some(id), Some(main)) if id != main => {
            return Err(format!("current snapshot ID does not match main branch ({id} != {main})"));
        }
        (Some(id), None) => {
            refs.insert(MAIN_BRANCH.to_owned(), SnapshotRef::branch(id));
            Some(id)
        }
        (current, main) => current.or(main),
    };
    if let Some((name, dangling)) = refs.iter().find(|(_, r)| !known.contains(&r.snapshot_id)) {
        return Err(format!("snapshot for reference {name} does not exist: {}", dangling.snapshot_id));
    }
    Ok((refs, current))
}

fn unique(ids: impl Iterator<Item = i32>, what: &str) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for id in ids {
        if !seen.insert(id) {
            return Err(format!("{what} id {id} is used more than once"));
        }
    }
    Ok(())
}

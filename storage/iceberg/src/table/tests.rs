//! Fixtures of the suites below: requests as JSON, as they come over the wire.

use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::Error;

mod creation;
mod documents;
mod examples;
mod requirements;
mod snapshots;
mod staged;
mod structure;
mod updates;

const NOW_MS: i64 = 1_766_000_000_000;
const UUID: Uuid = Uuid::from_u128(0x7b1e_0000_0000_4000_8000_0000_0000_0001);
const LOCATION: &str = "s3://lake/sales/t";
const BASE_FILE: &str = "s3://lake/sales/t/metadata/00000-a.metadata.json";

fn columns() -> Value {
    json!({"type": "struct", "schema-id": 0, "fields": [
        {"id": 1, "name": "id", "required": true, "type": "long"},
        {"id": 2, "name": "at", "required": false, "type": "timestamptz"},
        {"id": 3, "name": "city", "required": false, "type": "string"}]})
}

fn create_with(request: Value) -> Result<TableMetadata, Error> {
    create(&serde_json::from_value(request).unwrap(), UUID, LOCATION, NOW_MS)
}

/// A table of that version, partitioned by day of `at`, sorted by `id`, without snapshots.
fn table(format_version: u8) -> TableMetadata {
    create_with(json!({"name": "t", "schema": columns(),
        "partition-spec": {"fields": [{"source-id": 2, "name": "at_day", "transform": "day"}]},
        "write-order": {"fields": [{"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}]},
        "properties": {"format-version": format_version.to_string(), "owner": "ann"}}))
    .unwrap()
}

fn updates(updates: Value) -> Vec<TableUpdate> {
    serde_json::from_value(updates).unwrap()
}

fn commit(base: &TableMetadata, changes: Value) -> Result<Applied, Error> {
    apply(Some(base), Some(BASE_FILE), &updates(changes), NOW_MS + 1_000)
}

/// Applies updates that must change something.
fn changed(base: &TableMetadata, changes: Value) -> TableMetadata {
    let applied = commit(base, changes).unwrap();
    assert!(applied.changed, "nothing changed");
    reread(&applied.metadata);
    applied.metadata
}

/// Applies updates that must change nothing.
fn unchanged(base: &TableMetadata, changes: Value) {
    let applied = commit(base, changes).unwrap();
    assert!(!applied.changed);
    assert_eq!(applied.metadata, *base);
}

fn refused(base: &TableMetadata, changes: Value, expected: Error) {
    assert_eq!(commit(base, changes).unwrap_err(), expected);
}

fn invalid(text: &str) -> Error {
    Error::Validation(text.to_owned())
}

/// What is written is read back as the same value and written as the same bytes.
fn reread(metadata: &TableMetadata) {
    let json = metadata.to_json();
    let again = TableMetadata::parse(&json).unwrap();
    assert_eq!(again, *metadata);
    assert_eq!(again.to_json(), json);
}

fn snapshot(id: i64, parent: Option<i64>, sequence: i64) -> Value {
    let mut snapshot = json!({"snapshot-id": id, "sequence-number": sequence, "timestamp-ms": NOW_MS + id % 1_000,
        "manifest-list": format!("s3://lake/snap-{id}.avro"), "schema-id": 0, "summary": {"operation": "append"}});
    if let Some(parent) = parent {
        snapshot["parent-snapshot-id"] = json!(parent);
    }
    snapshot
}

fn add(id: i64, parent: Option<i64>, sequence: i64) -> Value {
    json!({"action": "add-snapshot", "snapshot": snapshot(id, parent, sequence)})
}

fn set_ref(name: &str, kind: &str, id: i64) -> Value {
    json!({"action": "set-snapshot-ref", "ref-name": name, "type": kind, "snapshot-id": id})
}

/// A v2 table with snapshots 1, 2, 3 appended to main one commit each.
fn appended() -> TableMetadata {
    (1..=3).fold(table(2), |base, id| {
        changed(&base, json!([add(id, (id > 1).then_some(id - 1), id), set_ref("main", "branch", id)]))
    })
}

fn log_ids(metadata: &TableMetadata) -> Vec<i64> {
    metadata.snapshot_log().iter().map(|e| e.snapshot_id).collect()
}

fn snapshot_ids(metadata: &TableMetadata) -> Vec<i64> {
    metadata.snapshots().iter().map(|s| s.snapshot_id).collect()
}

//! Canned bodies of the size that a real server gives.

use std::fmt::Write;

/// Commit hash in every canned answer.
pub const HASH: &str = "00000000000000000000000000000000000000000000000000000000000000aa";
/// Content id in every canned answer.
pub const CONTENT_ID: &str = "00000000-0000-4000-8000-000000000000";
/// Iceberg table id in every canned answer.
pub const TABLE_UUID: &str = "00000000-0000-4000-8000-0000000000cc";

/// Keys changed in a diff or merge, canned or real.
pub const CHANGES: usize = 100;
/// Columns of the canned Iceberg table.
const COLUMNS: usize = 10;

fn table() -> String {
    format!(
        r#"{{"type":"ICEBERG_TABLE","id":"{CONTENT_ID}","metadataLocation":"s3://bench-lake/warehouse/ns00000/t00000000_5d0cafe1/metadata/00017-3f6b17f0-4a35-9a59.metadata.json","snapshotId":1764450000000000000,"schemaId":0,"specId":0,"sortOrderId":0}}"#
    )
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    let items: Vec<String> = (0..count).map(item).collect();
    items.join(",")
}

/// Any reference: created, deleted, read.
pub fn reference() -> String {
    format!(r#"{{"reference":{{"type":"BRANCH","name":"bench-0","hash":"{HASH}"}}}}"#)
}

/// One content by key.
pub fn content() -> String {
    let table = table();
    format!(r#"{{"content":{table},"effectiveReference":{{"type":"BRANCH","name":"main","hash":"{HASH}"}}}}"#)
}

/// Outcome of a commit, with `hash` as the new head.
pub fn commit(hash: &str) -> String {
    format!(r#"{{"targetBranch":{{"type":"BRANCH","name":"bench-0","hash":"{hash}"}},"addedContents":null}}"#)
}

/// Outcome of a merge of 100 keys, with `hash` as the new head.
pub fn merge(hash: &str) -> String {
    let details = list(CHANGES, |i| {
        format!(r#"{{"key":{{"elements":["ns{i:05}","t{i:08}"]}},"mergeBehavior":"NORMAL"}}"#)
    });
    format!(
        r#"{{"resultantTargetHash":"{hash}","commonAncestor":"{HASH}","targetBranch":"bench-0","effectiveTargetHash":"{HASH}","expectedHash":"{HASH}","details":[{details}],"wasApplied":true,"wasSuccessful":true}}"#
    )
}

/// A diff of 100 keys.
pub fn diff() -> String {
    let table = table();
    let diffs = list(CHANGES, |i| {
        format!(r#"{{"key":{{"elements":["ns{i:05}","t{i:08}"]}},"from":{table},"to":{table}}}"#)
    });
    let side = format!(r#"{{"type":"BRANCH","name":"main","hash":"{HASH}"}}"#);
    format!(
        r#"{{"hasMore":false,"token":null,"diffs":[{diffs}],"effectiveFromReference":{side},"effectiveToReference":{side}}}"#
    )
}

/// An Iceberg table with ten columns and no snapshot, as a load or a commit answers it.
pub fn iceberg_table() -> String {
    let fields =
        list(COLUMNS, |i| format!(r#"{{"id":{i},"name":"column_{i}","required":false,"type":"string"}}"#));
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        r#"{{"metadata-location":"file:///warehouse/bench/ice00/metadata/00001-{TABLE_UUID}.metadata.json","metadata":{{"format-version":2,"table-uuid":"{TABLE_UUID}","location":"file:///warehouse/bench/ice00","last-sequence-number":0,"last-updated-ms":1764450000000,"last-column-id":{COLUMNS},"current-schema-id":0,"schemas":[{{"type":"struct","schema-id":0,"fields":[{fields}]}}],"default-spec-id":0,"partition-specs":[{{"spec-id":0,"fields":[]}}],"last-partition-id":999,"default-sort-order-id":0,"sort-orders":[{{"order-id":0,"fields":[]}}],"properties":{{"bench.commit":"1","write.format.default":"parquet"}},"current-snapshot-id":-1,"refs":{{}},"snapshots":[],"statistics":[],"partition-statistics":[],"snapshot-log":[],"metadata-log":[]}},"config":{{}}}}"#
    );
    text
}

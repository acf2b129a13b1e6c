//! What both kinds of tests share: samples, and reading and writing.

mod answers;
mod requests;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;
use crate::syntax::Instant;

const H1: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const H2: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

/// The value is written exactly as `wire`, and `wire` is read as the value.
fn both_ways<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T, wire: Value) {
    assert_eq!(serde_json::to_value(value).unwrap(), wire);
    assert_eq!(&serde_json::from_value::<T>(wire).unwrap(), value);
}

fn read<T: DeserializeOwned>(wire: Value) -> Result<T, String> {
    serde_json::from_str(&wire.to_string()).map_err(|e| e.to_string())
}

fn key(elements: &[&str]) -> ContentKey {
    ContentKey::new(elements.iter().map(|e| (*e).to_owned()).collect()).unwrap()
}

fn table(id: Option<&str>) -> Content {
    Content::IcebergTable(IcebergTable {
        id: id.map(Into::into),
        metadata_location: "s3://b/m1.json".into(),
        snapshot_id: -1,
        schema_id: 0,
        spec_id: 0,
        sort_order_id: 0,
    })
}

fn table_json(id: Value) -> Value {
    json!({"type": "ICEBERG_TABLE", "id": id, "metadataLocation": "s3://b/m1.json", "snapshotId": -1,
        "schemaId": 0, "specId": 0, "sortOrderId": 0})
}

fn meta() -> CommitMetaV2 {
    let at = Instant::parse("2026-05-01T10:20:30.123456Z").ok();
    CommitMetaV2 {
        hash: Some(H2.into()),
        committer: Some(String::new()),
        authors: vec!["ann".into(), "bob".into()],
        all_signed_off_by: vec![],
        message: "add orders".into(),
        commit_time: at,
        author_time: at,
        all_properties: [("app-id".to_owned(), vec!["etl-7".to_owned(), "x".to_owned()])].into(),
        parent_commit_hashes: vec![H1.into()],
    }
}

fn meta_v2_json() -> Value {
    json!({"hash": H2, "committer": "", "authors": ["ann", "bob"], "allSignedOffBy": [], "message": "add orders",
        "commitTime": "2026-05-01T10:20:30.123456Z", "authorTime": "2026-05-01T10:20:30.123456Z",
        "allProperties": {"app-id": ["etl-7", "x"]}, "parentCommitHashes": [H1]})
}

fn meta_v1_json() -> Value {
    json!({"hash": H2, "committer": "", "author": "ann", "signedOffBy": null, "message": "add orders",
        "commitTime": "2026-05-01T10:20:30.123456Z", "authorTime": "2026-05-01T10:20:30.123456Z",
        "properties": {"app-id": "etl-7"}})
}

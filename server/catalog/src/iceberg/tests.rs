//! Tests of the parts that need no server.

use std::{sync::Arc, time::Duration};

use lochan_storage_iceberg::table::{TableMetadata, TableUpdate, apply};
use lochan_storage_model::{ContentKey, RefName};
use serde_json::json;

use super::{
    documents::{Body, Document, split},
    lines::Lines,
};

fn key(name: &str) -> ContentKey {
    ContentKey::new(["a", name]).unwrap()
}

fn branch() -> RefName {
    RefName::new("main").unwrap()
}

#[tokio::test]
async fn turns_are_taken_one_after_another() {
    let lines = Lines::default();
    let first = lines.wait(&branch(), &[key("t"), key("u"), key("t")]).await.unwrap();
    let free = lines.wait(&branch(), &[key("v")]).await.unwrap();
    assert_eq!(lines.count(), 3);
    let waiting = tokio::spawn({
        let lines = lines.clone();
        async move { lines.wait(&branch(), &[key("u")]).await.map(drop) }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    drop(first);
    waiting.await.unwrap().unwrap();
    drop(free);
    assert_eq!(lines.count(), 0, "no line stays behind");
}

#[tokio::test(start_paused = true)]
async fn a_wait_cut_short_leaves_nothing_behind() {
    let lines = Lines::default();
    let held = lines.wait(&branch(), &[key("t")]).await.unwrap();
    let (main, keys) = (branch(), [key("t")]);
    let other = lines.wait(&main, &keys);
    assert!(tokio::time::timeout(Duration::from_millis(5), other).await.is_err());
    let refused = lines.wait(&branch(), &[key("a"), key("t")]).await;
    assert!(matches!(refused, Err(crate::Error::Busy { .. })));
    assert_eq!(lines.count(), 1);
    drop(held);
    assert_eq!(lines.count(), 0);
}

/// Writers that want the same tables in another order never wait for each other for ever.
#[tokio::test]
async fn keys_are_locked_in_order() {
    let lines = Lines::default();
    let writers = (0..16).map(|n| {
        let lines = lines.clone();
        tokio::spawn(async move {
            let keys = if n % 2 == 0 { [key("a"), key("b")] } else { [key("b"), key("a")] };
            for _ in 0..20 {
                let turns = lines.wait(&branch(), &keys).await.unwrap();
                tokio::task::yield_now().await;
                drop(turns);
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(lines.count(), 0);
}

fn with_snapshots(table: &TableMetadata, ids: std::ops::Range<i64>) -> TableMetadata {
    let last = ids.end - 1;
    let mut updates: Vec<TableUpdate> = ids
        .map(|id| {
            let snapshot = json!({"action": "add-snapshot", "snapshot": {
                "snapshot-id": id, "parent-snapshot-id": id - 1, "sequence-number": id,
                "timestamp-ms": 1_700_000_000_000_i64 + id, "schema-id": 0,
                "manifest-list": format!("s3://lake/t/metadata/snap-{id}-1-5b2e0f0c.avro"),
                "summary": {"operation": "append", "added-data-files": "1", "added-records": "5", "total-records": id.to_string()}}});
            TableUpdate::from_value(snapshot).unwrap()
        })
        .collect();
    let set =
        json!({"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": last});
    updates.push(TableUpdate::from_value(set).unwrap());
    apply(Some(table), Some("s3://lake/t/metadata/00001-x.metadata.json"), &updates, 1_700_000_100_000)
        .unwrap()
        .metadata
}

/// One more snapshot on a table that has 10,000 adds little to the store, whatever the document weighs.
#[test]
fn one_more_snapshot_adds_little() {
    let created = json!({"name": "t", "schema": {"type": "struct", "fields": [
        {"id": 1, "name": "id", "type": "long", "required": false}]}});
    let created = serde_json::from_value(created).unwrap();
    let table = lochan_storage_iceberg::table::create(&created, uuid::Uuid::nil(), "s3://lake/t", 0).unwrap();
    let mut table = with_snapshots(&table, 1..5_001);
    table = with_snapshots(&table, 5_001..10_001);
    let json = table.to_json();
    let first = split(&json, None).unwrap();
    let document = Document {
        body: Body::Table(Box::new(table.clone())),
        json_bytes: json.len() as u64,
        parts: first.parts,
    };
    let next = with_snapshots(&table, 10_001..10_002);
    let second = split(&next.to_json(), Some(&document)).unwrap();
    let added: usize = second.objects.iter().map(|object| object.bytes.len()).sum();
    assert!(json.len() > 2_000_000 && added <= 8 * 1024, "{added} bytes of {}", json.len());
    assert!(Arc::new(second.parts).len() > 1_000);
}

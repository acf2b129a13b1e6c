use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::table::{TableMetadata, TableUpdate, apply};

/// Keeps parts by a hash good enough for tests: one sum, spread over 32 bytes.
#[derive(Default)]
struct Parts {
    kept: HashMap<PartId, Vec<u8>>,
    new_bytes: usize,
    new_parts: usize,
}

fn id_of(bytes: &[u8]) -> PartId {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(5);
    }
    let mut id = [0; 32];
    for (place, chunk) in id.chunks_exact_mut(8).enumerate() {
        let mut word = hash ^ (place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        word = (word ^ (word >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        chunk.copy_from_slice(&(word ^ (word >> 31)).to_be_bytes());
    }
    id
}

impl Parts {
    fn put(&mut self, bytes: Vec<u8>) -> PartId {
        let id = id_of(&bytes);
        if !self.kept.contains_key(&id) {
            self.new_bytes += bytes.len() + id.len();
            self.new_parts += 1;
            self.kept.insert(id, bytes);
        }
        id
    }

    fn split(&mut self, metadata: &TableMetadata) -> PartId {
        (self.new_bytes, self.new_parts) = (0, 0);
        split(metadata, &mut |bytes| self.put(bytes)).unwrap()
    }

    /// What a caller does that can only fetch whole levels.
    fn join_by_levels(&self, root: PartId) -> Vec<u8> {
        let (mut got, mut level) = (BTreeMap::new(), vec![root]);
        while !level.is_empty() {
            let mut below = Vec::new();
            for id in level {
                let bytes = self.kept[&id].clone();
                below.extend(children(&bytes).unwrap());
                got.insert(id, bytes);
            }
            level = below;
        }
        join(root, |id| got.get(id)).unwrap()
    }
}

fn snapshot(n: i64) -> Value {
    let id = 4_000_000_000_000_000_000 + n.wrapping_mul(7_919_123_456_789) % 1_000_000_000_000_000_000;
    let mut snapshot = json!({
        "sequence-number": n, "snapshot-id": id, "timestamp-ms": 1_766_000_000_000_i64 + n * 61_000,
        "summary": {"operation": "append", "spark.app.id": "spark-application-1733333333333", "added-data-files": "4",
            "added-records": (n * 37 % 100_000).to_string(), "added-files-size": (n * 7_919 % 100_000_000).to_string(),
            "changed-partition-count": "2", "total-records": (n * 50_000).to_string(), "total-files-size": (n * 40_000_000).to_string(),
            "total-data-files": (n * 4).to_string(), "total-delete-files": "0", "total-position-deletes": "0",
            "total-equality-deletes": "0", "engine-version": "3.5.1", "engine-name": "spark", "iceberg-version": "Apache Iceberg 1.10.0 (commit 1)"},
        "manifest-list": format!("s3://lake/sales/eu/web/clicks_7b1e7b1e-0000-4000-8000-000000000000/metadata/snap-{id}-1-{n:08x}-5a5a-4000-8000-000000000000.avro"),
        "schema-id": 0});
    if n > 1 {
        snapshot["parent-snapshot-id"] = json!(snapshot_id(n - 1));
    }
    snapshot
}

fn snapshot_id(n: i64) -> i64 {
    4_000_000_000_000_000_000 + n.wrapping_mul(7_919_123_456_789) % 1_000_000_000_000_000_000
}

fn metadata_file(n: i64) -> String {
    format!(
        "s3://lake/sales/eu/web/clicks_7b1e7b1e-0000-4000-8000-000000000000/metadata/{n:05}-{n:08x}-1234-4000-8000-0123456789ab.metadata.json"
    )
}

/// A table with that many snapshots, a full log, 100 earlier files and a schema of 40 columns.
fn table(snapshots: i64) -> TableMetadata {
    let time = |n: i64| 1_766_000_000_000_i64 + n * 61_000;
    let columns: Vec<Value> = (1..=40)
        .map(|id| json!({"id": id, "name": format!("column_{id}"), "required": false, "type": "string", "doc": "A column with a comment"}))
        .collect();
    let document = json!({
        "format-version": 2, "table-uuid": "7b1e7b1e-0000-4000-8000-000000000000",
        "location": "s3://lake/sales/eu/web/clicks_7b1e7b1e-0000-4000-8000-000000000000",
        "last-sequence-number": snapshots, "last-updated-ms": time(snapshots), "last-column-id": 40,
        "current-schema-id": 0, "schemas": [{"type": "struct", "schema-id": 0, "fields": columns}],
        "default-spec-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}], "last-partition-id": 999,
        "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}],
        "properties": {"owner": "ann", "write.parquet.compression-codec": "zstd", "gc.enabled": "false", "created-at": "2025-12-17T19:33:20Z"},
        "current-snapshot-id": snapshot_id(snapshots), "refs": {"main": {"snapshot-id": snapshot_id(snapshots), "type": "branch"}},
        "snapshots": (1..=snapshots).map(snapshot).collect::<Vec<_>>(),
        "snapshot-log": (1..=snapshots).map(|n| json!({"timestamp-ms": time(n), "snapshot-id": snapshot_id(n)})).collect::<Vec<_>>(),
        "metadata-log": (snapshots - 99..=snapshots).map(|n| json!({"timestamp-ms": time(n), "metadata-file": metadata_file(n)})).collect::<Vec<_>>()});
    serde_json::from_value(document).unwrap()
}

fn append(base: &TableMetadata, n: i64) -> TableMetadata {
    let updates: Vec<TableUpdate> = serde_json::from_value(json!([
        {"action": "add-snapshot", "snapshot": snapshot(n)},
        {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": snapshot_id(n)}]))
    .unwrap();
    apply(Some(base), Some(&metadata_file(n)), &updates, 1_766_000_000_000 + n * 61_000).unwrap().metadata
}

/// The bound of the store's design: one more snapshot on a large table is small.
#[test]
fn one_more_snapshot_on_ten_thousand_adds_at_most_8_kib() {
    const ADDED_BYTES_MAX: usize = 8 * 1024;
    let mut parts = Parts::default();
    let mut metadata = table(10_000);
    parts.split(&metadata);
    let whole = parts.new_bytes;
    let (mut most, mut sum) = (0, 0);
    for n in 10_001..=10_012 {
        metadata = append(&metadata, n);
        assert_eq!(metadata.metadata_log().len(), 100);
        let root = parts.split(&metadata);
        assert!(parts.new_bytes <= ADDED_BYTES_MAX, "snapshot {n} added {} bytes", parts.new_bytes);
        (most, sum) = (most.max(parts.new_bytes), sum + parts.new_bytes);
        if n == 10_012 {
            assert_eq!(parts.join_by_levels(root), metadata.to_json());
        }
    }
    eprintln!(
        "document {} bytes, first split {whole}, {} parts; one more adds {} on average, {most} at most",
        metadata.to_json().len(),
        parts.kept.len(),
        sum / 12
    );
}

#[test]
fn expiring_at_the_front_keeps_the_rest() {
    let mut parts = Parts::default();
    let metadata = table(2_000);
    parts.split(&metadata);
    let ids: Vec<i64> = (1..=500).map(snapshot_id).collect();
    let updates = serde_json::from_value::<Vec<TableUpdate>>(
        json!([{"action": "remove-snapshots", "snapshot-ids": ids}]),
    )
    .unwrap();
    let expired =
        apply(Some(&metadata), Some("s3://lake/m.json"), &updates, 1_800_000_000_000).unwrap().metadata;
    assert_eq!((expired.snapshots().len(), expired.snapshot_log().len()), (1_500, 1_500));
    let root = parts.split(&expired);
    assert!(parts.new_bytes < 16 * 1024, "{} bytes in {} parts are new", parts.new_bytes, parts.new_parts);
    assert_eq!(parts.join_by_levels(root), expired.to_json());
}

#[test]
fn every_part_is_small_and_says_its_version() {
    let mut parts = Parts::default();
    parts.split(&table(1_000));
    for bytes in parts.kept.values() {
        assert_eq!(bytes[0], FORMAT_VERSION);
        // Only a single long item, the schema here, makes a longer one.
        assert!(bytes.len() <= LEAF_BYTES_MAX + 2 || bytes.windows(8).any(|w| w == b"column_1"));
    }
}

/// Golden vectors: these bytes are stored, they must never change.
#[test]
fn golden_parts() {
    let mut put = Vec::new();
    let document = json!({"a": 1, "l": (0..200).map(|n| format!("item number {n}")).collect::<Vec<_>>(), "o": {}, "s": "x"});
    let root = split_json(&serde_json::to_vec(&document).unwrap(), &mut |bytes| {
        let id = id_of(&bytes);
        put.push(bytes);
        id
    })
    .unwrap();
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let shape: Vec<(u8, usize)> = put.iter().map(|bytes| (bytes[1], bytes.len())).collect();
    assert_eq!(shape, GOLDEN_SHAPE, "kinds and lengths");
    assert!(put[0].starts_with(b"\x01\x02\"item number 0\",\"item number 1\","));
    assert_eq!(hex(put.last().unwrap()), GOLDEN_ROOT);
    assert_eq!(hex(&root), GOLDEN_ROOT_ID);
}

const GOLDEN_SHAPE: &[(u8, usize)] = &[
    (2, 1045),
    (2, 630),
    (2, 720),
    (2, 307),
    (2, 613),
    (2, 163),
    (2, 19),
    (3, 130),
    (3, 98),
    (3, 66),
    (1, 74),
];
const GOLDEN_ROOT: &str = "0101000c0000007b2261223a312c226c223a5b015f5553050938cc2667f16a34d5a9b0db0e65a659dda7f6dbcc3693ec7ace2f1a00110000005d2c226f223a7b7d2c2273223a2278227d";
const GOLDEN_ROOT_ID: &str = "1749dceb05aa0945f26d0d6ae7f4fe5b8c7b9b86d05d55e962fb86aca1598d27";

/// A part of version 1 as it may lie in a store, written by hand from the format's description.
#[test]
fn hand_written_parts_are_read() {
    let (leaf_a, leaf_b) = (b"\x01\x021,2".to_vec(), b"\x01\x02{\"x\":3}".to_vec());
    let node = [b"\x01\x03".as_slice(), &[0xaa; 32], &[0xbb; 32]].concat();
    let root =
        [b"\x01\x01\x00\x06\x00\x00\x00{\"l\":[\x01".as_slice(), &[0xcc; 32], b"\x00\x02\x00\x00\x00]}"]
            .concat();
    let parts: HashMap<PartId, Vec<u8>> =
        HashMap::from([([0xaa; 32], leaf_a), ([0xbb; 32], leaf_b), ([0xcc; 32], node), ([0xdd; 32], root)]);
    assert_eq!(join([0xdd; 32], |id| parts.get(id)).unwrap(), b"{\"l\":[1,2,{\"x\":3}]}");
    assert_eq!(children(&parts[&[0xdd; 32]]).unwrap(), [[0xcc; 32]]);
    assert_eq!(children(&parts[&[0xcc; 32]]).unwrap(), [[0xaa; 32], [0xbb; 32]]);
    assert!(is_root(&parts[&[0xdd; 32]]) && !is_root(&parts[&[0xcc; 32]]));
    assert_eq!(join([0xee; 32], |id| parts.get(id)), Err(Error::Missing([0xee; 32])));
}

#[test]
fn bytes_that_are_no_parts_are_refused() {
    for (bytes, expected) in [
        (&b""[..], Error::Malformed("it is empty")),
        (b"\x02\x01", Error::UnknownVersion(2)),
        (b"\x01", Error::Malformed("it has no kind")),
        (b"\x01\x09", Error::Malformed("its kind is unknown")),
        (b"\x01\x02", Error::Malformed("a leaf holds no item")),
        (b"\x01\x03abc", Error::Malformed("a node is no list of ids")),
        (b"\x01\x01\x00\xff\xff\xff\xff{", Error::Malformed("a segment is cut short")),
        (b"\x01\x01\x01abc", Error::Malformed("a segment is cut short")),
        (b"\x01\x01\x07", Error::Malformed("a segment's tag is unknown")),
    ] {
        assert_eq!(children(bytes), Err(expected));
    }
    // A node that names itself is found out, not followed for ever.
    let (root, node) =
        ([b"\x01\x01\x01".as_slice(), &[7; 32]].concat(), [b"\x01\x03".as_slice(), &[7; 32]].concat());
    let get = |id: &PartId| if *id == [1; 32] { Some(root.clone()) } else { Some(node.clone()) };
    assert_eq!(join([1; 32], get), Err(Error::Malformed("a tree is too deep")));
    assert!(matches!(split_json(b"[1]", &mut |_| [0; 32]), Err(Error::NotAnObject(_))));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no infinities", |f| f.is_finite()).prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 200, 20, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..40).prop_map(Value::from),
            prop::collection::btree_map(".{0,12}", inner, 0..20).prop_map(Value::from_iter),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn split_and_join_give_the_same_bytes(members in prop::collection::btree_map(".{0,12}", any_json(), 0..8)) {
        let json = serde_json::to_vec(&members).unwrap();
        let mut parts = Parts::default();
        let root = split_json(&json, &mut |bytes| parts.put(bytes)).unwrap();
        prop_assert_eq!(parts.join_by_levels(root), json);
    }

    #[test]
    fn lists_of_any_length_share(items in prop::collection::vec("[a-z]{0,300}", 0..200), cut in 0_usize..20) {
        let document = |items: &[String]| serde_json::to_vec(&json!({"l": items})).unwrap();
        let mut parts = Parts::default();
        for list in [&items[..], &items[cut.min(items.len())..]] {
            let json = document(list);
            let root = split_json(&json, &mut |bytes| parts.put(bytes)).unwrap();
            prop_assert_eq!(parts.join_by_levels(root), json);
        }
    }

    #[test]
    fn white_space_changes_no_value(members in prop::collection::btree_map("[a-z]{0,12}", any_json(), 0..8)) {
        let pretty = serde_json::to_vec_pretty(&members).unwrap();
        let mut parts = Parts::default();
        let root = split_json(&pretty, &mut |bytes| parts.put(bytes)).unwrap();
        let joined: Value = serde_json::from_slice(&parts.join_by_levels(root)).unwrap();
        prop_assert_eq!(joined, serde_json::to_value(&members).unwrap());
    }
}

//! Updates that touch neither schemas, specs and orders nor snapshots.

use super::*;

#[test]
fn assign_uuid() {
    let base = table(2);
    let own = base.uuid().unwrap().to_uppercase();
    unchanged(&base, json!([{"action": "assign-uuid", "uuid": own}]));
    let other = Uuid::from_u128(5).to_string();
    let text = format!("Cannot reassign uuid: {} to {other}", base.uuid().unwrap());
    refused(&base, json!([{"action": "assign-uuid", "uuid": other}]), invalid(&text));
    refused(
        &base,
        json!([{"action": "assign-uuid", "uuid": "x"}]),
        Error::BadRequest("Invalid UUID: x".to_owned()),
    );
}

#[test]
fn upgrade_format_version() {
    let upgrade = |to: i64| json!([{"action": "upgrade-format-version", "format-version": to}]);
    let base = appended();
    unchanged(&base, upgrade(2));
    refused(&base, upgrade(1), invalid("Cannot downgrade v2 table to v1"));
    refused(&base, upgrade(0), invalid("Cannot downgrade v2 table to v0"));
    refused(
        &base,
        upgrade(4),
        invalid("Cannot upgrade table to unsupported format version: v4 (supported: v3)"),
    );
    let v3 = changed(&base, upgrade(3));
    assert_eq!((v3.format_version(), v3.next_row_id(), v3.current_snapshot_id()), (3, 0, Some(3)));
    assert!(v3.snapshots().iter().all(|s| s.first_row_id.is_none()));

    let v1 = changed(&table(1), json!([add(1, None, 9), set_ref("main", "branch", 1)]));
    assert_eq!((v1.last_sequence_number(), v1.snapshots()[0].sequence_number), (0, None));
    let v2 = changed(&v1, upgrade(2));
    assert_eq!((v2.last_sequence_number(), v2.snapshots()[0].sequence_number), (0, Some(0)));
    assert!(v2.to_value().get("schema").is_none());
    changed(&v2, json!([add(2, Some(1), 1)]));
    let both = changed(&v1, upgrade(3));
    assert_eq!(both.to_value()["next-row-id"], 0);
}

#[test]
fn location() {
    let base = table(2);
    assert_eq!(
        changed(&base, json!([{"action": "set-location", "location": "s3://b/x//"}])).location(),
        "s3://b/x"
    );
    unchanged(&base, json!([{"action": "set-location", "location": format!("{LOCATION}/")}]));
    let text = "Invalid location: must not be empty".to_owned();
    refused(&base, json!([{"action": "set-location", "location": "/"}]), Error::BadRequest(text));
}

#[test]
fn properties() {
    let base = table(2);
    let got = changed(
        &base,
        json!([{"action": "set-properties", "updates": {"a": "1", "b": "1"}}, {"action": "set-properties", "updated": {"b": "2"}},
            {"action": "remove-properties", "removals": ["owner", "absent"]}, {"action": "remove-properties", "removed": ["a"]}]),
    );
    assert_eq!(got.to_value()["properties"], json!({"b": "2"}));
    unchanged(&base, json!([{"action": "set-properties", "updates": {"owner": "ann"}}]));
    unchanged(
        &base,
        json!([{"action": "set-properties", "updates": {"x": "1"}}, {"action": "remove-properties", "removals": ["x"]}]),
    );
    unchanged(&base, json!([]));
    let derived = json!({"nessie.staged": "true", "nessie.commit.id": "a", "nessie.commit.ref": "b",
        "nessie.catalog.content-id": "c", "format-version": "3", "current-schema": "{}"});
    unchanged(&base, json!([{"action": "set-properties", "updates": derived}]));
    // The last property can go too.
    assert!(
        changed(&base, json!([{"action": "remove-properties", "removals": ["owner"]}]))
            .properties()
            .is_empty()
    );
    let long = "v".repeat(crate::bounds::PROPERTY_VALUE_BYTES_MAX + 1);
    assert!(matches!(
        commit(&base, json!([{"action": "set-properties", "updates": {"a": long}}])),
        Err(Error::BadRequest(_))
    ));
}

#[test]
fn statistics() {
    let base = appended();
    let file = |id: i64, path: &str| {
        json!({"snapshot-id": id, "statistics-path": path, "file-size-in-bytes": 10, "file-footer-size-in-bytes": 4,
            "blob-metadata": [{"type": "apache-datasketches-theta-v1", "snapshot-id": id, "sequence-number": 1, "fields": [1]}]})
    };
    let set = |id: i64, path: &str| json!({"action": "set-statistics", "snapshot-id": id, "statistics": file(id, path)});
    let got = changed(&base, json!([set(1, "a"), set(2, "b"), set(1, "c")]));
    assert_eq!(got.to_value()["statistics"], json!([file(1, "c"), file(2, "b")]));
    unchanged(&got, json!([set(2, "b"), {"action": "remove-statistics", "snapshot-id": 99}]));
    let got = changed(&got, json!([{"action": "remove-statistics", "snapshot-id": 1}]));
    assert_eq!(got.statistics().len(), 1);
    let odd = json!([{"action": "set-statistics", "snapshot-id": 3, "statistics": file(2, "b")}]);
    refused(&base, odd, invalid("Invalid statistics: snapshot ID 3 does not match statistics file's 2"));
    // Whether the snapshot exists is not asked: the file may be registered before its snapshot.
    changed(&base, json!([{"action": "set-statistics", "statistics": file(77, "z")}]));
}

#[test]
fn partition_statistics() {
    let base = appended();
    let file =
        |id: i64, path: &str| json!({"snapshot-id": id, "statistics-path": path, "file-size-in-bytes": 10});
    let set = |id: i64, path: &str| json!({"action": "set-partition-statistics", "partition-statistics": file(id, path)});
    let got = changed(&base, json!([set(1, "a"), set(2, "b"), set(1, "c")]));
    assert_eq!(got.to_value()["partition-statistics"], json!([file(1, "c"), file(2, "b")]));
    unchanged(&got, json!([set(2, "b"), {"action": "remove-partition-statistics", "snapshot-id": 99}]));
    let got = changed(&got, json!([{"action": "remove-partition-statistics", "snapshot-id": 2}]));
    assert_eq!(got.partition_statistics().len(), 1);
}

#[test]
fn encryption_keys() {
    let key = |id: &str, data: &str| json!({"action": "add-encryption-key", "encryption-key": {"key-id": id, "encrypted-key-metadata": data, "properties": {"a": "b"}}});
    refused(
        &table(2),
        json!([key("k", "aa")]),
        invalid("Cannot add encryption key to v2 table: encryption keys are not supported until v3"),
    );
    let got = changed(&table(3), json!([key("k", "aa"), key("l", "bb"), key("k", "cc")]));
    assert_eq!(
        got.to_value()["encryption-keys"],
        json!([{"key-id": "k", "encrypted-key-metadata": "aa", "properties": {"a": "b"}},
            {"key-id": "l", "encrypted-key-metadata": "bb", "properties": {"a": "b"}}])
    );
    unchanged(&got, json!([key("k", "zz"), {"action": "remove-encryption-key", "key-id": "absent"}]));
    let got = changed(&got, json!([{"action": "remove-encryption-key", "key-id": "k"}]));
    assert_eq!(got.encryption_keys().len(), 1);
}

#[test]
fn every_action_is_known_and_comes_back_as_sent() {
    let examples = json!([
        {"action": "assign-uuid", "uuid": UUID.to_string()}, {"action": "upgrade-format-version", "format-version": 2},
        {"action": "add-schema", "schema": columns()}, {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": {"spec-id": 0, "fields": []}}, {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}}, {"action": "set-default-sort-order", "sort-order-id": -1},
        add(1, None, 1), set_ref("main", "branch", 1), {"action": "remove-snapshot-ref", "ref-name": "x"},
        {"action": "remove-snapshots", "snapshot-ids": [1]}, {"action": "set-location", "location": "s3://x"},
        {"action": "set-properties", "updates": {}}, {"action": "remove-properties", "removals": []},
        {"action": "set-statistics", "statistics": {"snapshot-id": 1, "statistics-path": "p", "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1}},
        {"action": "remove-statistics", "snapshot-id": 1},
        {"action": "set-partition-statistics", "partition-statistics": {"snapshot-id": 1, "statistics-path": "p", "file-size-in-bytes": 1}},
        {"action": "remove-partition-statistics", "snapshot-id": 1}, {"action": "remove-partition-specs", "spec-ids": [1]},
        {"action": "remove-schemas", "schema-ids": [1]},
        {"action": "add-encryption-key", "encryption-key": {"key-id": "k", "encrypted-key-metadata": "aa"}},
        {"action": "remove-encryption-key", "key-id": "k"}]);
    let parsed = updates(examples.clone());
    assert_eq!(parsed.iter().map(TableUpdate::action).collect::<Vec<_>>(), TableUpdate::ACTIONS);
    assert_eq!(TableUpdate::ACTIONS.len(), 23);
    assert_eq!(serde_json::to_value(&parsed).unwrap(), examples);
}

#[test]
fn unknown_and_malformed_ones_are_named() {
    let error = |value: Value| match TableUpdate::from_value(value).unwrap_err() {
        Error::BadRequest(text) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(error(json!({"action": "paint-it-black"})), "Unknown update action: paint-it-black");
    assert_eq!(
        error(json!({"action": "add-schema"})),
        "Cannot parse update add-schema: missing field `schema`"
    );
    assert!(
        error(json!({"action": "remove-snapshots", "snapshot-ids": [1.5]}))
            .starts_with("Cannot parse update remove-snapshots: invalid type")
    );
    assert_eq!(error(json!({"update": 1})), "Cannot parse update: missing field action");
    assert_eq!(error(json!([])), "Cannot parse update: not an object");
    let through_serde =
        serde_json::from_value::<Vec<TableUpdate>>(json!([{"action": "paint-it-black"}])).unwrap_err();
    assert_eq!(through_serde.to_string(), "Unknown update action: paint-it-black");
}

#[test]
fn a_failing_update_leaves_the_base_alone() {
    let base = table(2);
    let before = base.to_json();
    assert!(commit(&base, json!([{"action": "set-properties", "updates": {"a": "b"}}, {"action": "set-current-schema", "schema-id": 9}])).is_err());
    assert_eq!(base.to_json(), before);
}

#[test]
fn the_metadata_log_grows_to_its_cap() {
    let file = |n: i64| format!("s3://lake/metadata/{n:05}-a.metadata.json");
    let grow = |mut metadata: TableMetadata, commits: i64| {
        for n in 0..commits {
            let change = updates(json!([{"action": "set-properties", "updates": {"n": n.to_string()}}]));
            metadata = apply(Some(&metadata), Some(&file(n)), &change, NOW_MS + n * 10).unwrap().metadata;
        }
        metadata
    };
    let files =
        |m: &TableMetadata| m.metadata_log().iter().map(|e| e.metadata_file.clone()).collect::<Vec<_>>();
    let got = grow(table(2), 105);
    assert_eq!(files(&got), (5..105).map(file).collect::<Vec<_>>());
    assert_eq!(got.metadata_log()[99].timestamp_ms, NOW_MS + 103 * 10, "when the previous file was written");
    for (max, kept) in [("3", 3), ("0", 1), ("-5", 1), ("x", 10)] {
        let capped = changed(
            &table(2),
            json!([{"action": "set-properties", "updates": {"write.metadata.previous-versions-max": max}}]),
        );
        assert_eq!(grow(capped, 9).metadata_log().len(), kept, "max {max}");
    }
    let none = apply(
        Some(&table(2)),
        None,
        &updates(json!([{"action": "set-properties", "updates": {"n": "1"}}])),
        NOW_MS,
    );
    assert!(none.unwrap().metadata.metadata_log().is_empty());
}

#[test]
fn time_never_runs_backwards() {
    let base = table(2);
    let change = updates(json!([{"action": "set-properties", "updates": {"n": "1"}}]));
    let got = apply(Some(&base), Some(BASE_FILE), &change, NOW_MS - 3_600_000).unwrap().metadata;
    assert_eq!(got.last_updated_ms(), NOW_MS);
}

//! One table's life from creation over append to conflict, requests as clients send them.

use super::*;

fn holds(requirements: Value, base: &TableMetadata) -> Result<(), Error> {
    serde_json::from_value::<Vec<TableRequirement>>(requirements)
        .unwrap()
        .iter()
        .try_for_each(|r| r.check(Some(base)))
}

#[test]
fn direct_create_then_append_then_a_second_writer() {
    let request: CreateTable = serde_json::from_value(json!({"name": "clicks", "location": null, "stage-create": false,
        "properties": {"owner": "ann", "format-version": "2"},
        "schema": {"type": "struct", "schema-id": 0, "identifier-field-ids": [10], "fields": [
            {"id": 10, "name": "id", "type": "long", "required": true},
            {"id": 11, "name": "at", "type": "timestamptz", "required": false},
            {"id": 12, "name": "geo", "required": false, "type": {"type": "struct", "fields": [
                {"id": 13, "name": "lat", "type": "double", "required": false}]}}]},
        "partition-spec": {"spec-id": 0, "fields": [{"source-id": 11, "name": "at_day", "transform": "day"}]},
        "write-order": {"order-id": 1, "fields": [{"source-id": 10, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}]}}))
    .unwrap();
    let location = "s3://lake/sales/eu/web/clicks_7b1e";
    let base = create(&request, UUID, location, NOW_MS).unwrap();
    assert_eq!(
        base.to_value(),
        json!({"format-version": 2, "table-uuid": UUID.to_string(), "location": location, "last-sequence-number": 0,
            "last-updated-ms": NOW_MS, "last-column-id": 4, "current-schema-id": 0,
            "schemas": [{"type": "struct", "schema-id": 0, "identifier-field-ids": [1], "fields": [
                {"id": 1, "name": "id", "type": "long", "required": true},
                {"id": 2, "name": "at", "type": "timestamptz", "required": false},
                {"id": 3, "name": "geo", "required": false, "type": {"type": "struct", "fields": [
                    {"id": 4, "name": "lat", "type": "double", "required": false}]}}]}],
            "default-spec-id": 0, "last-partition-id": 1000,
            "partition-specs": [{"spec-id": 0, "fields": [{"source-id": 2, "field-id": 1000, "name": "at_day", "transform": "day"}]}],
            "default-sort-order-id": 1,
            "sort-orders": [{"order-id": 1, "fields": [{"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}]}],
            "properties": {"owner": "ann"}, "current-snapshot-id": -1, "refs": {}, "snapshots": [], "statistics": [],
            "partition-statistics": [], "snapshot-log": [], "metadata-log": []})
    );

    let requirements = json!([{"type": "assert-table-uuid", "uuid": UUID.to_string()},
        {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": null}]);
    let append = json!([{"action": "add-snapshot", "snapshot": {"snapshot-id": 3821, "sequence-number": 1, "timestamp-ms": NOW_MS + 100_000,
            "manifest-list": "s3://lake/sales/eu/web/clicks_7b1e/metadata/snap-3821-1-x.avro", "schema-id": 0,
            "summary": {"operation": "append", "added-data-files": "1", "added-records": "5", "total-records": "5"}}},
        {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 3821}]);
    assert_eq!(holds(requirements.clone(), &base), Ok(()));
    let file = format!("{location}/metadata/00000-91d0.metadata.json");
    let after = apply(Some(&base), Some(&file), &updates(append), NOW_MS + 100_500).unwrap().metadata;
    let value = after.to_value();
    assert_eq!((after.last_sequence_number(), after.current_snapshot_id()), (1, Some(3821)));
    assert_eq!(value["refs"], json!({"main": {"snapshot-id": 3821, "type": "branch"}}));
    assert_eq!(value["snapshot-log"], json!([{"snapshot-id": 3821, "timestamp-ms": NOW_MS + 100_000}]));
    assert_eq!(value["metadata-log"], json!([{"metadata-file": file, "timestamp-ms": NOW_MS}]));
    let next =
        crate::naming::next_metadata_location(after.location(), Some(&file), Uuid::nil(), after.properties());
    assert_eq!(next, format!("{location}/metadata/00001-{}.metadata.json", Uuid::nil()));

    let late = holds(requirements, &after).unwrap_err();
    assert_eq!(
        late,
        Error::Requirement("Requirement failed: branch main was created concurrently".to_owned())
    );
    let stale = json!([{"action": "add-snapshot", "snapshot": {"snapshot-id": 3822, "parent-snapshot-id": 3821, "sequence-number": 1,
        "timestamp-ms": NOW_MS + 100_000, "manifest-list": "s3://l", "summary": {"operation": "append"}}}]);
    let text = "Cannot add snapshot with sequence number 1 older than last sequence number 1";
    refused(&after, stale, Error::Conflict(text.to_owned()));
}

#[test]
fn staged_create_commit() {
    let changes = json!([{"action": "assign-uuid", "uuid": UUID.to_string()}, {"action": "upgrade-format-version", "format-version": 2},
        {"action": "add-schema", "schema": {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "id", "type": "long", "required": true}]}, "last-column-id": 1},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": {"spec-id": 0, "fields": []}}, {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}}, {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": "s3://lake/sales/eu/web/clicks_7b1e"},
        {"action": "set-properties", "updates": {"owner": "ann", "nessie.staged": "true"}},
        {"action": "add-snapshot", "snapshot": {"snapshot-id": 9, "sequence-number": 1, "timestamp-ms": NOW_MS, "manifest-list": "s3://m", "summary": {"operation": "append"}, "schema-id": 0}},
        {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": 9}]);
    let got = apply(None, None, &updates(changes), NOW_MS).unwrap().metadata;
    assert_eq!(
        got.to_value()["schemas"],
        json!([{"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "id", "type": "long", "required": true}]}])
    );
    assert_eq!(got.to_value()["properties"], json!({"owner": "ann"}));
    assert_eq!(summary(&got), Summary { snapshot_id: 9, schema_id: 0, spec_id: 0, sort_order_id: 0 });
    reread(&got);
}

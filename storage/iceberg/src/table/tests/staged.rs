use super::*;

fn staged(changes: Value) -> Result<TableMetadata, Error> {
    let applied = apply(None, None, &updates(changes), NOW_MS)?;
    assert!(applied.changed);
    reread(&applied.metadata);
    Ok(applied.metadata)
}

fn minimal() -> Vec<Value> {
    let schema = json!({"type": "struct", "schema-id": 3, "fields": [{"id": 7, "name": "id", "required": true, "type": "long"}]});
    vec![
        json!({"action": "assign-uuid", "uuid": UUID.to_string()}),
        json!({"action": "set-location", "location": LOCATION}),
        json!({"action": "add-schema", "schema": schema}),
    ]
}

fn more(extra: &[Value]) -> Value {
    let mut all = minimal();
    all.extend_from_slice(extra);
    json!(all)
}

#[test]
fn ids_of_the_client_stay() {
    let got = staged(more(&[])).unwrap();
    assert_eq!((got.format_version(), got.current_schema_id(), got.last_column_id()), (2, 0, 7));
    assert_eq!(got.current_schema().unwrap().fields[0].id, 7);
    assert_eq!((got.default_spec_id(), got.last_partition_id(), got.default_sort_order_id()), (0, 999, 0));
    assert!(got.metadata_log().is_empty());
}

#[test]
fn what_the_client_calls_its_schema_is_understood() {
    let mut snapshot = add(9, None, 1);
    snapshot["snapshot"]["schema-id"] = json!(3);
    let got = staged(more(&[
        json!({"action": "set-current-schema", "schema-id": 3}),
        json!({"action": "add-spec", "spec": {"fields": [
        {"source-id": 7, "field-id": 1000, "name": "b", "transform": "bucket[8]"}]}}),
        json!({"action": "add-sort-order", "sort-order": {"fields": []}}),
        snapshot,
        set_ref("main", "branch", 9),
    ]))
    .unwrap();
    assert_eq!(
        (got.snapshots()[0].schema_id, got.current_schema_id(), got.default_spec_id()),
        (Some(0), 0, 0)
    );
    assert_eq!((got.last_partition_id(), got.last_sequence_number(), log_ids(&got)), (1000, 1, vec![9]));
}

#[test]
fn the_version_is_known_from_the_start() {
    for version in [1, 2, 3] {
        let got =
            staged(more(&[json!({"action": "upgrade-format-version", "format-version": version})])).unwrap();
        assert_eq!(i64::from(got.format_version()), version);
    }
    for version in [0, 4] {
        assert!(matches!(
            staged(more(&[json!({"action": "upgrade-format-version", "format-version": version})])),
            Err(Error::Validation(_))
        ));
    }
}

#[test]
fn what_is_missing_is_named() {
    for (skipped, text) in [
        (0, "Cannot create table: no UUID has been assigned"),
        (1, "Cannot create table: no location has been set"),
        (2, "Cannot create table: no schema has been added"),
    ] {
        let mut all = minimal();
        all.remove(skipped);
        assert_eq!(staged(json!(all)).unwrap_err(), invalid(text));
    }
    let early = json!([add(1, None, 1)]);
    assert_eq!(staged(early).unwrap_err(), invalid("Attempting to add a snapshot before a schema is added"));
    assert_eq!(
        staged(json!([{"action": "add-spec", "spec": {"fields": []}}])).unwrap_err(),
        invalid("Cannot add partition spec: no schema has been added")
    );
    let text = "Attempting to add a snapshot before a partition spec is added";
    assert_eq!(staged(more(&[add(1, None, 1)])).unwrap_err(), invalid(text));
}

#[test]
fn a_uuid_can_be_supplied() {
    let mut changes = updates(json!(minimal()));
    ensure_uuid(&mut changes, Uuid::from_u128(9));
    assert_eq!(changes.len(), 3);
    changes.remove(0);
    ensure_uuid(&mut changes, Uuid::from_u128(9));
    let got = apply(None, None, &changes, NOW_MS).unwrap().metadata;
    assert_eq!(got.uuid(), Some(Uuid::from_u128(9).to_string().as_str()));
}

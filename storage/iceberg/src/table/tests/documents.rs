//! Documents as others write them.

use super::*;

fn parse(value: &Value) -> Result<TableMetadata, Error> {
    TableMetadata::parse(&serde_json::to_vec(value).unwrap())
}

fn v1() -> Value {
    json!({"format-version": 1, "location": "s3://lake/old", "last-updated-ms": 5, "last-column-id": 1,
        "schema": {"type": "struct", "fields": [{"id": 1, "name": "x", "required": false, "type": "long"}]},
        "partition-spec": [{"source-id": 1, "name": "x", "transform": "identity"}, {"source-id": 1, "name": "b", "transform": "bucket[2]"}]})
}

fn v2() -> Value {
    table(2).to_value()
}

#[test]
fn v1_with_single_schema_and_spec() {
    let got = parse(&v1()).unwrap();
    assert_eq!(
        (got.uuid(), got.current_schema_id(), got.default_spec_id(), got.last_partition_id()),
        (None, 0, 0, 1001)
    );
    assert_eq!(got.default_sort_order_id(), 0);
    let value = got.to_value();
    assert_eq!(
        value,
        json!({"format-version": 1, "location": "s3://lake/old", "last-updated-ms": 5, "last-column-id": 1,
            "schema": {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "x", "required": false, "type": "long"}]},
            "current-schema-id": 0,
            "schemas": [{"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "x", "required": false, "type": "long"}]}],
            "partition-spec": [{"source-id": 1, "field-id": 1000, "name": "x", "transform": "identity"},
                {"source-id": 1, "field-id": 1001, "name": "b", "transform": "bucket[2]"}],
            "default-spec-id": 0,
            "partition-specs": [{"spec-id": 0, "fields": [{"source-id": 1, "field-id": 1000, "name": "x", "transform": "identity"},
                {"source-id": 1, "field-id": 1001, "name": "b", "transform": "bucket[2]"}]}],
            "last-partition-id": 1001, "default-sort-order-id": 0, "sort-orders": [{"order-id": 0, "fields": []}],
            "properties": {}, "current-snapshot-id": -1, "refs": {}, "snapshots": [], "statistics": [],
            "partition-statistics": [], "snapshot-log": [], "metadata-log": []})
    );
    reread(&got);
    refused(
        &got,
        json!([{"action": "upgrade-format-version", "format-version": 2}]),
        invalid("Cannot upgrade v1 table: no UUID has been assigned"),
    );
    let named = changed(
        &got,
        json!([{"action": "assign-uuid", "uuid": UUID.to_string()}, {"action": "upgrade-format-version", "format-version": 2}]),
    );
    assert_eq!(named.to_value().get("partition-spec"), None);
}

#[test]
fn no_current_snapshot_in_every_spelling() {
    for version in [1, 2, 3] {
        let mut value = table(version).to_value();
        let written = if version < 3 { json!(-1) } else { Value::Null };
        assert_eq!(value["current-snapshot-id"], written);
        for none in [json!(-1), Value::Null] {
            value["current-snapshot-id"] = none;
            assert_eq!(parse(&value).unwrap(), table(version));
        }
        value.as_object_mut().unwrap().shift_remove("current-snapshot-id");
        assert_eq!(parse(&value).unwrap(), table(version));
    }
    assert!(table(1).to_value().get("last-sequence-number").is_none());
    assert!(table(2).to_value().get("next-row-id").is_none());
    assert_eq!(table(3).to_value()["next-row-id"], 0);
}

#[test]
fn empty_lists_are_always_written() {
    for version in [1, 2, 3] {
        let value = table(version).to_value();
        for field in ["snapshots", "snapshot-log", "metadata-log", "statistics", "partition-statistics"] {
            assert_eq!(value[field], json!([]), "{field}");
        }
        assert_eq!(value["refs"], json!({}));
    }
}

#[test]
fn optional_lists_may_be_missing_or_null() {
    let mut value = v2();
    for field in [
        "properties",
        "snapshots",
        "snapshot-log",
        "metadata-log",
        "statistics",
        "partition-statistics",
        "refs",
    ] {
        value[field] = Value::Null;
    }
    let got = parse(&value).unwrap();
    assert!(got.properties().is_empty() && got.snapshots().is_empty());
    reread(&got);
}

#[test]
fn main_is_synthesised() {
    let mut value = appended().to_value();
    value.as_object_mut().unwrap().shift_remove("refs");
    assert_eq!(parse(&value).unwrap(), appended());
    value["refs"] = json!({"main": {"snapshot-id": 3, "type": "branch"}});
    value["current-snapshot-id"] = json!(-1);
    assert_eq!(parse(&value).unwrap(), appended());
}

/// Whatever stands at any level comes back.
#[test]
fn unknown_fields_survive() {
    let mut value = appended().to_value();
    let unknown = json!({"deep": [1, {"b": 1, "a": -9_223_372_036_854_775_808_i64}], "float": 0.1});
    for pointer in [
        "",
        "/schemas/0",
        "/schemas/0/fields/0",
        "/partition-specs/0",
        "/partition-specs/0/fields/0",
        "/sort-orders/0",
        "/sort-orders/0/fields/0",
        "/snapshots/1",
        "/refs/main",
        "/snapshot-log/0",
        "/metadata-log/0",
    ] {
        value.pointer_mut(pointer).unwrap()["x-unknown"] = unknown.clone();
    }
    value["schemas"][0]["fields"][2]["type"] = json!({"type": "struct", "x": 1, "fields": [
        {"id": 10, "name": "w", "required": false, "type": {"type": "wormhole", "to": "elsewhere"}},
        {"id": 11, "name": "u", "required": false, "type": "paint(black)"},
        {"id": 12, "name": "l", "required": false, "type": {"type": "list", "y": 2, "element-id": 13, "element": "int", "element-required": true}}]});
    value["partition-specs"][0]["fields"][0]["transform"] = json!("zorder[3]");
    value["statistics"] = json!([{"snapshot-id": 1, "statistics-path": "p", "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1, "zz": [1]}]);
    let got = parse(&value).unwrap();
    assert_eq!(got.to_value(), value);
    reread(&got);
    // And it survives a commit.
    let after =
        changed(&got, json!([{"action": "set-properties", "updates": {"a": "b"}}, set_ref("t", "tag", 2)]))
            .to_value();
    assert_eq!(after["x-unknown"], unknown);
    assert_eq!(after["schemas"], value["schemas"]);
    assert_eq!(after["snapshots"], value["snapshots"]);
}

#[test]
fn equal_state_gives_equal_bytes_whatever_the_order() {
    let base = changed(
        &appended(),
        json!([{"action": "add-schema", "schema": {"type": "struct", "fields": [{"id": 1, "name": "only", "required": false, "type": "long"}]}},
            {"action": "set-properties", "updates": {"z": "1", "a": "2"}}, set_ref("b", "branch", 1)]),
    );
    let value = base.to_value();
    let mut turned = serde_json::Map::new();
    for (key, field) in value.as_object().unwrap().iter().rev() {
        let field = match (key.as_str(), field) {
            ("schemas", Value::Array(items)) => items.iter().rev().cloned().collect(),
            (_, Value::Object(members)) => {
                Value::Object(members.iter().rev().map(|(k, v)| (k.clone(), v.clone())).collect())
            }
            _ => field.clone(),
        };
        turned.insert(key.clone(), field);
    }
    assert_eq!(parse(&Value::Object(turned)).unwrap().to_json(), base.to_json());
}

#[test]
fn fields_have_a_fixed_order() {
    let text = String::from_utf8(table(2).to_json()).unwrap();
    assert!(text.starts_with("{\"format-version\":2,\"table-uuid\":\"7b1e"), "{text}");
    assert!(
        text.ends_with(
            "\"statistics\":[],\"partition-statistics\":[],\"snapshot-log\":[],\"metadata-log\":[]}"
        ),
        "{text}"
    );
    assert!(text.contains("{\"id\":1,\"name\":\"id\",\"required\":true,\"type\":\"long\"}"));
    assert!(text.contains("\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":["));
}

fn check_refused(change: impl FnOnce(&mut Value), expected: &str) {
    let mut value = appended().to_value();
    change(&mut value);
    match parse(&value) {
        Err(Error::BadRequest(text)) => {
            assert!(text.starts_with("Cannot parse table metadata: ") && text.contains(expected), "{text}")
        }
        other => panic!("{expected}: {other:?}"),
    }
}

#[test]
fn inconsistent_documents_are_refused() {
    let without = |field: &'static str| {
        move |value: &mut Value| drop(value.as_object_mut().unwrap().shift_remove(field))
    };
    check_refused(|v| v["format-version"] = json!(4), "cannot read unsupported version 4");
    check_refused(|v| v["format-version"] = json!(0), "cannot read unsupported version 0");
    check_refused(|v| v["format-version"] = json!(3), "missing field next-row-id in format v3");
    check_refused(without("table-uuid"), "missing field table-uuid in format v2");
    check_refused(without("last-sequence-number"), "missing field last-sequence-number");
    check_refused(without("location"), "missing field `location`");
    check_refused(without("schemas"), "missing field schemas");
    check_refused(without("current-schema-id"), "missing field current-schema-id");
    check_refused(without("partition-specs"), "missing field partition-specs");
    check_refused(|v| v["current-schema-id"] = json!(9), "cannot find current schema with id 9");
    check_refused(|v| v["default-spec-id"] = json!(9), "cannot find default partition spec with id 9");
    check_refused(|v| v["default-sort-order-id"] = json!(9), "cannot find default sort order with id 9");
    check_refused(
        |v| v["current-snapshot-id"] = json!(2),
        "current snapshot ID does not match main branch (2 != 3)",
    );
    check_refused(
        |v| v["refs"]["x"] = json!({"snapshot-id": 9, "type": "tag"}),
        "snapshot for reference x does not exist: 9",
    );
    check_refused(|v| v["snapshots"][0]["snapshot-id"] = json!(2), "a snapshot id is used more than once");
    check_refused(|v| v["snapshots"][0]["snapshot-id"] = json!(1.0), "invalid type: floating point");
    check_refused(
        |v| {
            let s = v["schemas"][0].clone();
            v["schemas"].as_array_mut().unwrap().push(s);
        },
        "schema id 0 is used more than once",
    );
    check_refused(|v| v["schemas"][0]["type"] = json!("list"), "not a struct type: list");
    assert!(matches!(TableMetadata::parse(b"{\"format-version\": 2"), Err(Error::BadRequest(_))));
    assert!(matches!(TableMetadata::parse(b"[]"), Err(Error::BadRequest(_))));
    let nested = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(matches!(TableMetadata::parse(nested.as_bytes()), Err(Error::BadRequest(_))));
}

#[test]
fn a_table_that_came_with_a_misfit_can_still_be_changed() {
    let mut value = v2();
    value["partition-specs"][0]["fields"][0]["source-id"] = json!(99);
    let odd = parse(&value).unwrap();
    changed(&odd, json!([{"action": "set-properties", "updates": {"a": "b"}}]));
    changed(
        &odd,
        json!([{"action": "add-spec", "spec": {"fields": []}}, {"action": "set-default-spec", "spec-id": -1}]),
    );
}

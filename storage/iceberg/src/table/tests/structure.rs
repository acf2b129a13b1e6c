//! Schemas, partition specs and sort orders of an existing table.

use super::*;

fn with_column(id: i32, name: &str, kind: &str) -> Value {
    let mut schema = columns();
    schema["schema-id"] = json!(1);
    schema["fields"]
        .as_array_mut()
        .unwrap()
        .push(json!({"id": id, "name": name, "required": false, "type": kind}));
    schema
}

fn add_schema(schema: Value) -> Value {
    json!({"action": "add-schema", "schema": schema})
}

fn set_schema(id: i32) -> Value {
    json!({"action": "set-current-schema", "schema-id": id})
}

#[test]
fn schemas() {
    let base = table(2);
    let got = changed(&base, json!([add_schema(with_column(4, "z", "date")), set_schema(-1)]));
    assert_eq!((got.current_schema_id(), got.last_column_id(), got.schemas().len()), (1, 4, 2));
    // Back to the first: reused, and the column id is never given again.
    let back = changed(&got, json!([add_schema(columns()), set_schema(-1)]));
    assert_eq!((back.current_schema_id(), back.last_column_id(), back.schemas().len()), (0, 4, 2));
    unchanged(&base, json!([add_schema(columns()), set_schema(-1)]));
    unchanged(&base, json!([add_schema(columns())]));
    // An id that is taken is a hint only.
    let mut taken = with_column(5, "y", "int");
    taken["schema-id"] = json!(0);
    let got = changed(&got, json!([add_schema(taken), set_schema(-1)]));
    assert_eq!((got.current_schema_id(), got.schemas().len()), (2, 3));
    // The id of the request serves within the request, if it means nothing else.
    let mut hinted = with_column(4, "z", "date");
    hinted["schema-id"] = json!(70);
    assert_eq!(changed(&base, json!([add_schema(hinted), set_schema(70)])).current_schema_id(), 1);
    let lower = json!([{"action": "add-schema", "schema": with_column(4, "z", "date"), "last-column-id": 9}, set_schema(-1)]);
    assert_eq!(changed(&base, lower).last_column_id(), 9);
}

#[test]
fn schemas_are_refused() {
    let base = table(2);
    refused(
        &base,
        json!([set_schema(-1)]),
        invalid("Cannot set last added schema: no schema has been added"),
    );
    refused(&base, json!([set_schema(7)]), invalid("Cannot set current schema to unknown schema: 7"));
    refused(
        &base,
        json!([add_schema(with_column(4, "v", "variant"))]),
        invalid("Invalid schema for v2:\n- Invalid type for v: variant is not supported until v3"),
    );
    changed(&table(3), json!([add_schema(with_column(4, "v", "variant"))]));
    refused(
        &base,
        json!([add_schema(with_column(3, "v", "int"))]),
        invalid("Invalid schema: field id 3 is used more than once: city and v"),
    );
    // The partition source is gone: the default spec no longer fits.
    let mut without = columns();
    without["fields"].as_array_mut().unwrap().remove(1);
    refused(
        &base,
        json!([add_schema(without), set_schema(-1)]),
        invalid("Cannot find source column for partition field: 1000: at_day: day(2)"),
    );
}

#[test]
fn removing_schemas() {
    let base = changed(&table(2), json!([add_schema(with_column(4, "z", "date")), set_schema(-1)]));
    let remove = |ids: Value| json!([{"action": "remove-schemas", "schema-ids": ids}]);
    refused(&base, remove(json!([0, 1])), invalid("Cannot remove the current schema"));
    unchanged(&base, remove(json!([7])));
    assert_eq!(changed(&base, remove(json!([0, 7]))).schemas().len(), 1);
}

fn spec(fields: Value) -> Value {
    json!({"action": "add-spec", "spec": {"spec-id": 5, "fields": fields}})
}

fn set_spec(id: i32) -> Value {
    json!({"action": "set-default-spec", "spec-id": id})
}

#[test]
fn specs() {
    let base = table(2);
    let day = json!({"source-id": 2, "name": "at_day", "transform": "day"});
    let got = changed(
        &base,
        json!([spec(json!([day, {"source-id": 1, "name": "b", "transform": "bucket[4]"}])), set_spec(-1)]),
    );
    assert_eq!(
        got.to_value()["partition-specs"][1],
        json!({"spec-id": 1, "fields": [{"source-id": 2, "field-id": 1000, "name": "at_day", "transform": "day"},
            {"source-id": 1, "field-id": 1001, "name": "b", "transform": "bucket[4]"}]})
    );
    assert_eq!((got.default_spec_id(), got.last_partition_id()), (1, 1001));
    unchanged(&base, json!([spec(json!([day])), set_spec(-1)]));
    let back = changed(&got, json!([spec(json!([day])), set_spec(-1)]));
    assert_eq!(
        (back.default_spec_id(), back.last_partition_id(), back.partition_specs().len()),
        (0, 1001, 2)
    );
    let none = changed(&base, json!([spec(json!([])), set_spec(5)]));
    assert_eq!((none.default_spec_id(), none.last_partition_id()), (1, 1000));
    let fresh = changed(&got, json!([spec(json!([{"source-id": 3, "name": "c", "transform": "identity"}]))]));
    assert_eq!((fresh.last_partition_id(), fresh.default_spec_id()), (1002, 1));
    // A spec on a column of the same commit.
    changed(
        &base,
        json!([
            add_schema(with_column(4, "z", "date")),
            set_schema(-1),
            spec(json!([{"source-id": 4, "name": "z", "transform": "identity"}]))
        ]),
    );
}

#[test]
fn specs_are_refused() {
    let base = table(2);
    refused(&base, json!([set_spec(-1)]), invalid("Cannot set last added spec: no spec has been added"));
    refused(&base, json!([set_spec(9)]), invalid("Cannot set default partition spec to unknown spec: 9"));
    refused(
        &base,
        json!([spec(json!([{"source-id": 4, "name": "z", "transform": "identity"}]))]),
        invalid("Cannot find source column for partition field: 1001: z: identity(4)"),
    );
    let twice = json!([{"source-id": 1, "field-id": 1005, "name": "a", "transform": "bucket[2]"}, {"source-id": 3, "field-id": 1005, "name": "b", "transform": "identity"}]);
    refused(&base, json!([spec(twice)]), invalid("Cannot use partition field id more than once: 1005"));
    let gap = json!([{"source-id": 1, "field-id": 1001, "name": "a", "transform": "bucket[2]"}]);
    refused(
        &table(1),
        json!([spec(gap.clone())]),
        invalid("Spec does not use sequential IDs that are required in v1: 1001: a: bucket[2](1)"),
    );
    assert_eq!(changed(&base, json!([spec(gap)])).last_partition_id(), 1001);
    // In v1 a dropped field becomes void and keeps its name, which may be a column's.
    changed(
        &table(1),
        json!([
            spec(json!([{"source-id": 1, "field-id": 1000, "name": "id", "transform": "void"}])),
            set_spec(-1)
        ]),
    );
}

#[test]
fn removing_specs() {
    let base = changed(&table(2), json!([spec(json!([])), set_spec(-1)]));
    let remove = |ids: Value| json!([{"action": "remove-partition-specs", "spec-ids": ids}]);
    refused(&base, remove(json!([1])), invalid("Cannot remove the default partition spec"));
    unchanged(&base, remove(json!([7])));
    assert_eq!(changed(&base, remove(json!([0, 7]))).partition_specs().len(), 1);
}

fn order(source: i32) -> Value {
    json!({"action": "add-sort-order", "sort-order": {"order-id": 8, "fields": [
        {"source-id": source, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}]}})
}

fn set_order(id: i32) -> Value {
    json!({"action": "set-default-sort-order", "sort-order-id": id})
}

#[test]
fn sort_orders() {
    let base = table(2);
    unchanged(&base, json!([order(1), set_order(-1)]));
    let got = changed(&base, json!([order(3), set_order(-1)]));
    assert_eq!((got.default_sort_order_id(), got.sort_orders().len()), (2, 2));
    assert_eq!(changed(&base, json!([order(3), set_order(8)])).default_sort_order_id(), 2);
    let unsorted = changed(
        &got,
        json!([{"action": "add-sort-order", "sort-order": {"order-id": 4, "fields": []}}, set_order(-1)]),
    );
    assert_eq!(unsorted.default_sort_order_id(), 0);
    assert_eq!(unsorted.sort_orders().iter().map(|o| o.order_id).collect::<Vec<_>>(), [0, 1, 2]);
    let plain = create_with(json!({"schema": columns()})).unwrap();
    assert_eq!(changed(&plain, json!([order(1), set_order(-1)])).default_sort_order_id(), 1);
    refused(
        &base,
        json!([set_order(-1)]),
        invalid("Cannot set last added sort order: no sort order has been added"),
    );
    refused(&base, json!([set_order(9)]), invalid("Cannot set default sort order to unknown order: 9"));
    refused(&base, json!([order(9)]), invalid("Cannot find source column for sort field: identity(9)"));
}

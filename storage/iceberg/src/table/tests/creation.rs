use super::*;

#[test]
fn ids_are_given_level_by_level_and_references_follow() {
    let got = create_with(json!({
        "schema": {"type": "struct", "schema-id": 4, "identifier-field-ids": [21], "fields": [
            {"id": 20, "name": "who", "required": true, "type": {"type": "struct", "fields": [
                {"id": 21, "name": "key", "required": true, "type": "long"},
                {"id": 22, "name": "at", "required": false, "type": "timestamptz"}]}},
            {"id": 30, "name": "tags", "required": false,
                "type": {"type": "list", "element-id": 31, "element": "string", "element-required": false}},
            {"id": 50, "name": "m", "required": false, "type": {"type": "map", "key-id": 51, "key": "string",
                "value-id": 52, "value": {"type": "struct", "fields": [{"id": 53, "name": "x", "required": false, "type": "int"}]},
                "value-required": true}},
            {"id": 40, "name": "city", "required": false, "type": "string"}]},
        "partition-spec": {"spec-id": 7, "fields": [{"field-id": 1007, "source-id": 22, "name": "d", "transform": "day"}]},
        "write-order": {"order-id": 9, "fields": [{"source-id": 40, "transform": "identity", "direction": "desc", "null-order": "nulls-last"}]}}))
    .unwrap();
    let value = got.to_value();
    assert_eq!(
        value["schemas"],
        json!([{"type": "struct", "schema-id": 0, "identifier-field-ids": [5], "fields": [
            {"id": 1, "name": "who", "required": true, "type": {"type": "struct", "fields": [
                {"id": 5, "name": "key", "required": true, "type": "long"},
                {"id": 6, "name": "at", "required": false, "type": "timestamptz"}]}},
            {"id": 2, "name": "tags", "required": false,
                "type": {"type": "list", "element-id": 7, "element": "string", "element-required": false}},
            {"id": 3, "name": "m", "required": false, "type": {"type": "map", "key-id": 8, "key": "string",
                "value-id": 9, "value": {"type": "struct", "fields": [{"id": 10, "name": "x", "required": false, "type": "int"}]},
                "value-required": true}},
            {"id": 4, "name": "city", "required": false, "type": "string"}]}])
    );
    assert_eq!(
        value["partition-specs"],
        json!([{"spec-id": 0, "fields": [{"source-id": 6, "field-id": 1000, "name": "d", "transform": "day"}]}])
    );
    assert_eq!(value["sort-orders"][0]["order-id"], 1);
    assert_eq!(value["sort-orders"][0]["fields"][0]["source-id"], 4);
    assert_eq!((got.last_column_id(), got.last_partition_id(), got.default_sort_order_id()), (10, 1000, 1));
    reread(&got);
}

/// Flink numbers provisional columns from 0 and names 0 as identifier.
#[test]
fn provisional_ids_may_start_at_zero() {
    let got = create_with(json!({"schema": {"type": "struct", "identifier-field-ids": [0], "fields": [
        {"id": 0, "name": "id", "required": true, "type": "int"}, {"id": 1, "name": "v", "required": false, "type": "string"}]}}))
    .unwrap();
    let schema = got.current_schema().unwrap();
    assert_eq!(schema.identifier_field_ids, [1]);
    assert_eq!(schema.fields.iter().map(|f| f.id).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn null_is_absent_and_the_rest_has_defaults() {
    let got = create_with(json!({"name": "t", "schema": columns(), "location": null, "partition-spec": null,
        "write-order": null, "stage-create": null, "properties": null}))
    .unwrap();
    assert_eq!(got.format_version(), 2);
    assert_eq!((got.default_spec_id(), got.last_partition_id(), got.default_sort_order_id()), (0, 999, 0));
    assert_eq!(summary(&got), Summary { snapshot_id: -1, schema_id: 0, spec_id: 0, sort_order_id: 0 });
}

#[test]
fn format_version_is_honoured_and_reserved_keys_are_not_kept() {
    for version in 1..=3 {
        let got = table(version);
        assert_eq!(got.format_version(), version);
        assert_eq!(got.properties().keys().collect::<Vec<_>>(), ["owner"]);
        reread(&got);
    }
    let keys = ["uuid", "snapshot-count", "current-schema", "nessie.staged", "nessie.commit.id", "kept"];
    let properties: Value =
        keys.iter().map(|k| ((*k).to_owned(), json!("x"))).collect::<serde_json::Map<_, _>>().into();
    let got = create_with(json!({"schema": columns(), "properties": properties})).unwrap();
    assert_eq!(got.properties().keys().collect::<Vec<_>>(), ["kept"]);
    for version in ["0", "4", "x", ""] {
        let error =
            create_with(json!({"schema": columns(), "properties": {"format-version": version}})).unwrap_err();
        assert_eq!(error, invalid(&format!("Unsupported format version: v{version} (supported: v1 to v3)")));
    }
}

#[test]
fn properties_may_come_as_numbers_but_not_as_lists() {
    let got = create_with(json!({"schema": columns(), "properties": {"a": 1, "b": true}})).unwrap();
    assert_eq!((got.properties()["a"].as_str(), got.properties()["b"].as_str()), ("1", "true"));
    let request = json!({"schema": columns(), "properties": {"a": [1]}});
    assert!(
        serde_json::from_value::<CreateTable>(request)
            .unwrap_err()
            .to_string()
            .contains("property a must be a string")
    );
}

fn typed(field_type: Value, format_version: u8) -> Result<TableMetadata, Error> {
    create_with(
        json!({"schema": {"type": "struct", "fields": [{"id": 1, "name": "v", "required": false, "type": field_type}]},
        "properties": {"format-version": format_version}}),
    )
}

#[test]
fn types_are_legal_from_their_version_on() {
    for kind in ["variant", "unknown", "timestamp_ns", "timestamptz_ns", "geometry(srid:4326)", "geography"] {
        for version in [1, 2] {
            let text = format!(
                "Invalid schema for v{version}:\n- Invalid type for v: {kind} is not supported until v3"
            );
            assert_eq!(typed(json!(kind), version).unwrap_err(), invalid(&text));
        }
        reread(&typed(json!(kind), 3).unwrap());
    }
    for kind in
        ["decimal(9,2)", "decimal(38, 10)", "fixed[16]", "uuid", "time", "date", "timestamp", "binary"]
    {
        reread(&typed(json!(kind), 1).unwrap());
    }
    for kind in ["decimal(39,2)", "paint", "fixed[]"] {
        let text = format!("Invalid schema for v3:\n- Invalid type for v: cannot parse type string: {kind}");
        assert_eq!(typed(json!(kind), 3).unwrap_err(), invalid(&text));
    }
}

#[test]
fn defaults_are_legal_from_v3_on() {
    let request = |version: u8| {
        json!({"schema": {"type": "struct", "fields": [
            {"id": 1, "name": "v", "required": false, "type": "double", "initial-default": 0.1, "write-default": 34}]},
            "properties": {"format-version": version}})
    };
    assert_eq!(
        create_with(request(2)).unwrap_err(),
        invalid(
            "Invalid schema for v2:\n- Invalid initial default for v: non-null default (0.1) is not supported until v3\n- Invalid write default for v: non-null default (34) is not supported until v3"
        )
    );
    assert_eq!(
        create_with(request(3)).unwrap().to_value()["schemas"][0]["fields"][0]["initial-default"],
        0.1
    );
}

#[test]
fn identifier_fields_are_checked() {
    let fields = json!([
        {"id": 1, "name": "ok", "required": true, "type": "long"}, {"id": 2, "name": "opt", "required": false, "type": "long"},
        {"id": 3, "name": "f", "required": true, "type": "double"},
        {"id": 4, "name": "s", "required": true, "type": {"type": "struct", "fields": [{"id": 5, "name": "x", "required": true, "type": "int"}]}},
        {"id": 6, "name": "os", "required": false, "type": {"type": "struct", "fields": [{"id": 7, "name": "x", "required": true, "type": "int"}]}},
        {"id": 8, "name": "l", "required": true, "type": {"type": "list", "element-id": 9, "element": "int", "element-required": true}}]);
    let with = |id: i32| {
        create_with(json!({"schema": {"type": "struct", "identifier-field-ids": [id], "fields": fields}}))
    };
    assert!(with(1).is_ok() && with(5).is_ok());
    for (id, text) in [
        (99, "Cannot add fieldId 99 as an identifier field: field does not exist"),
        (2, "Cannot add field opt as an identifier field: not a required field"),
        (3, "Cannot add field f as an identifier field: must not be float or double field"),
        (4, "Cannot add field s as an identifier field: not a primitive type field"),
        (7, "Cannot add field os.x as an identifier field: must not be nested in an optional field os"),
        (9, "Cannot add field l.element as an identifier field: must not be nested in l"),
    ] {
        assert_eq!(with(id).unwrap_err(), invalid(text));
    }
}

#[test]
fn specs_and_orders_are_checked() {
    let with = |spec: Value, order: Value| {
        create_with(json!({"schema": columns(), "partition-spec": spec, "write-order": order}))
    };
    let spec = |source: i32, name: &str, transform: &str| json!({"fields": [{"source-id": source, "name": name, "transform": transform}]});
    for (bad, text) in [
        (spec(9, "d", "day"), "Cannot find source column for partition field: d: day(9)"),
        (spec(3, "d", "day"), "Invalid source type string for transform: day(3)"),
        (
            spec(3, "id", "identity"),
            "Cannot create identity partition sourced from different field in schema: id",
        ),
        (spec(1, "id", "bucket[4]"), "Cannot create partition from name that exists in schema: id"),
        (spec(1, "", "bucket[4]"), "Cannot use empty partition name: "),
        (
            json!({"fields": [{"source-id": 1, "name": "b", "transform": "bucket[4]"}, {"source-id": 3, "name": "b", "transform": "identity"}]}),
            "Cannot use partition name more than once: b",
        ),
        (
            json!({"fields": [{"source-ids": [1, 3], "name": "b", "transform": "bucket[4]"}]}),
            "Invalid partition field b: multi-argument transforms are not supported until v3",
        ),
    ] {
        assert_eq!(with(bad, Value::Null).unwrap_err(), invalid(text));
    }
    let order = |source: i32, transform: &str| json!({"fields": [{"source-id": source, "transform": transform, "direction": "asc", "null-order": "nulls-first"}]});
    assert_eq!(
        with(Value::Null, order(9, "identity")).unwrap_err(),
        invalid("Cannot find source column for sort field: identity(9)")
    );
    assert_eq!(
        with(Value::Null, order(3, "hour")).unwrap_err(),
        invalid("Invalid source type string for transform: hour(3)")
    );
    // A transform of tomorrow is kept.
    let got = with(spec(3, "z", "zorder[3]"), order(3, "collate[de]")).unwrap();
    assert_eq!(got.spec(0).unwrap().fields[0].transform, "zorder[3]");
    reread(&got);
}

#[test]
fn bounds_are_kept() {
    let deep = (0..40).fold(json!("int"), |inner, id| json!({"type": "list", "element-id": id + 10, "element": inner, "element-required": false}));
    assert!(
        matches!(typed(deep, 2), Err(Error::BadRequest(text)) if text.starts_with("Schema is nested too deeply"))
    );
    let wide: Vec<Value> = (0..=crate::bounds::SCHEMA_FIELDS_MAX)
        .map(|id| json!({"id": id, "name": format!("c{id}"), "required": false, "type": "int"}))
        .collect();
    assert!(
        matches!(create_with(json!({"schema": {"type": "struct", "fields": wide}})), Err(Error::BadRequest(text)) if text.starts_with("Too many columns"))
    );
    let name = "x".repeat(crate::bounds::NAME_BYTES_MAX + 1);
    assert!(matches!(
        create_with(json!({"schema": {"type": "struct", "fields": [{"id": 1, "name": name, "required": false, "type": "int"}]}})),
        Err(Error::BadRequest(text)) if text.starts_with("Column name is too long")
    ));
}

#[test]
fn ids_and_names_are_unique() {
    let with = |a: Value, b: Value| create_with(json!({"schema": {"type": "struct", "fields": [a, b]}}));
    let field = |id: i32, name: &str| json!({"id": id, "name": name, "required": false, "type": "int"});
    assert_eq!(
        with(field(1, "a"), field(1, "b")).unwrap_err(),
        invalid("Invalid schema: field id 1 is used more than once: a and b")
    );
    assert_eq!(
        with(field(1, "a"), field(2, "a")).unwrap_err(),
        invalid("Invalid schema: multiple fields for name a: 1 and 2")
    );
    assert_eq!(
        with(field(1, "a"), field(-2, "b")).unwrap_err(),
        invalid("Invalid schema: field b has a negative id: -2")
    );
}

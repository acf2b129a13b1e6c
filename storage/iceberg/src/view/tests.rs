use serde_json::{Value, json};
use uuid::Uuid;

use super::*;
use crate::Error;

const NOW_MS: i64 = 1_766_000_000_000;
const UUID: Uuid = Uuid::from_u128(0x7b1e_0000_0000_4000_8000_0000_0000_0002);

fn schema(id: i32, column: &str) -> Value {
    json!({"type": "struct", "schema-id": id, "fields": [{"id": 0, "name": column, "required": false, "type": "long"}]})
}

fn version(schema_id: i32, queries: &[(&str, &str)]) -> Value {
    let queries: Vec<Value> =
        queries.iter().map(|(dialect, sql)| json!({"type": "sql", "dialect": dialect, "sql": sql})).collect();
    json!({"version-id": 1, "timestamp-ms": NOW_MS, "schema-id": schema_id, "summary": {"engine-name": "spark"},
        "default-namespace": ["eu"], "representations": queries})
}

fn create_with(view_version: Value) -> Result<ViewMetadata, Error> {
    let request =
        json!({"name": "v", "schema": schema(0, "c"), "view-version": view_version, "properties": {}});
    create(&serde_json::from_value(request).unwrap(), UUID, "s3://lake/eu/v/", NOW_MS + 5)
}

fn view() -> ViewMetadata {
    create_with(version(0, &[("spark", "select count(*) c from orders")])).unwrap()
}

fn commit(base: &ViewMetadata, updates: Value) -> Result<Applied, Error> {
    let updates: Vec<ViewUpdate> = serde_json::from_value(updates).unwrap();
    apply(base, &updates, NOW_MS + 1_000)
}

fn changed(base: &ViewMetadata, updates: Value) -> ViewMetadata {
    let applied = commit(base, updates).unwrap();
    assert!(applied.changed, "nothing changed");
    let json = applied.metadata.to_json();
    let again = ViewMetadata::parse(&json).unwrap();
    assert_eq!((&again, again.to_json()), (&applied.metadata, json));
    applied.metadata
}

fn unchanged(base: &ViewMetadata, updates: Value) {
    assert!(!commit(base, updates).unwrap().changed);
}

fn refused(base: &ViewMetadata, updates: Value, text: &str) {
    assert_eq!(commit(base, updates).unwrap_err(), Error::Validation(text.to_owned()));
}

fn add_version(view_version: Value) -> Value {
    json!({"action": "add-view-version", "view-version": view_version})
}

fn set_version(id: i32) -> Value {
    json!({"action": "set-current-view-version", "view-version-id": id})
}

fn replace(query: &str) -> Value {
    let mut new = version(0, &[("spark", query)]);
    new["timestamp-ms"] = json!(NOW_MS + 500);
    json!([add_version(new), set_version(-1)])
}

fn ids(metadata: &ViewMetadata) -> (Vec<i32>, Vec<i32>) {
    (
        metadata.versions().iter().map(|v| v.version_id).collect(),
        metadata.version_log().iter().map(|e| e.version_id).collect(),
    )
}

#[test]
fn creating() {
    let got = view();
    assert_eq!(
        got.to_value(),
        json!({"view-uuid": UUID.to_string(), "format-version": 1, "location": "s3://lake/eu/v", "properties": {},
            "schemas": [schema(0, "c")], "current-version-id": 1,
            "versions": [version(0, &[("spark", "select count(*) c from orders")])],
            "version-log": [{"timestamp-ms": NOW_MS, "version-id": 1}]})
    );
    assert_eq!((got.current_version_id(), got.current_schema_id()), (1, 0));
    // Without properties, with ids of the client's own.
    let mut odd = version(7, &[("spark", "select 1")]);
    odd["version-id"] = json!(9);
    odd["timestamp-ms"] = json!(0);
    let request = json!({"schema": schema(7, "c"), "view-version": odd});
    let got = create(&serde_json::from_value(request).unwrap(), UUID, "s3://x", NOW_MS + 5).unwrap();
    assert_eq!(
        (got.current_version_id(), got.current_schema_id(), got.version_log()[0].timestamp_ms),
        (1, 0, NOW_MS + 5)
    );
}

#[test]
fn a_dialect_stands_once() {
    let text = "Invalid view version: Cannot add multiple queries for dialect trino";
    let twice = version(0, &[("trino", "select 1"), ("TRINO", "select 2")]);
    assert_eq!(create_with(twice.clone()).unwrap_err(), Error::Validation(text.to_owned()));
    refused(&view(), json!([add_version(twice)]), text);
    let none = "Invalid view version: Cannot add a version without representations";
    assert_eq!(create_with(version(0, &[])).unwrap_err(), Error::Validation(none.to_owned()));
    let mut bare = version(0, &[("spark", "x")]);
    bare["representations"][0].as_object_mut().unwrap().shift_remove("sql");
    assert!(matches!(create_with(bare), Err(Error::Validation(_))));
    // Other kinds of representation are kept without a look inside.
    let mut other = version(0, &[("spark", "x")]);
    other["representations"][0] = json!({"type": "plan", "bytes": "AA=="});
    assert_eq!(
        create_with(other.clone()).unwrap().to_value()["versions"][0]["representations"],
        other["representations"]
    );
}

#[test]
fn replacing_with_a_new_schema() {
    let mut new = version(-1, &[("spark", "select 1 n")]);
    new["timestamp-ms"] = json!(NOW_MS + 300_000);
    let got = changed(
        &view(),
        json!([{"action": "add-schema", "schema": schema(1, "n")}, add_version(new), set_version(-1)]),
    );
    assert_eq!(
        (got.current_version_id(), got.current_schema_id(), ids(&got)),
        (2, 1, (vec![1, 2], vec![1, 2]))
    );
    assert_eq!(got.version_log()[1].timestamp_ms, NOW_MS + 300_000, "the new version's own time");
    let back = changed(&got, json!([set_version(1)]));
    assert_eq!((ids(&back).1, back.version_log()[2].timestamp_ms), (vec![1, 2, 1], NOW_MS + 1_000));
}

#[test]
fn equal_versions_and_schemas_are_reused() {
    let base = view();
    let same = version(0, &[("spark", "select count(*) c from orders")]);
    unchanged(
        &base,
        json!([{"action": "add-schema", "schema": schema(4, "c")}, add_version(same.clone()), set_version(-1)]),
    );
    let got = changed(&base, replace("select 2"));
    let back = changed(&got, json!([add_version(same), set_version(-1)]));
    assert_eq!((back.current_version_id(), ids(&back)), (1, (vec![1, 2], vec![1, 2, 1])));
}

#[test]
fn one_log_entry_per_commit() {
    let steps = json!([
        add_version(version(0, &[("spark", "a")])),
        set_version(-1),
        add_version(version(0, &[("spark", "b")])),
        set_version(-1)
    ]);
    assert_eq!(ids(&changed(&view(), steps)), (vec![1, 2, 3], vec![1, 3]));
    // A version without becoming current leaves no entry.
    assert_eq!(
        ids(&changed(&view(), json!([add_version(version(0, &[("spark", "a")]))]))),
        (vec![1, 2], vec![1])
    );
}

#[test]
fn dialects_are_not_lost_unless_allowed() {
    let base = create_with(version(0, &[("spark", "x"), ("Trino", "y")])).unwrap();
    let text = "Cannot replace view due to loss of view dialects (replace.drop-dialect.allowed=false):\nPrevious dialects: [spark, trino]\nNew dialects: [spark]";
    refused(&base, replace("z"), text);
    let all = version(0, &[("SPARK", "z"), ("trino", "z"), ("duckdb", "z")]);
    changed(&base, json!([add_version(all), set_version(-1)]));
    let mut allowed = replace("z");
    allowed
        .as_array_mut()
        .unwrap()
        .push(json!({"action": "set-properties", "updates": {"replace.drop-dialect.allowed": "true"}}));
    changed(&base, allowed);
}

#[test]
fn history_is_cut() {
    let grow =
        |base: ViewMetadata, n: i32| (0..n).fold(base, |v, n| changed(&v, replace(&format!("select {n}"))));
    let got = grow(view(), 14);
    assert_eq!(ids(&got), ((6..=15).collect(), (6..=15).collect()));
    let small = changed(
        &view(),
        json!([{"action": "set-properties", "updates": {"version.history.num-entries": "2"}}]),
    );
    let got = grow(small.clone(), 3);
    assert_eq!(ids(&got), (vec![3, 4], vec![3, 4]));
    // Versions added together stay together.
    let many: Vec<Value> = (0..4)
        .map(|n| add_version(version(0, &[("spark", &format!("s{n}"))])))
        .chain([set_version(-1)])
        .collect();
    assert_eq!(ids(&changed(&got, json!(many))).0, [5, 6, 7, 8]);
    // The current version stays however old; what was logged before a dropped one goes.
    let old = changed(&got, json!([set_version(3)]));
    let kept = changed(&old, json!([add_version(version(0, &[("spark", "late")]))]));
    assert_eq!(ids(&kept), (vec![3, 5], vec![3]));
    refused(
        &view(),
        json!([{"action": "set-properties", "updates": {"version.history.num-entries": "0"}}]),
        "version.history.num-entries must be positive but was 0",
    );
}

#[test]
fn refusals() {
    let base = view();
    refused(
        &base,
        json!([{"action": "assign-uuid", "uuid": Uuid::nil().to_string()}]),
        "Cannot reassign uuid",
    );
    unchanged(&base, json!([{"action": "assign-uuid", "uuid": UUID.to_string().to_uppercase()}]));
    refused(
        &base,
        json!([set_version(-1)]),
        "Cannot set last version id: no current version id has been set",
    );
    refused(&base, json!([set_version(7)]), "Cannot set current version to unknown version: 7");
    refused(
        &base,
        json!([add_version(version(-1, &[("spark", "x")]))]),
        "Cannot set last added schema: no schema has been added",
    );
    refused(
        &base,
        json!([add_version(version(7, &[("spark", "x")]))]),
        "Cannot add version with unknown schema: 7",
    );
    unchanged(&base, json!([{"action": "upgrade-format-version", "format-version": 1}]));
    refused(
        &base,
        json!([{"action": "upgrade-format-version", "format-version": 0}]),
        "Cannot downgrade v1 view to v0",
    );
    refused(
        &base,
        json!([{"action": "upgrade-format-version", "format-version": 2}]),
        "Cannot upgrade view to unsupported format version: v2 (supported: v1)",
    );
}

#[test]
fn properties_and_location() {
    let base = view();
    let got = changed(
        &base,
        json!([{"action": "set-properties", "updates": {"a": "1", "b": "2", "nessie.commit.id": "x"}},
            {"action": "remove-properties", "removals": ["a", "absent"]}, {"action": "set-location", "location": "s3://other/"}]),
    );
    assert_eq!((got.to_value()["properties"].clone(), got.location()), (json!({"b": "2"}), "s3://other"));
    unchanged(&base, json!([]));
    unchanged(&got, json!([{"action": "set-properties", "updates": {"b": "2"}}]));
}

#[test]
fn requirement() {
    let base = view();
    let with = |uuid: &str| {
        serde_json::from_value::<ViewRequirement>(json!({"type": "assert-view-uuid", "uuid": uuid})).unwrap()
    };
    assert_eq!(with(&UUID.to_string().to_uppercase()).check(&base), Ok(()));
    let text = format!("Requirement failed: view UUID does not match: expected {UUID} != other");
    assert_eq!(with("other").check(&base), Err(Error::Requirement(text)));
    let unknown = serde_json::from_value::<ViewRequirement>(json!({"type": "assert-full-moon"})).unwrap_err();
    assert_eq!(unknown.to_string(), "Unknown requirement type: assert-full-moon");
    assert!(serde_json::from_value::<ViewRequirement>(json!({"type": "assert-view-uuid"})).is_err());
}

#[test]
fn every_action_is_known_and_comes_back_as_sent() {
    let examples = json!([{"action": "assign-uuid", "uuid": UUID.to_string()}, {"action": "upgrade-format-version", "format-version": 1},
        {"action": "add-schema", "schema": schema(0, "c")}, {"action": "set-location", "location": "s3://x"},
        {"action": "set-properties", "updates": {}}, {"action": "remove-properties", "removals": []},
        add_version(version(0, &[("spark", "x")])), set_version(-1)]);
    let parsed: Vec<ViewUpdate> = serde_json::from_value(examples.clone()).unwrap();
    assert_eq!(serde_json::to_value(&parsed).unwrap(), examples);
    let actions: Vec<&str> =
        examples.as_array().unwrap().iter().map(|u| u["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ViewUpdate::ACTIONS);
    assert_eq!(
        ViewUpdate::from_value(json!({"action": "add-snapshot"})),
        Err(Error::BadRequest("Unknown update action: add-snapshot".to_owned()))
    );
}

#[test]
fn documents() {
    let mut value = view().to_value();
    for pointer in ["", "/schemas/0", "/versions/0", "/versions/0/representations/0", "/version-log/0"] {
        value.pointer_mut(pointer).unwrap()["x-unknown"] = json!({"b": [1], "a": i64::MIN});
    }
    let got = ViewMetadata::parse(&serde_json::to_vec(&value).unwrap()).unwrap();
    assert_eq!(got.to_value(), value);
    let check = |change: &dyn Fn(&mut Value), expected: &str| {
        let mut value = view().to_value();
        change(&mut value);
        match ViewMetadata::parse(&serde_json::to_vec(&value).unwrap()) {
            Err(Error::BadRequest(text)) => assert!(text.contains(expected), "{text}"),
            other => panic!("{other:?}"),
        }
    };
    check(&|v| v["format-version"] = json!(2), "cannot read unsupported view version 2");
    check(&|v| v["current-version-id"] = json!(2), "cannot find current version 2 in view versions");
    check(&|v| v["versions"][0]["schema-id"] = json!(5), "cannot find schema 5 of view version 1");
    check(&|v| v["schemas"] = json!([schema(0, "a"), schema(0, "b")]), "used more than once");
}

use super::*;

fn check(requirement: Value, base: Option<&TableMetadata>, expected: Result<(), &str>) {
    let requirement: TableRequirement = serde_json::from_value(requirement).unwrap();
    let expected = expected.map_err(|text| Error::Requirement(text.to_owned()));
    assert_eq!(requirement.check(base), expected, "{requirement:?}");
    assert_eq!(
        serde_json::from_value::<TableRequirement>(serde_json::to_value(&requirement).unwrap()).unwrap(),
        requirement
    );
}

#[test]
fn create() {
    let requirement: TableRequirement = serde_json::from_value(json!({"type": "assert-create"})).unwrap();
    assert_eq!(requirement.check(None), Ok(()));
    let expected = Error::AlreadyExists("Requirement failed: table already exists".to_owned());
    assert_eq!(requirement.check(Some(&table(2))), Err(expected));
    let other = TableRequirement::AssertDefaultSpecId { default_spec_id: 0 };
    assert_eq!(is_create(std::slice::from_ref(&requirement)), Ok(true));
    assert_eq!(is_create(std::slice::from_ref(&other)), Ok(false));
    assert_eq!(is_create(&[]), Ok(false));
    assert!(matches!(is_create(&[requirement, other]), Err(Error::BadRequest(_))));
}

#[test]
fn uuid() {
    let base = table(2);
    let own = base.uuid().unwrap().to_owned();
    check(json!({"type": "assert-table-uuid", "uuid": own}), Some(&base), Ok(()));
    check(json!({"type": "assert-table-uuid", "uuid": own.to_uppercase()}), Some(&base), Ok(()));
    let text = format!("Requirement failed: UUID does not match: expected {own} != other");
    check(json!({"type": "assert-table-uuid", "uuid": "other"}), Some(&base), Err(&text));
    check(
        json!({"type": "assert-table-uuid", "uuid": own}),
        None,
        Err("Requirement failed: table does not exist"),
    );
}

#[test]
fn reference() {
    let (empty, base) = (table(2), appended());
    let tagged = changed(&base, json!([set_ref("v1", "tag", 1)]));
    for absent in [json!(null), json!(-1)] {
        let none = json!({"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": absent});
        check(none.clone(), Some(&empty), Ok(()));
        check(none.clone(), Some(&base), Err("Requirement failed: branch main was created concurrently"));
        check(none, None, Ok(()));
    }
    let missing = json!({"type": "assert-ref-snapshot-id", "ref": "main"});
    check(missing.clone(), Some(&empty), Ok(()));
    check(missing, Some(&base), Err("Requirement failed: branch main was created concurrently"));
    let at = |name: &str, id: i64| json!({"type": "assert-ref-snapshot-id", "ref": name, "snapshot-id": id});
    check(at("main", 3), Some(&base), Ok(()));
    check(at("main", 2), Some(&base), Err("Requirement failed: branch main has changed: expected id 2 != 3"));
    check(at("v1", 2), Some(&tagged), Err("Requirement failed: tag v1 has changed: expected id 2 != 1"));
    check(
        at("x", i64::MAX),
        Some(&base),
        Err("Requirement failed: branch or tag x is missing, expected 9223372036854775807"),
    );
}

#[test]
fn ids() {
    let base = table(2);
    for (kind, field, good, text) in [
        (
            "assert-last-assigned-field-id",
            "last-assigned-field-id",
            3,
            "last assigned field id changed: expected id 77 != 3",
        ),
        ("assert-current-schema-id", "current-schema-id", 0, "current schema changed: expected id 77 != 0"),
        (
            "assert-last-assigned-partition-id",
            "last-assigned-partition-id",
            1000,
            "last assigned partition id changed: expected id 77 != 1000",
        ),
        (
            "assert-default-spec-id",
            "default-spec-id",
            0,
            "default partition spec changed: expected id 77 != 0",
        ),
        (
            "assert-default-sort-order-id",
            "default-sort-order-id",
            1,
            "default sort order changed: expected id 77 != 1",
        ),
    ] {
        check(json!({"type": kind, field: good}), Some(&base), Ok(()));
        check(json!({"type": kind, field: 77}), Some(&base), Err(&format!("Requirement failed: {text}")));
        let skipped = kind.starts_with("assert-last");
        let expected = if skipped { Ok(()) } else { Err("Requirement failed: table does not exist") };
        check(json!({"type": kind, field: 77}), None, expected);
        let missing = TableRequirement::from_value(json!({"type": kind})).unwrap_err();
        assert_eq!(
            missing,
            Error::BadRequest(format!("Cannot parse requirement {kind}: missing field {field}"))
        );
        let text = TableRequirement::from_value(json!({"type": kind, field: 1.5})).unwrap_err();
        assert_eq!(
            text,
            Error::BadRequest(format!("Cannot parse requirement {kind}: field {field} must be an integer"))
        );
    }
}

#[test]
fn unknown_ones_are_named() {
    let unknown = TableRequirement::from_value(json!({"type": "assert-full-moon"})).unwrap_err();
    assert_eq!(unknown, Error::BadRequest("Unknown requirement type: assert-full-moon".to_owned()));
    let error = serde_json::from_value::<TableRequirement>(json!({"type": "assert-full-moon"})).unwrap_err();
    assert!(error.to_string().contains("assert-full-moon"));
    for bad in [json!({}), json!(7), json!({"type": 7})] {
        assert!(matches!(TableRequirement::from_value(bad), Err(Error::BadRequest(_))));
    }
}

use super::*;

#[test]
fn appends_build_a_history() {
    let got = appended();
    assert_eq!(snapshot_ids(&got), [1, 2, 3]);
    assert_eq!(log_ids(&got), [1, 2, 3]);
    assert_eq!(got.snapshot_log()[0].timestamp_ms, NOW_MS + 1, "the snapshot's own time");
    assert_eq!(
        (got.current_snapshot_id(), got.last_sequence_number(), got.metadata_log().len()),
        (Some(3), 3, 3)
    );
    assert_eq!(got.last_updated_ms(), NOW_MS + 1_000);
    assert_eq!(got.current_snapshot().unwrap().parent_snapshot_id, Some(2));
    assert_eq!(summary(&got).snapshot_id, 3);
}

#[test]
fn adding_moves_no_reference() {
    let got = changed(&appended(), json!([add(4, Some(3), 4)]));
    assert_eq!((got.current_snapshot_id(), log_ids(&got)), (Some(3), vec![1, 2, 3]));
}

#[test]
fn stale_sequence_numbers_conflict() {
    let base = appended();
    let text = "Cannot add snapshot with sequence number 3 older than last sequence number 3";
    refused(&base, json!([add(4, Some(2), 3)]), Error::Conflict(text.to_owned()));
    // A snapshot without a parent starts anew.
    assert_eq!(changed(&base, json!([add(4, None, 1)])).last_sequence_number(), 3);
    refused(
        &base,
        json!([add(4, None, -1)]),
        invalid("Cannot add snapshot with negative sequence number -1"),
    );
}

#[test]
fn snapshots_are_checked() {
    let base = appended();
    refused(&base, json!([add(3, Some(2), 9)]), invalid("Snapshot already exists for id: 3"));
    refused(
        &base,
        json!([add(-1, Some(3), 9)]),
        invalid("Cannot add snapshot with id -1: it stands for no snapshot"),
    );
    let mut odd = add(4, Some(3), 4);
    odd["snapshot"]["schema-id"] = json!(8);
    refused(&base, json!([odd]), invalid("Cannot add snapshot 4 with unknown schema: 8"));
    let mut bare = add(4, Some(3), 4);
    bare["snapshot"].as_object_mut().unwrap().remove("manifest-list");
    refused(&base, json!([bare.clone()]), invalid("Cannot add snapshot 4: manifest-list is missing"));
    bare["snapshot"]["manifests"] = json!(["s3://m1"]);
    refused(&base, json!([bare.clone()]), invalid("Cannot add snapshot 4: manifest-list is missing"));
    let v1 = changed(&table(1), json!([bare]));
    assert_eq!(v1.to_value()["snapshots"][0]["manifests"], json!(["s3://m1"]));
}

#[test]
fn extreme_ids_are_exact() {
    let mut big = add(i64::MAX, None, i64::MAX);
    big["snapshot"]["timestamp-ms"] = json!(NOW_MS);
    big["snapshot"]["summary"]["flink.max-committed-checkpoint-id"] = json!("9223372036854775807");
    big["snapshot"]["extra-number"] = json!(u64::MAX);
    let got = changed(
        &table(2),
        json!([
            big,
            set_ref("main", "branch", i64::MAX),
            add(i64::MIN + 1, None, 1),
            set_ref("t", "tag", i64::MIN + 1)
        ]),
    );
    let text = String::from_utf8(got.to_json()).unwrap();
    assert!(text.contains("\"current-snapshot-id\":9223372036854775807"));
    assert!(text.contains("\"snapshot-id\":-9223372036854775807") && text.contains("18446744073709551615"));
    assert_eq!(got.last_sequence_number(), i64::MAX);
}

fn rows(id: i64, parent: Option<i64>, sequence: i64, first: i64, added: i64) -> Value {
    let mut update = add(id, parent, sequence);
    update["snapshot"]["first-row-id"] = json!(first);
    update["snapshot"]["added-rows"] = json!(added);
    update
}

#[test]
fn row_ids_only_count_up() {
    let base = table(3);
    let a = changed(&base, json!([rows(1, None, 1, 0, 5), set_ref("main", "branch", 1)]));
    assert_eq!(a.next_row_id(), 5);
    let text = "Cannot add a snapshot, first-row-id is behind table next-row-id: 0 < 5";
    refused(&a, json!([rows(2, Some(1), 2, 0, 7)]), Error::Conflict(text.to_owned()));
    let b = changed(&a, json!([rows(2, Some(1), 2, 5, 7), set_ref("main", "branch", 2)]));
    assert_eq!(b.next_row_id(), 12);
    assert_eq!(changed(&b, json!([{"action": "remove-snapshots", "snapshot-ids": [1]}])).next_row_id(), 12);
    refused(&base, json!([add(1, None, 1)]), invalid("Cannot add a snapshot: first-row-id is null"));
    let mut half = add(1, None, 1);
    half["snapshot"]["first-row-id"] = json!(0);
    refused(&base, json!([half]), invalid("Cannot add a snapshot: added-rows is null"));
    refused(
        &base,
        json!([rows(1, None, 1, 0, -1)]),
        invalid("Cannot add a snapshot: added-rows is negative: -1"),
    );
    refused(
        &base,
        json!([rows(1, None, 1, i64::MAX, 1)]),
        invalid("Cannot add a snapshot: row ids are used up"),
    );
}

#[test]
fn references() {
    let base = appended();
    let got = changed(&base, json!([set_ref("audit", "branch", 1), set_ref("v1", "tag", 1)]));
    assert_eq!(
        got.to_value()["refs"],
        json!({"audit": {"snapshot-id": 1, "type": "branch"}, "main": {"snapshot-id": 3, "type": "branch"}, "v1": {"snapshot-id": 1, "type": "tag"}})
    );
    assert_eq!((got.current_snapshot_id(), log_ids(&got)), (Some(3), vec![1, 2, 3]));
    unchanged(
        &got,
        json!([set_ref("v1", "tag", 1), set_ref("main", "branch", 3), {"action": "remove-snapshot-ref", "ref-name": "absent"}]),
    );
    let got = changed(&got, json!([{"action": "remove-snapshot-ref", "ref-name": "audit"}]));
    assert_eq!(got.refs().keys().collect::<Vec<_>>(), ["main", "v1"]);

    refused(&base, json!([set_ref("x", "branch", 9)]), invalid("Cannot set x to unknown snapshot: 9"));
    refused(
        &base,
        json!([set_ref("main", "tag", 3)]),
        invalid("Cannot set main to a tag: main must be a branch"),
    );
    for (kind, field, text) in [
        ("branch", "min-snapshots-to-keep", "Min snapshots to keep must be greater than 0"),
        ("branch", "max-snapshot-age-ms", "Max snapshot age must be greater than 0 ms"),
        ("tag", "max-ref-age-ms", "Max reference age must be greater than 0"),
        ("tag", "min-snapshots-to-keep", "Tags do not support setting minSnapshotsToKeep"),
        ("tag", "max-snapshot-age-ms", "Tags do not support setting maxSnapshotAgeMs"),
    ] {
        let mut update = set_ref("x", kind, 1);
        update[field] = json!(0);
        refused(&base, json!([update]), invalid(text));
    }
    let mut kept = set_ref("main", "branch", 3);
    kept["min-snapshots-to-keep"] = json!(5);
    kept["max-snapshot-age-ms"] = json!(i64::MAX);
    let got = changed(&base, json!([kept]));
    assert_eq!((log_ids(&got), got.refs()["main"].min_snapshots_to_keep), (vec![1, 2, 3], Some(5)));
    assert!(matches!(TableUpdate::from_value(set_ref("x", "twig", 1)), Err(Error::BadRequest(_))));
}

#[test]
fn rollback_is_logged_now() {
    let got = changed(&appended(), json!([set_ref("main", "branch", 1)]));
    assert_eq!((got.current_snapshot_id(), log_ids(&got)), (Some(1), vec![1, 2, 3, 1]));
    assert_eq!(got.snapshot_log()[3].timestamp_ms, NOW_MS + 1_000);
}

#[test]
fn only_the_last_state_of_a_commit_is_logged() {
    let steps = json!([
        add(4, Some(3), 4),
        set_ref("main", "branch", 4),
        add(5, Some(4), 5),
        set_ref("main", "branch", 5)
    ]);
    let got = changed(&appended(), steps);
    assert_eq!((log_ids(&got), snapshot_ids(&got)), (vec![1, 2, 3, 5], vec![1, 2, 3, 4, 5]));
}

#[test]
fn removing_snapshots_takes_what_hangs_on_them() {
    let statistics = |id: i64| json!({"snapshot-id": id, "statistics-path": "p", "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1});
    let base = changed(
        &appended(),
        json!([set_ref("old", "tag", 1), set_ref("b", "branch", 3), {"action": "set-statistics", "statistics": statistics(1)},
            {"action": "set-statistics", "statistics": statistics(3)},
            {"action": "set-partition-statistics", "partition-statistics": {"snapshot-id": 2, "statistics-path": "p", "file-size-in-bytes": 1}}]),
    );
    unchanged(&base, json!([{"action": "remove-snapshots", "snapshot-ids": [77, 78]}]));
    let got = changed(&base, json!([{"action": "remove-snapshots", "snapshot-ids": [1, 2, 77]}]));
    assert_eq!((snapshot_ids(&got), log_ids(&got)), (vec![3], vec![3]));
    assert_eq!(got.refs().keys().collect::<Vec<_>>(), ["b", "main"]);
    assert_eq!((got.statistics().len(), got.partition_statistics().len()), (1, 0));

    // History before the newest removed entry is cut, even where its snapshots stay.
    let middle = changed(&base, json!([{"action": "remove-snapshots", "snapshot-ids": [2]}]));
    assert_eq!((snapshot_ids(&middle), log_ids(&middle)), (vec![1, 3], vec![3]));

    let current = changed(&base, json!([{"action": "remove-snapshots", "snapshot-ids": [3]}]));
    assert_eq!(
        (current.current_snapshot_id(), log_ids(&current), snapshot_ids(&current)),
        (None, vec![], vec![1, 2])
    );
    assert_eq!(current.refs().keys().collect::<Vec<_>>(), ["old"]);
}

#[test]
fn removing_main_and_replacing() {
    let base = appended();
    let gone = changed(&base, json!([{"action": "remove-snapshot-ref", "ref-name": "main"}]));
    assert_eq!(
        (gone.current_snapshot_id(), log_ids(&gone), snapshot_ids(&gone)),
        (None, vec![], vec![1, 2, 3])
    );
    assert_eq!(gone.to_value()["current-snapshot-id"], -1);
    let schema = json!({"type": "struct", "schema-id": 1, "fields": [{"id": 4, "name": "n", "required": false, "type": "int"}]});
    let replaced = changed(
        &base,
        json!([{"action": "remove-snapshot-ref", "ref-name": "main"}, {"action": "add-schema", "schema": schema},
            {"action": "set-current-schema", "schema-id": -1}, {"action": "add-spec", "spec": {"fields": []}},
            {"action": "set-default-spec", "spec-id": -1}, {"action": "add-sort-order", "sort-order": {"fields": []}},
            {"action": "set-default-sort-order", "sort-order-id": -1}, add(4, None, 4), set_ref("main", "branch", 4)]),
    );
    assert_eq!((snapshot_ids(&replaced), log_ids(&replaced)), (vec![1, 2, 3, 4], vec![1, 2, 3, 4]));
    assert_eq!(replaced.uuid(), base.uuid());
    assert_eq!(summary(&replaced), Summary { snapshot_id: 4, schema_id: 1, spec_id: 1, sort_order_id: 0 });
}

#[test]
fn clocks_of_writers_do_not_break_the_log() {
    let base = appended();
    let last = base.snapshot_log()[2].timestamp_ms;
    let mut late = add(4, Some(3), 4);
    late["snapshot"]["timestamp-ms"] = json!(last - 3_600_000);
    let got = changed(&base, json!([late, set_ref("main", "branch", 4)]));
    assert_eq!(
        got.snapshot_log()[3].timestamp_ms,
        last,
        "an hour back is not written: readers would refuse the document"
    );
    let mut little = add(4, Some(3), 4);
    little["snapshot"]["timestamp-ms"] = json!(last - 30_000);
    let got = changed(&base, json!([little, set_ref("main", "branch", 4)]));
    assert_eq!(got.snapshot_log()[3].timestamp_ms, last - 30_000);
    let mut early = add(4, Some(3), 4);
    early["snapshot"]["timestamp-ms"] = json!(NOW_MS + 86_400_000);
    let got = changed(&base, json!([early, set_ref("main", "branch", 4)]));
    assert_eq!(got.last_updated_ms(), NOW_MS + 86_400_000, "never before what the document holds");
}

#[test]
fn refs_only_shows_what_references_name() {
    let statistics = |id: i64| json!({"action": "set-statistics", "statistics": {"snapshot-id": id, "statistics-path": "p", "file-size-in-bytes": 1, "file-footer-size-in-bytes": 1}});
    let base = changed(&appended(), json!([set_ref("v1", "tag", 1), statistics(1), statistics(2)]));
    let shown = refs_only(&base);
    assert_eq!(snapshot_ids(&shown), [1, 3]);
    assert_eq!(shown.statistics().iter().map(|s| s.snapshot_id).collect::<Vec<_>>(), [1]);
    assert_eq!((log_ids(&shown), shown.refs()), (vec![1, 2, 3], base.refs()));
    assert_eq!(snapshot_ids(&base), [1, 2, 3]);
}

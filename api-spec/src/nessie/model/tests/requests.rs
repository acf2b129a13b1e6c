//! Lenient reading of both spellings, and what is refused.

use serde_json::json;

use super::*;
use crate::syntax::EitherSpelling;

#[test]
fn reference_bodies() {
    let body = read::<ReferenceInput>(
        json!({"type": "TAG", "name": "t", "hash": "CAFEBABE~1", "metadata": {"numTotalCommits": 1}}),
    );
    let body = body.unwrap();
    assert_eq!((body.kind, body.name.as_deref()), (ReferenceKind::Tag, Some("t")));
    assert_eq!(body.hash_spec().unwrap().to_string(), "cafebabe~1");
    let detached =
        read::<ReferenceInput>(json!({"type": "DETACHED", "name": "DETACHED", "hash": H1})).unwrap();
    assert_eq!(detached.name, None);
    assert_eq!(
        read::<ReferenceInput>(json!({"type": "BRANCH", "name": "b", "hash": null})).unwrap().hash,
        None
    );
    both_ways(&detached, json!({"type": "DETACHED", "hash": H1}));

    let error = |wire| read::<ReferenceInput>(wire).unwrap_err();
    assert!(
        error(json!({"type": "TAG", "name": "not valid", "hash": H1})).starts_with(
            "Cannot construct instance of `org.projectnessie.model.ImmutableTag`, problem: Reference name must start \
             with a letter, followed by letters, digits, one of the ./_- characters, not end with a slash or dot, not \
             contain '..' - but was: not valid\n"
        )
    );
    assert!(error(json!({"type": "FOOBAR"})).starts_with(
        "Could not resolve type id 'FOOBAR' as a subtype of `org.projectnessie.model.Reference`"
    ));
    for bad in [
        json!({}),
        json!({"name": "x"}),
        json!({"type": "BRANCH", "hash": H1}),
        json!({"type": "DETACHED"}),
        json!({"type": "BRANCH", "name": "b", "hash": "xyz"}),
        json!({"type": "BRANCH", "name": "b", "hash": ""}),
        json!({"type": "BRANCH", "name": "b", "metadata": []}),
        json!({"type": "BRANCH", "name": "b", "metadata": {"commitMetaOfHEAD": {}}}),
        json!({"type": "BRANCH", "name": "b", "metadata":
            {"commitMetaOfHEAD": {"message": "m", "parentCommitHashes": [{}]}}}),
        json!([]),
        json!("main"),
    ] {
        error(bad);
    }
}

/// As measured on the reference server, which looks at what it ignores.
#[test]
fn lists_are_no_objects_and_ignored_fields_have_a_shape() {
    let refused = |wire: serde_json::Value| read::<MergeRequestV2>(wire.clone()).is_err() || panic!("{wire}");
    let mode = |more: serde_json::Value| {
        let mut mode = json!({"key": {"elements": ["a"]}, "mergeBehavior": "FORCE"});
        mode.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"fromRefName": "b", "fromHash": H1, "keyMergeModes": [mode]})
    };
    let good = mode(json!({"metadata": [{"variant": "x", "more": 1}], "resolvedDocumentation": null,
        "expectedTargetDocumentation": {"mimeType": "text/plain", "text": ""}}));
    assert_eq!(read::<MergeRequestV2>(good).unwrap().key_merge_modes.len(), 1);
    for bad in [
        json!({"metadata": {}}),
        json!({"metadata": [null]}),
        json!({"metadata": [{}]}),
        json!({"metadata": [{"variant": null}]}),
        json!({"metadata": [{"variant": {}}]}),
        json!({"metadata": [["x"]]}),
        json!({"metadata": "x"}),
        json!({"resolvedDocumentation": {}}),
        json!({"resolvedDocumentation": {"mimeType": "text/plain"}}),
        json!({"expectedTargetDocumentation": ["text/plain", ""]}),
        json!({"expectedTargetDocumentation": 1}),
        json!({"key": [["a"]]}),
        json!({"resolvedContent": ["NAMESPACE"]}),
    ] {
        assert!(refused(mode(bad)));
    }
    assert!(refused(
        json!({"fromRefName": "b", "fromHash": H1, "keyMergeModes": [[{"elements": ["a"]}, "FORCE"]]})
    ));
    assert!(refused(json!({"fromRefName": "b", "fromHash": H1, "commitMeta": ["m"]})));
    let operations =
        |meta, operation| read::<Operations>(json!({"commitMeta": meta, "operations": [operation]}));
    let (meta, delete) = (json!({"message": "m"}), json!({"type": "DELETE", "key": {"elements": ["a"]}}));
    assert!(operations(meta.clone(), delete.clone()).is_ok());
    assert!(operations(json!(["m"]), delete).is_err());
    assert!(operations(meta.clone(), json!({"type": "DELETE", "key": [["a"]]})).is_err());
    assert!(operations(meta, json!(["DELETE", {"elements": ["a"]}])).is_err());
    let view = |metadata| {
        read::<Content>(
            json!({"type": "ICEBERG_VIEW", "metadataLocation": "l", "versionId": 1, "schemaId": 1,
            "metadata": metadata}),
        )
    };
    assert!(view(json!({"a": 1})).is_ok() && view(json!(null)).is_ok());
    assert!(view(json!([])).is_err() && view(json!("x")).is_err() && view(json!(1)).is_err());
    assert!(read::<Content>(json!({"type": "NAMESPACE", "elements": ["a"], "metadata": 1})).is_ok());
    assert!(read::<GetMultipleContentsRequest>(json!({"requestedKeys": [[["a"]]]})).is_err());
    let policies = |wire| {
        let config = json!({"type": "GARBAGE_COLLECTOR", "perRefCutoffPolicies": wire});
        read::<UpdateRepositoryConfigRequest>(json!({"config": config}))
    };
    assert!(policies(json!([{"referenceNamePattern": ".*", "policy": "NONE"}])).is_ok());
    assert!(policies(json!([[".*", "NONE"]])).is_err());
    assert!(read::<UpdateRepositoryConfigRequest>(json!({"config": ["GARBAGE_COLLECTOR"]})).is_err());
}

#[test]
fn commit_meta_in_either_spelling() {
    let new = json!({"message": "m", "authors": ["a", "b"], "author": "c", "allSignedOffBy": ["s"],
        "allProperties": {"k": ["1", "2"], "none": []}, "properties": {"x": "y"}});
    let read_meta = |wire| read::<CommitMetaInput>(wire).unwrap();
    let meta = read_meta(new);
    assert_eq!(meta.authors, ["a", "b"]);
    assert_eq!(meta.all_signed_off_by, ["s"]);
    assert_eq!(meta.all_properties, [("k".to_owned(), vec!["1".to_owned(), "2".to_owned()])].into());
    let old = read_meta(json!({"message": "", "author": "c", "signedOffBy": "s", "properties": {"x": "y"},
        "authorTime": "2026-01-01T02:00:00+02:00"}));
    assert_eq!(old.authors, ["c"]);
    assert_eq!(old.all_signed_off_by, ["s"]);
    assert_eq!(old.all_properties, [("x".to_owned(), vec!["y".to_owned()])].into());
    assert_eq!(old.author_time.unwrap().to_string(), "2026-01-01T00:00:00Z");
    let null = read_meta(json!({"message": "", "author": "c", "authors": null, "signedOffBy": "s",
        "allSignedOffBy": null, "properties": {"x": "y"}, "allProperties": null}));
    assert_eq!(
        (null.authors, null.all_signed_off_by, null.all_properties),
        (vec![], vec![], [].into()),
        "null counts"
    );
    let empty = read_meta(
        json!({"message": "", "author": "c", "authors": [], "signedOffBy": "s", "allSignedOffBy": []}),
    );
    assert!(empty.authors.is_empty() && empty.all_signed_off_by.is_empty(), "a list counts even when empty");
    // pynessie sends every unset field as null.
    let nulls = read_meta(
        json!({"message": "m", "hash": null, "committer": null, "author": null, "authors": null,
        "signedOffBy": null, "allSignedOffBy": null, "commitTime": null, "authorTime": null, "properties": null,
        "allProperties": null, "parentCommitHashes": null}),
    );
    assert_eq!(nulls, CommitMetaInput { message: "m".into(), ..CommitMetaInput::default() });
    for bad in [
        json!({}),
        json!({"message": null}),
        json!({"message": "m", "authorTime": "2020-01-01"}),
        json!({"message": "m", "autor": "a"}),
    ] {
        assert!(read::<CommitMetaInput>(bad).is_err());
    }
}

#[test]
fn fields_only_the_server_sets() {
    let refused = |wire| read::<CommitMetaInput>(wire).unwrap().server_set.map(|field| field.to_string());
    let all = json!({"message": "m", "hash": H1, "committer": "c", "commitTime": "2026-01-01T00:00:00Z"});
    assert_eq!(
        refused(all).as_deref(),
        Some("Cannot set the committer on the client side. It is set by the server.")
    );
    assert_eq!(
        refused(json!({"message": "m", "hash": H1, "commitTime": "2026-01-01T00:00:00Z"})).as_deref(),
        Some("Cannot set the commit time on the client side. It is set by the server.")
    );
    assert_eq!(
        refused(json!({"message": "m", "hash": H1})).as_deref(),
        Some("Cannot set the commit hash on the client side. It is set by the server.")
    );
    assert_eq!(
        refused(json!({"message": "m", "parentCommitHashes": [H1]})).as_deref(),
        Some("Cannot set the parent commit hashes on the client side. It is set by the server.")
    );
    assert_eq!(refused(json!({"message": "m", "parentCommitHashes": []})), None);
}

#[test]
fn contents_are_read_leniently() {
    let old = json!({"metadata": {"x": [1]}, "sortOrderId": 0, "specId": 0, "schemaId": 0, "snapshotId": -1,
        "metadataLocation": "s3://b/m1.json", "type": "ICEBERG_TABLE", "unknown": null});
    assert_eq!(read::<Content>(old), Ok(table(None)));
    let delta =
        read::<Content>(json!({"type": "DELTA_LAKE_TABLE", "metadataLocationHistory": null})).unwrap();
    assert_eq!(delta.kind(), ContentType::DeltaLakeTable);
    let error = |wire| read::<Content>(wire).unwrap_err();
    assert!(error(json!({"type": "NOPE"})).starts_with("No type registered for NOPE"));
    assert!(error(json!({"type": "iceberg_table"})).starts_with("No type registered for "));
    assert!(error(json!({"type": "UNKNOWN"})).starts_with("No type registered for "));
    assert!(error(json!({"type": "ICEBERG_TABLE"})).contains("metadataLocation"));
    assert!(
        error(json!({"type": "NAMESPACE", "elements": ["a", "."]}))
            .contains("must not contain a '.' element")
    );
    assert!(
        error(json!({"type": "NAMESPACE", "elements": ["a"], "properties": {"a": null}})).contains("null")
    );
    for bad in [
        json!({"id": null}),
        json!({"type": "ICEBERG_TABLE", "metadataLocation": "m", "snapshotId": 9_223_372_036_854_775_808u64,
            "schemaId": 0, "specId": 0, "sortOrderId": 0}),
        json!({"type": "ICEBERG_TABLE", "metadataLocation": "m", "snapshotId": 1, "schemaId": 2_147_483_648u64,
            "specId": 0, "sortOrderId": 0}),
        json!({"type": "ICEBERG_VIEW", "metadataLocation": "m", "versionId": "x", "schemaId": 0}),
        json!({"type": "UDF", "versionId": {}}),
    ] {
        error(bad);
    }
}

#[test]
fn operations() {
    let body = json!({
        "commitMeta": {"message": "add orders", "authors": ["ann"]},
        "operations": [
            {"type": "PUT", "key": {"elements": ["t"]}, "content": table_json(json!(null)), "expectedContent": null,
                "metadata": [{"variant": "x", "y": 1}], "documentation": {"mimeType": "text/plain", "text": "d"}},
            {"type": "DELETE", "key": {"elements": ["old"]}},
            {"key": {"elements": ["ref"]}, "type": "UNCHANGED"}
        ]
    });
    let parsed = read::<Operations>(body).unwrap();
    assert_eq!(
        parsed.operations,
        [
            Operation::Put { key: key(&["t"]), content: table(None) },
            Operation::Delete { key: key(&["old"]) },
            Operation::Unchanged { key: key(&["ref"]) },
        ]
    );
    let wire = json!({
        "commitMeta": {"message": "add orders", "authors": ["ann"], "allSignedOffBy": []},
        "operations": [
            {"type": "PUT", "key": {"elements": ["t"]}, "content": table_json(json!(null))},
            {"type": "DELETE", "key": {"elements": ["old"]}},
            {"type": "UNCHANGED", "key": {"elements": ["ref"]}}
        ]
    });
    both_ways(&parsed, wire);
}

#[test]
fn operations_of_a_wrong_shape() {
    let error = |wire| read::<Operation>(wire).unwrap_err();
    assert!(
        error(json!({"type": "DELETE", "key": {"elements": []}}))
            .starts_with("Content key must not be empty")
    );
    assert!(error(json!({"type": "NOPE", "key": {"elements": ["a"]}})).contains("NOPE"));
    assert!(error(json!({"type": "PUT", "key": {"elements": ["a"]}})).contains("content"));
    for bad in [
        json!({}),
        json!([]),
        json!({"key": {"elements": ["a"]}}),
        json!({"type": "put", "key": {"elements": ["a"]}}),
        json!({"type": "DELETE"}),
        json!({"type": "DELETE", "key": null}),
        json!({"type": "DELETE", "key": "a"}),
        json!({"type": "DELETE", "key": {"elements": ["a", null]}}),
        json!({"type": "DELETE", "key": {"elements": ["a", ""]}}),
        json!({"type": "PUT", "key": {"elements": ["a"]}, "content": table_json(json!(null)), "documentation": {"text": "x"}}),
        json!({"type": "PUT", "key": {"elements": ["a"]}, "content": table_json(json!(null)), "metadata": [{}]}),
    ] {
        error(bad);
    }
}

#[test]
fn merge_requests_in_either_spelling() {
    let full = json!({"fromRefName": "dev", "fromHash": H1, "message": "m", "commitMeta": {"message": ""},
        "keyMergeModes": [{"key": {"elements": ["a"]}, "mergeBehavior": "FORCE",
            "expectedTargetContent": table_json(json!("id1")), "expectedTargetDocumentation": null, "metadata": []}],
        "defaultKeyMergeMode": "DROP", "isDryRun": true, "isFetchAdditionalInfo": null,
        "isReturnConflictAsResult": "true"});
    let merge = read::<MergeRequestV2>(full).unwrap();
    assert!(merge.is_dry_run && merge.is_return_conflict_as_result && !merge.is_fetch_additional_info);
    assert_eq!(merge.default_key_merge_mode, MergeBehavior::Drop);
    assert_eq!(merge.key_merge_modes.first().unwrap().merge_behavior, MergeBehavior::Force);
    let other = read::<MergeRequestV2>(json!({"fromRefName": "dev", "dryRun": true, "keyMergeModes": null,
        "defaultKeyMergeMode": null, "returnConflictAsResult": false}));
    let other = other.unwrap();
    assert!(other.is_dry_run && other.from_hash.is_none());
    assert_eq!(other.default_key_merge_mode, MergeBehavior::Normal);
    both_ways(
        &other,
        json!({"fromRefName": "dev", "fromHash": null, "defaultKeyMergeMode": "NORMAL", "isDryRun": true,
            "isFetchAdditionalInfo": false, "isReturnConflictAsResult": false}),
    );
    for bad in [
        json!({}),
        json!({"fromRefName": "d", "defaultKeyMergeMode": "normal"}),
        json!({"fromRefName": "d", "isDryRun": "x"}),
    ] {
        assert!(read::<MergeRequestV2>(bad).is_err());
    }
    let both = |text: &str| serde_json::from_str::<EitherSpelling<TransplantRequestV2>>(text);
    for (text, dry_run) in [
        (r#"{"fromRefName": "d", "isDryRun": true, "dryRun": true}"#, true),
        (r#"{"dryRun": "true", "message": null, "isDryRun": true, "fromRefName": "d"}"#, true),
        (
            r#"{"isDryRun": null, "fromRefName": "d", "dryRun": false, "isReturnConflictAsResult": true}"#,
            false,
        ),
        (
            r#"{"fromRefName": "d", "dryRun": true, "isFetchAdditionalInfo": false, "fetchAdditionalInfo": null}"#,
            true,
        ),
    ] {
        assert_eq!(both(text).unwrap().0.is_dry_run, dry_run, "{text}");
    }
    for (text, told) in [
        (r#"{"fromRefName": "d", "isDryRun": true, "dryRun": false}"#, "contradict"),
        (r#"{"fromRefName": "d", "dryRun": true, "isDryRun": false}"#, "contradict"),
        (r#"{"fromRefName": "d", "isDryRun": true, "isDryRun": true}"#, "duplicate field"),
        (r#"{"fromRefName": "d", "fromRefName": "d"}"#, "duplicate field"),
        (r#"{"fromRefName": "d", "dryRun": 3}"#, "expected a boolean"),
        ("[]", "expected an object"),
    ] {
        let error = both(text).unwrap_err().to_string();
        assert!(error.contains(told), "{text}: {error}");
    }
    assert!(read::<MergeRequestV1>(json!({"fromRefName": "d"})).is_err());
    let v1 = json!({"fromRefName": "d", "hashesToTransplant": [H1], "keepIndividualCommits": true});
    assert_eq!(read::<TransplantRequestV1>(v1).unwrap().keep_individual_commits, Some(true));
    let v2 =
        read::<TransplantRequestV2>(json!({"fromRefName": "d", "hashesToTransplant": null, "message": ""}))
            .unwrap();
    assert_eq!((v2.hashes_to_transplant.len(), v2.message.as_deref()), (0, Some("")));
}

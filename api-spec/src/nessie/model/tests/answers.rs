//! Exact field sets of both views.

use serde_json::{Value, json};

use super::*;

#[test]
fn references() {
    both_ways(&ReferenceV2::branch("main", H1), json!({"type": "BRANCH", "name": "main", "hash": H1}));
    both_ways(&ReferenceV2::tag("r-1", H2), json!({"type": "TAG", "name": "r-1", "hash": H2}));
    both_ways(&ReferenceV2::detached(H2), json!({"type": "DETACHED", "hash": H2}));
}

#[test]
fn reference_metadata_of_both_views() {
    let mut reference = ReferenceV2::branch("dev", H2);
    reference.metadata = Some(ReferenceMetadata {
        num_commits_ahead: Some(1),
        num_commits_behind: Some(0),
        commit_meta_of_head: Some(meta()),
        common_ancestor_hash: Some(H1.into()),
        num_total_commits: Some(2),
    });
    let wire = |meta: Value| {
        json!({"type": "BRANCH", "name": "dev", "hash": H2, "metadata": {"numCommitsAhead": 1, "numCommitsBehind": 0,
            "commitMetaOfHEAD": meta, "commonAncestorHash": H1, "numTotalCommits": 2}})
    };
    both_ways(&reference, wire(meta_v2_json()));
    both_ways(&reference.map_meta(CommitMetaV1::from), wire(meta_v1_json()));
}

#[test]
fn default_branch_metadata_has_nulls() {
    let metadata = ReferenceMetadata::<CommitMetaV2> {
        num_commits_ahead: None,
        num_commits_behind: None,
        commit_meta_of_head: None,
        common_ancestor_hash: None,
        num_total_commits: Some(1),
    };
    both_ways(
        &metadata,
        json!({"numCommitsAhead": null, "numCommitsBehind": null, "commitMetaOfHEAD": null,
            "commonAncestorHash": null, "numTotalCommits": 1}),
    );
}

#[test]
fn commit_meta_of_both_views() {
    both_ways(&meta(), meta_v2_json());
    assert_eq!(serde_json::to_value(CommitMetaV1::from(meta())).unwrap(), meta_v1_json());
    let bare = CommitMetaV2 { message: "m".into(), ..CommitMetaV2::default() };
    let wire = json!({"hash": null, "committer": null, "authors": [], "allSignedOffBy": [], "message": "m",
        "commitTime": null, "authorTime": null});
    both_ways(&bare, wire);
    let wire = json!({"hash": null, "committer": null, "author": null, "signedOffBy": null, "message": "m",
        "commitTime": null, "authorTime": null, "properties": {}});
    both_ways(&CommitMetaV1::from(bare), wire);
}

#[test]
fn contents_of_every_type() {
    both_ways(&table(Some("id1")), table_json(json!("id1")));
    both_ways(&table(None), table_json(json!(null)));
    let view = IcebergView {
        id: Some("id2".into()),
        metadata_location: "s3://b/v1.json".into(),
        version_id: 1,
        schema_id: 2,
        sql_text: None,
        dialect: Some("-".into()),
    };
    both_ways(
        &Content::IcebergView(view),
        json!({"type": "ICEBERG_VIEW", "id": "id2", "metadataLocation": "s3://b/v1.json", "versionId": 1, "schemaId": 2,
            "dialect": "-"}),
    );
    let delta = DeltaLakeTable {
        id: Some("id3".into()),
        metadata_location_history: vec!["a1".into()],
        checkpoint_location_history: vec![],
        last_checkpoint: None,
    };
    both_ways(
        &Content::DeltaLakeTable(delta),
        json!({"type": "DELTA_LAKE_TABLE", "id": "id3", "metadataLocationHistory": ["a1"],
            "checkpointLocationHistory": [], "lastCheckpoint": null}),
    );
    let mut namespace =
        Namespace { id: Some("id4".into()), elements: vec!["a".into()], properties: Default::default() };
    both_ways(
        &Content::Namespace(namespace.clone()),
        json!({"type": "NAMESPACE", "id": "id4", "elements": ["a"]}),
    );
    namespace.properties.insert("k".into(), "v".into());
    both_ways(
        &Content::Namespace(namespace),
        json!({"type": "NAMESPACE", "id": "id4", "elements": ["a"], "properties": {"k": "v"}}),
    );
    let udf = Udf {
        id: None,
        metadata_location: Some("m".into()),
        version_id: Some("5".into()),
        signature_id: None,
        sql_text: None,
        dialect: None,
    };
    both_ways(
        &Content::Udf(udf),
        json!({"type": "UDF", "id": null, "metadataLocation": "m", "versionId": "5"}),
    );
}

#[test]
fn log_entries_of_both_views() {
    let operations = vec![
        OperationV2(Operation::Delete { key: key(&["old"]) }),
        OperationV2(Operation::Put { key: key(&["t"]), content: table(Some("id1")) }),
    ];
    let entry =
        LogEntryV2 { commit_meta: meta(), parent_commit_hash: Some(H1.into()), operations: Some(operations) };
    let delete = json!({"type": "DELETE", "key": {"elements": ["old"]}});
    let put = |extra: &str| json!({"type": "PUT", "key": {"elements": ["t"]}, "content": table_json(json!("id1")), extra: null});
    let wire = json!({"commitMeta": meta_v2_json(), "parentCommitHash": H1, "operations": [delete, put("documentation")]});
    both_ways(&entry, wire);
    let wire = json!({"commitMeta": meta_v1_json(), "parentCommitHash": H1, "operations": [delete, put("expectedContent")]});
    both_ways(&LogEntryV1::from(entry), wire);
    let page = LogResponseV2 {
        has_more: false,
        token: None,
        log_entries: vec![LogEntry {
            commit_meta: meta(),
            parent_commit_hash: Some(H1.into()),
            operations: None,
        }],
    };
    let wire = json!({"hasMore": false, "token": null, "logEntries": [
        {"commitMeta": meta_v2_json(), "parentCommitHash": H1, "operations": null}]});
    both_ways(&page, wire);
}

#[test]
fn commit_answers() {
    let answer = CommitResponse {
        target_branch: ReferenceV2::branch("main", H2),
        added_contents: Some(vec![AddedContent { key: key(&["a", "b"]), content_id: "id1".into() }]),
    };
    let branch = json!({"type": "BRANCH", "name": "main", "hash": H2});
    both_ways(
        &answer,
        json!({"targetBranch": branch, "addedContents": [{"key": {"elements": ["a", "b"]}, "contentId": "id1"}]}),
    );
    let none = CommitResponse { added_contents: None, ..answer };
    both_ways(&none, json!({"targetBranch": branch, "addedContents": null}));
}

#[test]
fn entries_of_both_views() {
    let page = EntriesResponseV2 {
        has_more: true,
        token: Some("t".into()),
        entries: vec![EntryV2 {
            kind: ContentType::Namespace,
            name: key(&["sales"]),
            content_id: Some("id1".into()),
            content: None,
        }],
        effective_reference: ReferenceV2::branch("main", H1),
    };
    let wire = json!({"hasMore": true, "token": "t", "entries": [{"type": "NAMESPACE", "name": {"elements": ["sales"]},
        "contentId": "id1", "content": null}], "effectiveReference": {"type": "BRANCH", "name": "main", "hash": H1}});
    both_ways(&page, wire);
    let wire = json!({"hasMore": true, "token": "t", "entries": [{"type": "NAMESPACE", "name": {"elements": ["sales"]}}]});
    both_ways(&EntriesResponseV1::from(page), wire);
}

#[test]
fn diffs_and_contents_of_both_views() {
    let reference = ReferenceV2::tag("t", H1);
    let reference_json = json!({"type": "TAG", "name": "t", "hash": H1});
    let diff = DiffResponseV2 {
        has_more: false,
        token: None,
        diffs: vec![DiffEntry { key: key(&["t"]), from: None, to: Some(table(Some("id1"))) }],
        effective_from_reference: ReferenceV2::detached(H2),
        effective_to_reference: reference.clone(),
    };
    let diffs = json!([{"key": {"elements": ["t"]}, "from": null, "to": table_json(json!("id1"))}]);
    let wire = json!({"hasMore": false, "token": null, "diffs": diffs,
        "effectiveFromReference": {"type": "DETACHED", "hash": H2}, "effectiveToReference": reference_json});
    both_ways(&diff, wire);
    both_ways(&DiffResponseV1::from(diff), json!({"hasMore": false, "token": null, "diffs": diffs}));

    let one = ContentResponse { content: table(Some("id1")), effective_reference: reference.clone() };
    both_ways(&one, json!({"content": table_json(json!("id1")), "effectiveReference": reference_json}));
    let many = GetMultipleContentsResponseV2 {
        contents: vec![ContentWithKey { key: key(&["t"]), content: table(Some("id1")) }],
        effective_reference: reference,
    };
    let contents = json!([{"key": {"elements": ["t"]}, "content": table_json(json!("id1"))}]);
    both_ways(&many, json!({"contents": contents, "effectiveReference": reference_json}));
    both_ways(&GetMultipleContentsResponseV1::from(many), json!({"contents": contents}));
    assert!(read::<GetMultipleContentsRequest>(json!({})).unwrap().requested_keys.is_empty());
}

#[test]
fn merge_answers_of_both_views() {
    let conflict = Conflict {
        conflict_type: ConflictType::KeyExists,
        key: Some(key(&["b"])),
        message: "key 'b' already exists".into(),
    };
    let answer = MergeResponseV2 {
        was_applied: false,
        was_successful: false,
        resultant_target_hash: None,
        common_ancestor: Some(H1.into()),
        target_branch: "main".into(),
        effective_target_hash: Some(H2.into()),
        expected_hash: Some(H1.into()),
        details: vec![
            MergeDetailV2 { key: key(&["a"]), merge_behavior: MergeBehavior::Normal, conflict: None },
            MergeDetailV2 {
                key: key(&["b"]),
                merge_behavior: MergeBehavior::Normal,
                conflict: Some(conflict),
            },
        ],
    };
    let wire = json!({"wasApplied": false, "wasSuccessful": false, "resultantTargetHash": null, "commonAncestor": H1,
        "targetBranch": "main", "effectiveTargetHash": H2, "expectedHash": H1, "details": [
            {"key": {"elements": ["a"]}, "mergeBehavior": "NORMAL"},
            {"key": {"elements": ["b"]}, "mergeBehavior": "NORMAL", "conflict": {"conflictType": "KEY_EXISTS",
                "key": {"elements": ["b"]}, "message": "key 'b' already exists"}}]});
    both_ways(&answer, wire);
    let detail = |name: &str, conflict: &str| {
        json!({"key": {"elements": [name]}, "mergeBehavior": "NORMAL", "conflictType": conflict, "sourceCommits": [],
            "targetCommits": []})
    };
    let wire = json!({"wasApplied": false, "wasSuccessful": false, "resultantTargetHash": null, "commonAncestor": H1,
        "targetBranch": "main", "effectiveTargetHash": H2, "expectedHash": H1, "sourceCommits": [],
        "targetCommits": null, "details": [detail("a", "NONE"), detail("b", "UNRESOLVABLE")]});
    both_ways(&MergeResponseV1::from(answer), wire);
}

#[test]
fn configurations() {
    both_ways(
        &NessieConfigurationV1 { default_branch: "main".into(), max_supported_api_version: 2 },
        json!({"defaultBranch": "main", "maxSupportedApiVersion": 2}),
    );
    let at = Instant::parse("2026-05-01T00:00:00Z").ok();
    let v2 = NessieConfigurationV2 {
        default_branch: "main".into(),
        min_supported_api_version: 1,
        max_supported_api_version: 2,
        actual_api_version: 2,
        spec_version: Some("2.2.0".into()),
        no_ancestor_hash: Some(H1.into()),
        repository_creation_timestamp: at,
        oldest_possible_commit_timestamp: at,
        additional_properties: Default::default(),
    };
    both_ways(
        &v2,
        json!({"defaultBranch": "main", "minSupportedApiVersion": 1, "maxSupportedApiVersion": 2,
            "actualApiVersion": 2, "specVersion": "2.2.0", "noAncestorHash": H1,
            "repositoryCreationTimestamp": "2026-05-01T00:00:00Z", "oldestPossibleCommitTimestamp": "2026-05-01T00:00:00Z"}),
    );
}

#[test]
fn repository_configurations() {
    let wire = json!({"config": {"type": "GARBAGE_COLLECTOR", "defaultCutoffPolicy": "P30D",
        "perRefCutoffPolicies": [{"referenceNamePattern": "rel-.*", "policy": "NONE"}],
        "newFilesGracePeriod": "PT3H", "expectedFileCountPerContent": 1_000_000}});
    let request = read::<UpdateRepositoryConfigRequest>(wire.clone()).unwrap();
    both_ways(&request, wire);
    let bare = RepositoryConfig::GarbageCollector(GarbageCollectorConfig::default());
    both_ways(&bare, json!({"type": "GARBAGE_COLLECTOR"}));
    both_ways(&RepositoryConfigResponse::default(), json!({}));
    both_ways(&UpdateRepositoryConfigResponse { previous: None }, json!({"previous": null}));
    let error = |wire| read::<RepositoryConfig>(wire).unwrap_err();
    assert!(
        error(json!({"type": "NOPE", "x": 1})).starts_with(
            "Repository config type bundle for 'NOPE' is not available on the Nessie server side."
        )
    );
    let bad = error(json!({"type": "GARBAGE_COLLECTOR", "defaultCutoffPolicy": "1.5"}));
    assert!(bad.contains("Failed to parse default-cutoff-value"), "{bad}");
    error(json!({"type": "GARBAGE_COLLECTOR", "newFilesGracePeriod": "3h"}));
    error(json!({"type": "GARBAGE_COLLECTOR", "perRefCutoffPolicies": [{"referenceNamePattern": "a"}]}));
    error(json!({"x": 1}));
}

#[test]
fn errors() {
    let error = NessieError::new(ErrorCode::ReferenceConflict, "Key 'sales.orders' already exists.");
    let plain = json!({"status": 409, "reason": "Conflict", "message": "Key 'sales.orders' already exists.",
        "errorCode": "REFERENCE_CONFLICT", "serverStackTrace": null});
    both_ways(&error, plain.clone());
    let conflicts =
        vec![Conflict { conflict_type: ConflictType::UnexpectedHash, key: None, message: "m".into() }];
    let mut wire = plain;
    wire["errorDetails"] = json!({"type": "REFERENCE_CONFLICTS",
        "conflicts": [{"conflictType": "UNEXPECTED_HASH", "key": null, "message": "m"}]});
    both_ways(&error.with_details(ErrorDetails::ReferenceConflicts { conflicts }), wire);
    both_ways(
        &ErrorDetails::ContentKey { content_key: key(&["a"]) },
        json!({"type": "CONTENT_KEY", "contentKey": {"elements": ["a"]}}),
    );
    let foreign = read::<NessieError>(json!({"status": 418, "reason": "x", "errorCode": "NEW",
        "errorDetails": {"type": "NEW", "x": 1}}));
    assert_eq!(foreign.unwrap().error_code, ErrorCode::Unknown);
}

#[test]
fn histories_and_namespaces() {
    let element = |meta: Option<CommitMetaV2>| ReferenceHistoryElement {
        commit_hash: H1.into(),
        commit_consistency: CommitConsistency::CommitConsistent,
        meta,
    };
    let history = ReferenceHistoryResponse {
        reference: ReferenceV2::branch("main", H1),
        current: element(Some(meta())),
        previous: vec![element(None)],
        commit_log_consistency: CommitConsistency::NotChecked,
    };
    let wire = json!({"reference": {"type": "BRANCH", "name": "main", "hash": H1},
        "current": {"commitHash": H1, "commitConsistency": "COMMIT_CONSISTENT", "meta": meta_v2_json()},
        "previous": [{"commitHash": H1, "commitConsistency": "COMMIT_CONSISTENT", "meta": null}],
        "commitLogConsistency": "NOT_CHECKED"});
    both_ways(&history, wire);
    let update =
        read::<NamespaceUpdate>(json!({"propertyUpdates": {"a": "1"}, "propertyRemovals": null})).unwrap();
    assert!(update.property_removals.is_empty());
    assert!(read::<Namespace>(json!({"type": "NAMESPACE", "elements": []})).unwrap().elements.is_empty());
    // The type plays no part, but must be one.
    assert!(read::<Namespace>(table_json(json!(null))).unwrap().elements.is_empty());
    assert!(read::<Namespace>(json!({"type": "namespace", "elements": ["a"]})).is_err());
    assert!(read::<Namespace>(json!({"elements": ["a"]})).is_err());
}

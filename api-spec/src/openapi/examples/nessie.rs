//! Examples of both versions of the Nessie API. A body that both have has one example, in the form of its version.

use serde_json::{Value, json};

use crate::syntax::reference::NO_ANCESTOR_HASH;

const HASH: &str = "0b7c1d2e3f405162738495a6b7c8d9e00f1e2d3c4b5a69788796a5b4c3d2e1f0";
const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";
const TIME: &str = "2026-05-01T10:20:30.123456Z";

fn key() -> Value {
    json!({ "elements": ["sales", "orders"] })
}

fn table(id: Option<&str>) -> Value {
    json!({
        "type": "ICEBERG_TABLE",
        "id": id,
        "metadataLocation": "s3://lake/sales/orders/metadata/00001-a.metadata.json",
        "snapshotId": 1,
        "schemaId": 0,
        "specId": 0,
        "sortOrderId": 0,
    })
}

fn namespace(id: Option<&str>) -> Value {
    json!({ "type": "NAMESPACE", "id": id, "elements": ["sales"], "properties": { "owner": "ada" } })
}

fn branch() -> Value {
    json!({ "type": "BRANCH", "name": "main", "hash": HASH })
}

fn commit_request() -> Value {
    json!({
        "commitMeta": { "message": "add the orders of May", "authors": ["Ada"] },
        "operations": [
            { "type": "PUT", "key": { "elements": ["sales"] }, "content": namespace(None) },
            { "type": "DELETE", "key": { "elements": ["old"] } },
            { "type": "UNCHANGED", "key": { "elements": ["rates"] } },
        ],
    })
}

fn page(name: &str, items: Value) -> Value {
    json!({ "hasMore": false, "token": null, name: items })
}

fn with(mut object: Value, name: &str, value: Value) -> Value {
    if let Some(members) = object.as_object_mut() {
        members.insert(name.to_owned(), value);
    }
    object
}

/// What both versions write alike.
fn shared(component: &str) -> Option<Value> {
    Some(match component {
        "ReferenceInput" => json!({ "type": "BRANCH", "name": "main", "hash": NO_ANCESTOR_HASH }),
        "ReferencesResponse" => page("references", json!([branch()])),
        "Operations" => commit_request(),
        "GetMultipleContentsRequest" => json!({ "requestedKeys": [key()] }),
        _ => return None,
    })
}

/// The example of a component of version 2.
pub(super) fn v2(component: &str) -> Option<Value> {
    let meta = json!({
        "hash": HASH,
        "committer": "",
        "authors": ["Ada"],
        "allSignedOffBy": [],
        "message": "add the orders of May",
        "commitTime": TIME,
        "authorTime": TIME,
        "parentCommitHashes": [NO_ANCESTOR_HASH],
    });
    let collector = json!({ "type": "GARBAGE_COLLECTOR", "defaultCutoffPolicy": "P30D" });
    let diff = page("diffs", json!([{ "key": key(), "from": null, "to": table(Some(ID)) }]));
    let diff = with(with(diff, "effectiveFromReference", branch()), "effectiveToReference", branch());
    Some(match component {
        "NessieConfiguration" => json!({
            "defaultBranch": "main",
            "minSupportedApiVersion": 1,
            "maxSupportedApiVersion": 2,
            "actualApiVersion": 2,
            "specVersion": "2.2.0",
            "noAncestorHash": NO_ANCESTOR_HASH,
            "repositoryCreationTimestamp": TIME,
            "oldestPossibleCommitTimestamp": TIME,
        }),
        "RepositoryConfigResponse" => json!({ "configs": [collector] }),
        "UpdateRepositoryConfigRequest" => json!({ "config": collector }),
        "UpdateRepositoryConfigResponse" => json!({ "previous": null }),
        "SingleReferenceResponse" => json!({ "reference": branch() }),
        "ReferenceHistoryResponse" => json!({
            "reference": branch(),
            "current": { "commitHash": HASH, "commitConsistency": "NOT_CHECKED", "meta": meta },
            "previous": [],
            "commitLogConsistency": "NOT_CHECKED",
        }),
        "EntriesResponse" => with(
            page(
                "entries",
                json!([{ "type": "ICEBERG_TABLE", "name": key(), "contentId": ID, "content": null }]),
            ),
            "effectiveReference",
            branch(),
        ),
        "LogResponse" => page(
            "logEntries",
            json!([{ "commitMeta": meta, "parentCommitHash": NO_ANCESTOR_HASH, "operations": null }]),
        ),
        "DiffResponse" => diff,
        "ContentResponse" => json!({ "content": table(Some(ID)), "effectiveReference": branch() }),
        "GetMultipleContentsResponse" => json!({
            "contents": [{ "key": key(), "content": table(Some(ID)) }],
            "effectiveReference": branch(),
        }),
        "CommitResponse" => json!({
            "targetBranch": branch(),
            "addedContents": [{ "key": key(), "contentId": ID }],
        }),
        "MergeRequest" => json!({
            "fromRefName": "dev",
            "fromHash": HASH,
            "keyMergeModes": [{ "key": key(), "mergeBehavior": "FORCE" }],
            "defaultKeyMergeMode": "NORMAL",
            "isDryRun": true,
        }),
        "TransplantRequest" => {
            json!({ "fromRefName": "dev", "hashesToTransplant": [HASH], "isDryRun": true })
        }
        "MergeResponse" => json!({
            "wasApplied": true,
            "wasSuccessful": true,
            "resultantTargetHash": HASH,
            "commonAncestor": NO_ANCESTOR_HASH,
            "targetBranch": "main",
            "effectiveTargetHash": NO_ANCESTOR_HASH,
            "expectedHash": NO_ANCESTOR_HASH,
            "details": [{ "key": key(), "mergeBehavior": "NORMAL" }],
        }),
        other => return shared(other),
    })
}

/// The example of a component of version 1.
pub(super) fn v1(component: &str) -> Option<Value> {
    let meta = json!({
        "hash": HASH,
        "committer": "",
        "author": "Ada",
        "signedOffBy": null,
        "message": "add the orders of May",
        "commitTime": TIME,
        "authorTime": TIME,
        "properties": {},
    });
    Some(match component {
        "NessieConfiguration" => json!({ "defaultBranch": "main", "maxSupportedApiVersion": 2 }),
        "Reference" => branch(),
        "EntriesResponse" => page("entries", json!([{ "type": "ICEBERG_TABLE", "name": key() }])),
        "LogResponse" => page(
            "logEntries",
            json!([{ "commitMeta": meta, "parentCommitHash": NO_ANCESTOR_HASH, "operations": null }]),
        ),
        "DiffResponse" => page("diffs", json!([{ "key": key(), "from": null, "to": table(Some(ID)) }])),
        "Content" => table(Some(ID)),
        "GetMultipleContentsResponse" => {
            json!({ "contents": [{ "key": key(), "content": table(Some(ID)) }] })
        }
        "GetNamespacesResponse" => json!({ "namespaces": [namespace(Some(ID))] }),
        "NamespaceInput" => namespace(None),
        "NamespaceUpdate" => json!({ "propertyUpdates": { "owner": "grace" }, "propertyRemovals": ["team"] }),
        "MergeRequest" => json!({ "fromRefName": "dev", "fromHash": HASH, "isDryRun": true }),
        "TransplantRequest" => {
            json!({ "fromRefName": "dev", "hashesToTransplant": [HASH], "isDryRun": true })
        }
        "MergeResponse" => json!({
            "wasApplied": true,
            "wasSuccessful": true,
            "resultantTargetHash": HASH,
            "commonAncestor": NO_ANCESTOR_HASH,
            "targetBranch": "main",
            "effectiveTargetHash": NO_ANCESTOR_HASH,
            "expectedHash": NO_ANCESTOR_HASH,
            "sourceCommits": [],
            "targetCommits": null,
            "details": [{
                "key": key(),
                "mergeBehavior": "NORMAL",
                "conflictType": "NONE",
                "sourceCommits": [],
                "targetCommits": [],
            }],
        }),
        other => return shared(other),
    })
}

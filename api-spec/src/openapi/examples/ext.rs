//! Examples of our own API.

use serde_json::{Value, json};

use crate::syntax::reference::NO_ANCESTOR_HASH;

const HASH: &str = "0b7c1d2e3f405162738495a6b7c8d9e00f1e2d3c4b5a69788796a5b4c3d2e1f0";
const TIME: &str = "2026-05-01T10:20:30.123456Z";

fn entry() -> Value {
    json!({
        "reference": "dev",
        "number": 2,
        "type": "BRANCH",
        "oldHash": NO_ANCESTOR_HASH,
        "newHash": HASH,
        "operation": "COMMIT",
        "principal": "ada",
        "time": TIME,
        "run": null,
    })
}

/// The example of a component.
pub(super) fn of(component: &str) -> Option<Value> {
    Some(match component {
        "Info" => json!({
            "name": "lochan-server",
            "version": "0.1.0",
            "defaultBranch": "main",
            "store": { "engine": "sled", "durability": "fsync" },
            "warehouses": [{ "name": "lake", "location": "s3://lake/prefix", "default": true }],
        }),
        "Reflog" => json!({ "hasMore": false, "token": null, "entries": [entry()] }),
        "RestoreRequest" => json!({ "entry": 2, "side": "OLD", "expectedNumber": 2, "dryRun": true }),
        "RestoreResponse" => json!({
            "changed": false,
            "reference": { "type": "BRANCH", "name": "dev", "hash": NO_ANCESTOR_HASH },
            "entry": entry(),
        }),
        "RebaseRequest" => json!({
            "expectedHash": HASH,
            "onto": "main",
            "ontoHash": NO_ANCESTOR_HASH,
            "defaultKeyMergeMode": "NORMAL",
            "dryRun": true,
            "returnConflictAsResult": false,
        }),
        "RebaseResponse" => json!({
            "wasApplied": true,
            "wasSuccessful": true,
            "branch": "dev",
            "oldHash": HASH,
            "newHash": HASH,
            "commonAncestor": NO_ANCESTOR_HASH,
            "commits": [{ "oldHash": HASH, "newHash": HASH, "outcome": "PICKED" }],
            "details": [{ "key": { "elements": ["sales", "orders"] }, "mergeBehavior": "NORMAL" }],
        }),
        "ImportState" => import(),
        "Imports" => json!({ "hasMore": false, "token": null, "imports": [import()] }),
        "ImportedCommits" => json!({
            "hasMore": false,
            "token": null,
            "commits": [{ "oldHash": NO_ANCESTOR_HASH, "newHash": HASH }],
        }),
        _ => return None,
    })
}

fn import() -> Value {
    json!({
        "id": "from-old-server",
        "status": "OPEN",
        "source": "NESSIE",
        "hashesKept": false,
        "principal": "ada",
        "begun": TIME,
        "prefix": "",
        "existing": "refuse",
        "nextPart": 2,
        "commits": 120,
        "timesRaised": 0,
        "references": 0,
        "logEntries": 0,
        "imported": [],
        "kept": [],
    })
}

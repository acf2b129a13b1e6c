//! Links from an answer to the requests that go on from it, which readers follow and stateful tests walk along.

use serde_json::{Value, json};

use crate::endpoint::{EndpointInfo, Surface};

/// A link: its name, the operation it leads to, and where that takes its path parameters from.
type Link = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const NAME_V2: &str = "$response.body#/reference/name";
const AT_V2: &str = "{$response.body#/reference/name}@{$response.body#/reference/hash}";
const AT_COMMIT_V2: &str = "{$response.body#/targetBranch/name}@{$response.body#/targetBranch/hash}";
const COMMIT_V2: &[Link] = &[
    ("commitOnTop", "commitMultipleOperations", &[("branch", AT_COMMIT_V2)]),
    ("entries", "getEntries", &[("ref", AT_COMMIT_V2)]),
    ("history", "getCommitLog", &[("ref", AT_COMMIT_V2)]),
];
const NAME_V1: &str = "$response.body#/name";
const HASH_V1: &str = "$response.body#/hash";
const PREFIX: &str = "$request.path.prefix";
const NAMESPACE: &str = "$request.path.namespace";

/// The links of an operation's success, if it has any.
pub(super) fn of(info: &EndpointInfo) -> Option<Value> {
    let links: &[Link] = match (info.surface, info.name) {
        (Surface::NessieV2, "createReference" | "getReferenceByName" | "assignReference") => &[
            ("read", "getReferenceByName", &[("ref", NAME_V2)]),
            ("assign", "assignReference", &[("ref", AT_V2)]),
            ("delete", "deleteReference", &[("ref", AT_V2)]),
            ("commit", "commitMultipleOperations", &[("branch", AT_V2)]),
            ("merge", "mergeRefIntoBranch", &[("branch", AT_V2)]),
            ("transplant", "transplantCommitsIntoBranch", &[("branch", AT_V2)]),
            ("history", "getCommitLog", &[("ref", NAME_V2)]),
            ("recentChanges", "getReferenceHistory", &[("ref", NAME_V2)]),
            ("entries", "getEntries", &[("ref", NAME_V2)]),
            ("diff", "getDiff", &[("from", NAME_V2)]),
        ],
        (Surface::NessieV2, "commitMultipleOperations") => COMMIT_V2,
        (Surface::NessieV1, "createReference" | "getReferenceByName" | "getDefaultBranch") => &[
            ("read", "getReferenceByName", &[("ref", NAME_V1)]),
            ("assign", "assignReference", &[("name", NAME_V1), ("expectedHash", HASH_V1)]),
            ("delete", "deleteReference", &[("name", NAME_V1), ("expectedHash", HASH_V1)]),
            ("commit", "commitMultipleOperations", &[("branch", NAME_V1), ("expectedHash", HASH_V1)]),
            ("merge", "mergeRefIntoBranch", &[("branch", NAME_V1), ("expectedHash", HASH_V1)]),
            ("history", "getCommitLog", &[("ref", NAME_V1)]),
            ("entries", "getEntries", &[("ref", NAME_V1)]),
            ("createNamespace", "createNamespace", &[("ref", NAME_V1)]),
        ],
        (Surface::NessieV1, "commitMultipleOperations") => &[
            ("commitOnTop", "commitMultipleOperations", &[("branch", NAME_V1), ("expectedHash", HASH_V1)]),
            ("entries", "getEntries", &[("ref", NAME_V1)]),
        ],
        (Surface::Iceberg, "createNamespace") => &[
            (
                "load",
                "loadNamespaceMetadata",
                &[("prefix", PREFIX), ("namespace", "$response.body#/namespace/0")],
            ),
            ("drop", "dropNamespace", &[("prefix", PREFIX), ("namespace", "$response.body#/namespace/0")]),
            (
                "properties",
                "updateProperties",
                &[("prefix", PREFIX), ("namespace", "$response.body#/namespace/0")],
            ),
            (
                "createTable",
                "createTable",
                &[("prefix", PREFIX), ("namespace", "$response.body#/namespace/0")],
            ),
            ("createView", "createView", &[("prefix", PREFIX), ("namespace", "$response.body#/namespace/0")]),
        ],
        (Surface::Iceberg, "createTable") => &[
            (
                "load",
                "loadTable",
                &[("prefix", PREFIX), ("namespace", NAMESPACE), ("table", "$request.body#/name")],
            ),
            (
                "commit",
                "updateTable",
                &[("prefix", PREFIX), ("namespace", NAMESPACE), ("table", "$request.body#/name")],
            ),
            (
                "drop",
                "dropTable",
                &[("prefix", PREFIX), ("namespace", NAMESPACE), ("table", "$request.body#/name")],
            ),
        ],
        (Surface::Iceberg, "createView") => &[
            (
                "load",
                "loadView",
                &[("prefix", PREFIX), ("namespace", NAMESPACE), ("view", "$request.body#/name")],
            ),
            (
                "commit",
                "replaceView",
                &[("prefix", PREFIX), ("namespace", NAMESPACE), ("view", "$request.body#/name")],
            ),
        ],
        _ => return None,
    };
    let all = links.iter().map(|(name, operation, from)| {
        let from: serde_json::Map<String, Value> =
            from.iter().map(|(name, expression)| ((*name).to_owned(), json!(expression))).collect();
        ((*name).to_owned(), json!({ "operationId": operation, "parameters": from }))
    });
    Some(Value::Object(all.collect()))
}

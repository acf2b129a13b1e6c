//! Headers of requests and answers.

use serde_json::{Map, Value, json};

use crate::endpoint::{EndpointInfo, Method, Surface};
use crate::parameter::{Parameter, Shape};

const CLIENT_SPEC: Parameter = Parameter::new(
    "Nessie-Client-Spec",
    "The version of the contract that the client knows. From 2 on errors carry details.",
    Shape::Text,
    "2",
);
const COMMIT_MESSAGE: Parameter =
    Parameter::new("Nessie-Commit-Message", "Replaces the commit's message.", Shape::Text, "nightly load");
const COMMIT_AUTHORS: Parameter = Parameter::new(
    "Nessie-Commit-Authors",
    "Further authors of the commit, separated by commas.",
    Shape::Text,
    "Ada",
);
const COMMIT_SIGNERS: Parameter = Parameter::new(
    "Nessie-Commit-SignedOffBy",
    "Further signers of the commit, separated by commas.",
    Shape::Text,
    "Grace",
);
const IDEMPOTENCY_KEY: Parameter = Parameter::new(
    "Idempotency-Key",
    "A UUID of version 7. The same request with the same key is done once, and answered alike.",
    Shape::Pattern("^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-7[0-9a-fA-F]{3}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$"),
    "0198f3a2-5b7c-7d1e-8f90-123456789abc",
);
const IDEMPOTENCY_KEY_OPAQUE: Parameter = Parameter::new(
    "Idempotency-Key",
    "Any text, such as a UUID. The same request with the same key is done once, and answered alike.",
    Shape::Text,
    "0198f3a2-5b7c-7d1e-8f90-123456789abc",
);
const IF_NONE_MATCH: Parameter = Parameter::new(
    "If-None-Match",
    "`ETag`s of answers that the client holds. If one is still right, the answer is 304.",
    Shape::Text,
    "\"0\"",
);

/// What requests of `info` may carry.
pub(super) fn of_requests(info: &EndpointInfo) -> Vec<Parameter> {
    let mut all = Vec::new();
    let commits = match info.surface {
        Surface::NessieV2 => {
            all.push(CLIENT_SPEC);
            info.path.contains("/history/")
        }
        Surface::NessieV1 => {
            all.push(CLIENT_SPEC);
            info.path.starts_with("/api/v1/trees/branch/")
        }
        Surface::Iceberg => info.mutates,
        Surface::Ext => false,
    };
    if commits {
        all.extend([COMMIT_MESSAGE, COMMIT_AUTHORS, COMMIT_SIGNERS]);
    }
    if info.mutates {
        match info.surface {
            Surface::Iceberg => all.push(IDEMPOTENCY_KEY),
            Surface::NessieV1 | Surface::NessieV2 => all.push(IDEMPOTENCY_KEY_OPAQUE),
            Surface::Ext => {}
        }
    }
    if info.name == "loadTable" {
        all.push(IF_NONE_MATCH);
    }
    all
}

/// What a success carries.
pub(super) fn of_answers(info: &EndpointInfo) -> Value {
    const TAGGED: [&str; 4] = ["loadTable", "createTable", "registerTable", "updateTable"];
    let is_tagged =
        info.surface == Surface::Iceberg && info.method != Method::Head && TAGGED.contains(&info.name);
    answer_headers(is_tagged.then_some(ETAG), false)
}

/// What an answer of an error's status carries.
pub(super) fn of_errors(status: u16) -> Value {
    answer_headers((status == 304).then_some("The tag that matched."), matches!(status, 429 | 503 | 507))
}

const ETAG: &str = "Stands for this answer in `If-None-Match`.";

/// The headers of an answer: always the request's id, perhaps a tag, perhaps when to try again.
fn answer_headers(etag: Option<&str>, retry_after: bool) -> Value {
    let mut all = Map::new();
    all.insert(
        "X-Request-ID".to_owned(),
        json!({
            "description": "The request's id in the server's log: the client's own, or a new one.",
            "required": true,
            "schema": { "type": "string", "minLength": 1, "maxLength": 128 },
        }),
    );
    if retry_after {
        all.insert(
            "Retry-After".to_owned(),
            json!({
                "description": "Seconds after which to try again.",
                "schema": { "type": "integer", "minimum": 1 },
            }),
        );
    }
    if let Some(about) = etag {
        all.insert("ETag".to_owned(), json!({ "description": about, "schema": { "type": "string" } }));
    }
    all.into()
}

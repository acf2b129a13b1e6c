//! The table: what is bounded, a request at the bound, one past it, and how that is refused.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use lochan_server_catalog::nessie::{log::PAGE_COMMITS_MAX, transplant::COMMITS_MAX};
use lochan_server_http::limits::{NESSIE_BODY_BYTES_MAX, SEGMENTS_MAX, TARGET_BYTES_MAX};
use serde_json::{Map, Value, json};

use crate::harness::{Answer, EMPTY, Server, list, put, put_namespace};

/// One limit.
pub struct Row {
    /// What is bounded.
    pub what: &'static str,
    /// A request at the bound.
    pub at: Ask,
    /// A request one past it.
    pub past: Ask,
    /// Status of the refusal.
    pub status: u16,
    /// What the refusal says; nothing where it has no body.
    pub words: &'static str,
}

/// A request.
pub struct Ask {
    method: &'static str,
    target: String,
    coding: &'static str,
    /// The body as sent.
    pub body: Bytes,
}

impl Ask {
    /// Sends it.
    pub async fn send(&self, server: &Server) -> Answer {
        let json = ("content-type", "application/json");
        let headers = [json, ("content-encoding", self.coding)];
        let headers = if self.coding.is_empty() { &headers[..1] } else { &headers[..] };
        server.send_bytes(self.method, &self.target, headers, self.body.clone()).await
    }
}

fn get(target: String) -> Ask {
    Ask { method: "GET", target, coding: "", body: Bytes::new() }
}

fn post(target: impl Into<String>, body: impl Into<Bytes>) -> Ask {
    Ask { method: "POST", target: target.into(), coding: "", body: body.into() }
}

fn contents(body: impl Into<Bytes>) -> Ask {
    post("/api/v2/trees/main/contents", body)
}

fn keys(elements: &Value) -> Ask {
    contents(json!({"requestedKeys": [{"elements": elements}]}).to_string())
}

/// A filter over one entry.
fn filter(text: &str) -> Ask {
    // In hexadecimal throughout, a long one would not fit into a target.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"()[].,!'".contains(&byte);
    let encoded: String = text
        .bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    get(format!("/api/v2/trees/main/entries?key=n&filter={encoded}"))
}

fn zeros(length: usize) -> String {
    format!("[{}]", vec!["0"; length].join(","))
}

/// A body of `size` bytes that is a good request all the same.
fn padded(size: usize) -> Vec<u8> {
    let mut body = br#"{"requestedKeys":[{"elements":["a"]}]}"#.to_vec();
    body.resize(size, b' ');
    body
}

fn zipped(size: usize) -> Ask {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&padded(size)).expect("memory takes all");
    let body: Bytes = encoder.finish().expect("memory takes all").into();
    Ask { coding: "gzip", ..contents(body) }
}

fn named(length: usize) -> Ask {
    let source = json!({"type": "BRANCH", "name": "main", "hash": EMPTY});
    post(format!("/api/v2/trees?name={}&type=TAG", "n".repeat(length)), source.to_string())
}

fn transplant(commits: usize) -> Ask {
    let body = json!({"fromRefName": "main", "hashesToTransplant": vec![EMPTY; commits]});
    post(format!("/api/v2/trees/main@{EMPTY}/history/transplant"), body.to_string())
}

fn segments(count: usize) -> Ask {
    // Three stand before the reference.
    get(format!("/api/v2/trees/{}@", vec!["a"; count - 3].join("/")))
}

fn properties(count: usize, name_bytes: usize, value_bytes: usize) -> Ask {
    let properties: Map<String, Value> =
        (0..count).map(|n| (format!("{n:0name_bytes$}"), json!("v".repeat(value_bytes)))).collect();
    let schema = json!({"type": "struct", "schema-id": 0,
        "fields": [{"id": 1, "name": "a", "type": "int", "required": false}]});
    let name = format!("t{count}-{name_bytes}-{value_bytes}");
    let body = json!({"name": name, "schema": schema, "properties": properties});
    post("/iceberg/v1/main/namespaces/n/tables", body.to_string())
}

/// What the table needs: a namespace, and a branch with more commits than a page of its log.
pub async fn prepare(server: &Server) {
    server.commit("main", "m", json!([put_namespace("n")])).await;
    for n in 0..=PAGE_COMMITS_MAX {
        server.commit("main", "m", json!([put(&format!("k{n}"), "s3://1")])).await;
    }
    let page = server.get("/api/v2/trees/main/history?max-records=1000").await.ok();
    assert_eq!(list(&page["logEntries"]).len(), PAGE_COMMITS_MAX, "a page of the log is cut, not refused");
    assert_eq!(page["hasMore"], true);
}

/// Limits that one request can meet. Those of connections, of all bodies together and of the depth of JSON are tested
/// beside their code.
pub fn all() -> Vec<Row> {
    let target = |size: usize| {
        let path = "/api/v2/trees?x=";
        get(format!("{path}{}", "y".repeat(size - path.len())))
    };
    let elements = |count: usize| keys(&json!(vec!["e"; count]));
    let length = |units: usize| keys(&json!(["\u{1F600}".repeat(units / 2), "x".repeat(units % 2 + 2)]));
    let text = |size: usize| filter(&format!("entry.name=='{}'", "x".repeat(size - 14)));
    let brackets = |depth: usize| filter(&format!("{}true{}", "(".repeat(depth), ")".repeat(depth)));
    let operators = |count: usize| filter(&format!("[{}].size()==0", vec!["-1"; count - 5].join(",")));
    let loops = |depth: usize| filter(&format!("{}true{}", "[1].exists(a,".repeat(depth), ")".repeat(depth)));
    let steps = |inner: usize| filter(&format!("{}.all(a,{}.all(b,a==b))", zeros(400), zeros(inner)));
    let row = |what, at, past, status, words| Row { what, at, past, status, words };
    vec![
        row("path and query", target(TARGET_BYTES_MAX), target(TARGET_BYTES_MAX + 1), 414, "longer than"),
        row("path segments", segments(SEGMENTS_MAX), segments(SEGMENTS_MAX + 1), 404, ""),
        row(
            "body",
            contents(padded(NESSIE_BODY_BYTES_MAX)),
            contents(padded(NESSIE_BODY_BYTES_MAX + 1)),
            413,
            "",
        ),
        row("body, unpacked", zipped(NESSIE_BODY_BYTES_MAX), zipped(NESSIE_BODY_BYTES_MAX + 1), 413, ""),
        row("body, unpacked to six times as much", zipped(NESSIE_BODY_BYTES_MAX), zipped(64 << 20), 413, ""),
        row("elements of a key", elements(20), elements(21), 400, "max allowed number of elements: 20"),
        row("length of a key", length(498), length(499), 400, "max allowed length: 500"),
        row("name of a reference", named(512), named(513), 400, "512"),
        row(
            "commits of one transplant",
            transplant(COMMITS_MAX),
            transplant(COMMITS_MAX + 1),
            400,
            "At most 10000",
        ),
        row("filter: length", text(16 << 10), text((16 << 10) + 1), 400, "longer than 16384 bytes"),
        row("filter: depth of brackets", brackets(48), brackets(49), 400, "nest deeper than 48"),
        row("filter: operators", operators(2_000), operators(2_001), 400, "more than 2000 operators"),
        row("filter: loops in loops", loops(3), loops(4), 400, "more than 3 macros"),
        row("filter: steps", steps(499), steps(500), 400, "more than 200000 steps"),
        row("properties: how many", properties(10_000, 5, 1), properties(10_001, 5, 1), 400, "10000"),
        row("properties: key", properties(1, 4 << 10, 1), properties(1, (4 << 10) + 1, 1), 400, "4096"),
        row("properties: value", properties(1, 1, 1 << 20), properties(1, 1, (1 << 20) + 1), 400, "1048576"),
    ]
}

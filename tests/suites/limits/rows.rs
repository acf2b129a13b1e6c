//! The table: what is bounded, a request at the bound, one past it, and how that is refused.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use lochan_api_spec::syntax::token::TOKEN_CHARS_MAX;
use lochan_server_catalog::nessie::{log::PAGE_COMMITS_MAX, transplant::COMMITS_MAX};
use lochan_server_http::limits::{
    ICEBERG_BODY_BYTES_MAX, NESSIE_BODY_BYTES_MAX, SEGMENTS_MAX, TARGET_BYTES_MAX,
};
use lochan_storage_iceberg::bounds::{
    NAME_BYTES_MAX, REQUIREMENTS_MAX, SCHEMA_DEPTH_MAX, SCHEMA_FIELDS_MAX, SPEC_FIELDS_MAX, UPDATES_MAX,
    VIEW_REPRESENTATIONS_MAX, VIEW_SQL_BYTES_MAX,
};
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

fn iceberg_body(size: usize) -> Ask {
    let mut body = br#"{"requirements":[],"updates":[]}"#.to_vec();
    body.resize(size, b' ');
    post("/iceberg/v1/main/namespaces/n/tables/t", body)
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

fn token(length: usize) -> Ask {
    get(format!("/api/v2/trees/main/entries?page-token={}", "0".repeat(length)))
}

fn schema(fields: &[Value]) -> Value {
    json!({"type": "struct", "schema-id": 0, "fields": fields})
}

fn column(id: usize, name: &str, data_type: &Value) -> Value {
    json!({"id": id, "name": name, "type": data_type, "required": false})
}

fn integer(id: usize, name: &str) -> Value {
    column(id, name, &json!("int"))
}

/// Creates a table.
fn table(name: String, schema: &Value, more: Value) -> Ask {
    let mut body = json!({"name": name, "schema": schema});
    if let (Value::Object(body), Value::Object(more)) = (&mut body, more) {
        body.extend(more);
    }
    post("/iceberg/v1/main/namespaces/n/tables", body.to_string())
}

fn columns(count: usize) -> Ask {
    let fields: Vec<Value> = (1..=count).map(|id| integer(id, &format!("c{id}"))).collect();
    table(format!("wide{count}"), &schema(&fields), json!({}))
}

fn column_name(bytes: usize) -> Ask {
    table(format!("named{bytes}"), &schema(&[integer(1, &"c".repeat(bytes))]), json!({}))
}

/// A table whose columns stand in structs, this many deep.
fn nested(depth: usize) -> Ask {
    let mut field = integer(depth, "c");
    for id in (1..depth).rev() {
        field = column(id, "s", &json!({"type": "struct", "fields": [field]}));
    }
    table(format!("deep{depth}"), &schema(&[field]), json!({}))
}

fn partitioned(count: usize) -> Ask {
    let field = |n: usize| json!({"source-id": 1, "field-id": 1_000 + n, "name": format!("p{n}"), "transform": "void"});
    let spec = json!({"spec-id": 0, "fields": (0..count).map(field).collect::<Vec<_>>()});
    table(format!("parts{count}"), &schema(&[integer(1, "a")]), json!({"partition-spec": spec}))
}

fn sorted(count: usize) -> Ask {
    let field =
        json!({"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"});
    let order = json!({"order-id": 1, "fields": vec![field; count]});
    table(format!("sorted{count}"), &schema(&[integer(1, "a")]), json!({"write-order": order}))
}

/// Commits to the table `t`.
fn change(requirements: Vec<Value>, updates: Vec<Value>) -> Ask {
    let body = json!({"requirements": requirements, "updates": updates});
    post("/iceberg/v1/main/namespaces/n/tables/t", body.to_string())
}

fn updates(count: usize) -> Ask {
    change(Vec::new(), vec![json!({"action": "set-properties", "updates": {}}); count])
}

fn requirements(count: usize) -> Ask {
    change(vec![json!({"type": "assert-current-schema-id", "current-schema-id": 0}); count], Vec::new())
}

fn transaction(tables: usize) -> Ask {
    let change = |n: usize| {
        let identifier = json!({"namespace": ["n"], "name": format!("none{n}")});
        json!({"identifier": identifier, "requirements": [], "updates": []})
    };
    let body = json!({"table-changes": (0..tables).map(change).collect::<Vec<_>>()});
    post("/iceberg/v1/main/transactions/commit", body.to_string())
}

fn view(dialects: usize, sql_bytes: usize) -> Ask {
    let say = |n: usize| json!({"type": "sql", "dialect": format!("d{n}"), "sql": "s".repeat(sql_bytes)});
    let version = json!({"version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {}, "default-namespace": ["n"],
        "representations": (0..dialects).map(say).collect::<Vec<_>>()});
    let body = json!({"name": format!("v{dialects}-{sql_bytes}"), "schema": schema(&[integer(1, "a")]),
        "view-version": version, "properties": {}});
    post("/iceberg/v1/main/namespaces/n/views", body.to_string())
}

/// What the table needs: a namespace, a table, and a branch with more commits than a page of its log.
pub async fn prepare(server: &Server) {
    server.commit("main", "m", json!([put_namespace("n")])).await;
    let made = table("t".into(), &schema(&[integer(1, "a")]), json!({})).send(server).await;
    assert_eq!(made.status, 200, "{}", made.body);
    for n in 0..=PAGE_COMMITS_MAX {
        server.commit("main", "m", json!([put(&format!("k{n}"), "s3://1")])).await;
    }
    let page = server.get("/api/v2/trees/main/history?max-records=1000").await.ok();
    assert_eq!(list(&page["logEntries"]).len(), PAGE_COMMITS_MAX, "a page of the log is cut, not refused");
    assert_eq!(page["hasMore"], true);
}

/// Limits that one request can meet. The others are tested beside their code: see [`crate::documented`].
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
        row(
            "body of Iceberg",
            iceberg_body(ICEBERG_BODY_BYTES_MAX),
            iceberg_body(ICEBERG_BODY_BYTES_MAX + 1),
            413,
            "larger than",
        ),
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
        row("filter: loops in loops", loops(8), loops(9), 400, "more than 8 macros"),
        row("filter: steps", steps(499), steps(500), 400, "more than 200000 steps"),
        row("page token", token(TOKEN_CHARS_MAX), token(TOKEN_CHARS_MAX + 1), 400, "longer than 8192"),
        row("tables of one transaction", transaction(1_000), transaction(1_001), 400, "at most 1000 tables"),
        row("updates", updates(UPDATES_MAX), updates(UPDATES_MAX + 1), 400, "Too many updates"),
        row(
            "requirements",
            requirements(REQUIREMENTS_MAX),
            requirements(REQUIREMENTS_MAX + 1),
            400,
            "Too many requirements",
        ),
        row(
            "schema: fields",
            columns(SCHEMA_FIELDS_MAX),
            columns(SCHEMA_FIELDS_MAX + 1),
            400,
            "Too many columns",
        ),
        row(
            "schema: depth",
            nested(SCHEMA_DEPTH_MAX),
            nested(SCHEMA_DEPTH_MAX + 1),
            400,
            "nested too deeply",
        ),
        row(
            "name of a column",
            column_name(NAME_BYTES_MAX),
            column_name(NAME_BYTES_MAX + 1),
            400,
            "Column name is too long",
        ),
        row(
            "fields of a partition spec",
            partitioned(SPEC_FIELDS_MAX),
            partitioned(SPEC_FIELDS_MAX + 1),
            400,
            "Too many partition fields",
        ),
        row(
            "fields of a sort order",
            sorted(SPEC_FIELDS_MAX),
            sorted(SPEC_FIELDS_MAX + 1),
            400,
            "Too many sort fields",
        ),
        row(
            "SQL of a view",
            view(1, VIEW_SQL_BYTES_MAX),
            view(1, VIEW_SQL_BYTES_MAX + 1),
            400,
            "SQL of a view is too long",
        ),
        row(
            "dialects of a view",
            view(VIEW_REPRESENTATIONS_MAX, 1),
            view(VIEW_REPRESENTATIONS_MAX + 1, 1),
            400,
            "Too many view representations",
        ),
        row("properties: how many", properties(10_000, 5, 1), properties(10_001, 5, 1), 400, "10000"),
        row("properties: key", properties(1, 4 << 10, 1), properties(1, (4 << 10) + 1, 1), 400, "4096"),
        row("properties: value", properties(1, 1, 1 << 20), properties(1, 1, (1 << 20) + 1), 400, "1048576"),
    ]
}

//! Every route and every role. A route that is not in the table fails the test until somebody has decided.

use std::collections::BTreeMap;

use lochan_api_spec::endpoint::Auth;
use lochan_server_http::Op;
use serde_json::{Value, json};

use crate::world::{World, put, put_namespace, schema};

/// Whose requests the columns of the table are.
const ROLES: [&str; 4] = ["stranger", "reader", "writer", "admin"];

/// By operation, for each role: `+` it is done, `-` it is refused (403), `0` the answer is an empty list. `?` leaves the
/// answer to the suite of the operation itself, and asks only that it is not one about who is asking.
const TABLE: &[(&str, &str)] = &[
    ("V2GetConfig", "++++"),
    ("V2GetRepositoryConfig", "---+"),
    ("V2UpdateRepositoryConfig", "---+"),
    ("V2GetAllReferences", "0+++"),
    ("V2CreateReference", "---+"),
    ("V2GetReferenceByName", "-+++"),
    ("V2GetReferenceHistory", "-+++"),
    ("V2AssignReference", "---+"),
    ("V2DeleteReference", "---+"),
    ("V2GetEntries", "-+++"),
    ("V2GetCommitLog", "-+++"),
    ("V2GetDiff", "-+++"),
    ("V2GetContent", "-+++"),
    ("V2GetSeveralContents", "-+++"),
    ("V2GetMultipleContents", "-+++"),
    ("V2CommitMultipleOperations", "--++"),
    ("V2MergeRefIntoBranch", "--++"),
    ("V2TransplantCommitsIntoBranch", "--++"),
    ("V1GetConfig", "++++"),
    ("V1GetAllReferences", "0+++"),
    ("V1GetDefaultBranch", "-+++"),
    ("V1CreateReference", "---+"),
    ("V1GetReferenceByName", "-+++"),
    ("V1GetEntries", "-+++"),
    ("V1GetCommitLog", "-+++"),
    ("V1AssignReference", "---+"),
    ("V1DeleteReference", "---+"),
    ("V1CommitMultipleOperations", "--++"),
    ("V1MergeRefIntoBranch", "--++"),
    ("V1TransplantCommitsIntoBranch", "--++"),
    ("V1GetContent", "-+++"),
    ("V1GetMultipleContents", "-+++"),
    ("V1GetDiff", "-+++"),
    ("V1GetNamespaces", "-+++"),
    ("V1GetNamespace", "-+++"),
    ("V1CreateNamespace", "--++"),
    ("V1UpdateProperties", "--++"),
    ("V1DeleteNamespace", "--++"),
    ("IcebergGetConfig", "-+++"),
    ("IcebergGetConfigOfReference", "-+++"),
    ("IcebergGetToken", "????"),
    ("IcebergGetTokenOfReference", "????"),
    ("IcebergListNamespaces", "-+++"),
    ("IcebergCreateNamespace", "--++"),
    ("IcebergLoadNamespace", "-+++"),
    ("IcebergNamespaceExists", "-+++"),
    ("IcebergDropNamespace", "--++"),
    ("IcebergUpdateProperties", "--++"),
    ("IcebergListTables", "-+++"),
    ("IcebergCreateTable", "--++"),
    ("IcebergLoadTable", "-+++"),
    ("IcebergTableExists", "-+++"),
    ("IcebergCommitTable", "--++"),
    ("IcebergDropTable", "--++"),
    ("IcebergRegisterTable", "--++"),
    ("IcebergRenameTable", "--++"),
    ("IcebergLoadCredentials", "-+++"),
    ("IcebergReportMetrics", "-+++"),
    ("IcebergCommitTransaction", "--++"),
    ("IcebergListViews", "-+++"),
    ("IcebergCreateView", "--++"),
    ("IcebergLoadView", "-+++"),
    ("IcebergViewExists", "-+++"),
    ("IcebergCommitView", "--++"),
    ("IcebergDropView", "--++"),
    ("IcebergRenameView", "--++"),
    ("IcebergRegisterView", "--++"),
    ("ExtGetInfo", "++++"),
    ("ExtGetReflog", "-+++"),
    ("ExtRestoreReference", "---+"),
    ("ExtRebaseBranch", "---+"),
    ("ExtExportRepository", "---+"),
    ("ExtImportRepository", "---?"),
    ("ExtListImports", "---+"),
    ("ExtGetImport", "---?"),
    ("ExtDropImport", "---?"),
    ("ExtListImportedCommits", "---?"),
];

/// What all branches begin with.
struct Base {
    table: Value,
    view: Value,
}

async fn prepare(world: &World) -> Base {
    let native = json!([put_namespace("db"), put_namespace("empty"), put("db.native")]);
    world.commit("admin", "main", native).await.ok();
    let made = async |what: &str, body: Value| {
        let path = format!("/iceberg/v1/main/namespaces/db/{what}");
        world.by("admin", "POST", &path, &body).await.ok()["metadata-location"].clone()
    };
    let table = made("tables", json!({"name": "t", "schema": schema()})).await;
    Base { table, view: made("views", view("v")).await }
}

fn view(name: &str) -> Value {
    json!({"name": name, "schema": schema(), "properties": {}, "view-version": {"version-id": 1, "timestamp-ms": 1,
        "schema-id": 0, "summary": {}, "default-namespace": ["db"],
        "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}]}})
}

/// A request that succeeds on the fresh branch `b`, whose head is `head`, for those who may make it.
fn sample(op: Op, b: &str, head: &str, dev: &str, base: &Base) -> (String, Value) {
    let commit = json!({"commitMeta": {"message": "m"}, "operations": [put("db.new")]});
    let wanted = json!({"requestedKeys": [{"elements": ["db", "native"]}]});
    let merge = json!({"fromRefName": "dev", "fromHash": dev});
    let transplant = json!({"fromRefName": "dev", "hashesToTransplant": [dev]});
    let source = json!({"type": "BRANCH", "name": b, "hash": head});
    let set = json!([{"action": "set-properties", "updates": {"k": "v"}}]);
    let named = |name: &str| json!({"namespace": ["db"], "name": name});
    let rename = |name: &str| json!({"source": named(name), "destination": named("moved")});
    let none = |target: String| (target, Value::Null);
    match op.name() {
        "V2GetConfig" => none("/api/v2/config".into()),
        "V2GetRepositoryConfig" => none("/api/v2/config/repository?type=GARBAGE_COLLECTOR".into()),
        "V2UpdateRepositoryConfig" => {
            ("/api/v2/config/repository".into(), json!({"config": {"type": "GARBAGE_COLLECTOR"}}))
        }
        "V2GetAllReferences" => none("/api/v2/trees".into()),
        "V2CreateReference" => (format!("/api/v2/trees?name={b}-new&type=BRANCH"), source),
        "V2GetReferenceByName" => none(format!("/api/v2/trees/{b}")),
        "V2GetReferenceHistory" => none(format!("/api/v2/trees/{b}/recent-changes")),
        "V2AssignReference" => (format!("/api/v2/trees/{b}@{head}"), source),
        "V2DeleteReference" => none(format!("/api/v2/trees/{b}@{head}")),
        "V2GetEntries" => none(format!("/api/v2/trees/{b}/entries")),
        "V2GetCommitLog" => none(format!("/api/v2/trees/{b}/history?fetch=ALL")),
        "V2GetDiff" => none(format!("/api/v2/trees/{b}/diff/dev")),
        "V2GetContent" => none(format!("/api/v2/trees/{b}/contents/db.native")),
        "V2GetSeveralContents" => none(format!("/api/v2/trees/{b}/contents?key=db.native")),
        "V2GetMultipleContents" => (format!("/api/v2/trees/{b}/contents"), wanted),
        "V2CommitMultipleOperations" => (format!("/api/v2/trees/{b}@{head}/history/commit"), commit),
        "V2MergeRefIntoBranch" => (format!("/api/v2/trees/{b}@{head}/history/merge"), merge),
        "V2TransplantCommitsIntoBranch" => {
            (format!("/api/v2/trees/{b}@{head}/history/transplant"), transplant)
        }
        "V1GetConfig" => none("/api/v1/config".into()),
        "V1GetAllReferences" => none("/api/v1/trees".into()),
        "V1GetDefaultBranch" => none("/api/v1/trees/tree".into()),
        "V1CreateReference" => (
            format!("/api/v1/trees/tree?sourceRefName={b}"),
            json!({"type": "TAG", "name": format!("{b}-new"), "hash": head}),
        ),
        "V1GetReferenceByName" => none(format!("/api/v1/trees/tree/{b}")),
        "V1GetEntries" => none(format!("/api/v1/trees/tree/{b}/entries")),
        "V1GetCommitLog" => none(format!("/api/v1/trees/tree/{b}/log?fetch=ALL")),
        "V1AssignReference" => (format!("/api/v1/trees/branch/{b}?expectedHash={head}"), source),
        "V1DeleteReference" => none(format!("/api/v1/trees/branch/{b}?expectedHash={head}")),
        "V1CommitMultipleOperations" => {
            (format!("/api/v1/trees/branch/{b}/commit?expectedHash={head}"), commit)
        }
        "V1MergeRefIntoBranch" => (format!("/api/v1/trees/branch/{b}/merge?expectedHash={head}"), merge),
        "V1TransplantCommitsIntoBranch" => {
            (format!("/api/v1/trees/branch/{b}/transplant?expectedHash={head}"), transplant)
        }
        "V1GetContent" => none(format!("/api/v1/contents/db.native?ref={b}")),
        "V1GetMultipleContents" => (format!("/api/v1/contents?ref={b}"), wanted),
        "V1GetDiff" => none(format!("/api/v1/diffs/{b}...dev")),
        "V1GetNamespaces" => none(format!("/api/v1/namespaces/{b}")),
        "V1GetNamespace" => none(format!("/api/v1/namespaces/namespace/{b}/db")),
        "V1CreateNamespace" => {
            let made = json!({"type": "NAMESPACE", "elements": ["made"]});
            (format!("/api/v1/namespaces/namespace/{b}/made"), made)
        }
        "V1UpdateProperties" => {
            (format!("/api/v1/namespaces/namespace/{b}/db"), json!({"propertyUpdates": {"a": "b"}}))
        }
        "V1DeleteNamespace" => none(format!("/api/v1/namespaces/namespace/{b}/empty")),
        "ExtGetReflog" => none(format!("/ext/v1/reflog?ref={b}")),
        "ExtRestoreReference" => {
            (format!("/ext/v1/refs/{b}:restore"), json!({"entry": 1, "expectedNumber": 1}))
        }
        "ExtImportRepository" => none("/ext/v1/import?id=some".into()),
        "ExtRebaseBranch" => (
            format!("/ext/v1/refs/{b}:rebase"),
            json!({"expectedHash": head, "onto": "dev", "ontoHash": dev}),
        ),
        name => {
            let namespace = if name == "IcebergDropNamespace" { "empty" } else { "db" };
            let target = op
                .template()
                .replace("{reference}", b)
                .replace("{prefix}", b)
                .replace("{namespace}", namespace)
                .replace("{table}", "t")
                .replace("{view}", "v")
                .replace("{ref}", b)
                .replace("{id}", "some");
            let body = match name {
                "IcebergCreateNamespace" => json!({"namespace": ["made"]}),
                "IcebergUpdateProperties" => json!({"updates": {"k": "v"}}),
                "IcebergCreateTable" => json!({"name": "new", "schema": schema()}),
                "IcebergCommitTable" | "IcebergCommitView" => json!({"updates": set}),
                "IcebergRegisterTable" => json!({"name": "new", "metadata-location": base.table}),
                "IcebergRegisterView" => json!({"name": "new", "metadata-location": base.view}),
                "IcebergRenameTable" => rename("t"),
                "IcebergRenameView" => rename("v"),
                "IcebergCreateView" => view("new"),
                "IcebergCommitTransaction" => {
                    json!({"table-changes": [{"identifier": named("t"), "updates": set}]})
                }
                "IcebergReportMetrics" => json!({"report-type": "scan-report"}),
                _ if op.method() == "POST" => json!({}),
                _ => Value::Null,
            };
            (target, body)
        }
    }
}

#[tokio::test]
async fn every_route_by_every_role() {
    let table: BTreeMap<&str, String> =
        TABLE.iter().map(|(name, cells)| (*name, cells.replace(' ', ""))).collect();
    assert_eq!(table.len(), Op::ALL.len(), "a row for every route, and none besides");
    let world = World::start().await;
    let base = prepare(&world).await;
    world.create("BRANCH", "dev", "main").await;
    world.commit("admin", "dev", json!([put("db.dev")])).await.ok();
    let dev = world.head("dev").await;
    let mut wrong = Vec::new();
    for op in Op::ALL {
        let cells = table.get(op.name()).unwrap_or_else(|| panic!("{} has no row", op.name()));
        assert_eq!(cells.len(), ROLES.len(), "{}", op.name());
        for (role, cell) in ROLES.iter().zip(cells.chars()) {
            let branch = format!("b-{}-{role}", op.name());
            world.create("BRANCH", &branch, "main").await;
            let head = world.head(&branch).await;
            let (target, body) = sample(*op, &branch, &head, &dev, &base);
            let method = op.method();
            if *role == "stranger" && op.auth() == Auth::Bearer {
                for token in [
                    None,
                    Some("Bearer wrong"),
                    Some("Basic YTpi"),
                    Some("Bearer"),
                    Some("Bearer token-of-admin x"),
                ] {
                    let answer = world.send(token, method, &target, &body).await;
                    if !is_challenge(&answer, method) {
                        wrong.push(format!("{method} {target} with {token:?}: {answer:?}"));
                    }
                }
            }
            let answer = world.by(role, method, &target, &body).await;
            let right = match cell {
                '+' => answer.status < 300,
                '-' => answer.status == 403 && (method == "HEAD" || says_forbidden(&answer.body)),
                '0' => answer.status == 200 && answer.body["references"] == json!([]),
                '?' => answer.status != 401,
                other => panic!("no such cell: {other}"),
            };
            if !right {
                wrong.push(format!("{cell} {role}: {method} {target}: {} {}", answer.status, answer.body));
            }
            if cell == '-' && world.head(&branch).await != head {
                wrong.push(format!("{role}: {method} {target} changed something"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong answers:\n{}", wrong.len(), wrong.join("\n"));
    world.running.stop().await;
}

/// A 401 as its surface says it.
fn is_challenge(answer: &crate::world::Answer, method: &str) -> bool {
    let challenge = answer.headers.get("www-authenticate").and_then(|value| value.to_str().ok());
    let body = &answer.body;
    let code = &body["error"]["code"];
    let said = method == "HEAD" || body["status"] == 401 || *code == 401 || *code == "UNAUTHORIZED";
    answer.status == 401 && challenge.is_some_and(|text| text.starts_with("Bearer")) && said
}

fn says_forbidden(body: &Value) -> bool {
    let error = &body["error"];
    body["errorCode"] == "FORBIDDEN" || error["type"] == "ForbiddenException" || error["code"] == "FORBIDDEN"
}

//! Commands that need Lochan's own API.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::stub::Stub;
use crate::world::*;

fn entry(number: u64, operation: &str, old: Option<&str>, new: Option<&str>) -> Value {
    json!({ "reference": "dev", "number": number, "type": "BRANCH", "oldHash": old.map(hash), "newHash": new.map(hash),
        "operation": operation, "principal": "ann", "time": format!("2026-05-01T11:{:02}:00Z", 40 + number), "run": null })
}

fn reflog(entries: Vec<Value>) -> String {
    json!({ "hasMore": false, "token": null, "entries": entries }).to_string()
}

fn refusal(status: u16, code: &str, message: &str, details: Value) -> (u16, String) {
    (status, json!({ "error": { "code": code, "message": message, "details": details } }).to_string())
}

#[test]
fn a_deleted_branch_is_found_and_brought_back() {
    let entries = vec![
        entry(3, "DELETE", Some("b2"), None),
        entry(2, "COMMIT", Some("a1"), Some("b2")),
        entry(1, "CREATE", None, Some("a1")),
    ];
    let restored = json!({ "changed": true, "reference": { "type": "BRANCH", "name": "dev", "hash": hash("b2") },
        "entry": entry(4, "RESTORE", None, Some("b2")) });
    let stub = Stub::start(vec![
        ("GET /ext/v1/reflog", 200, reflog(entries)),
        ("POST /ext/v1/refs/dev:restore", 200, restored.to_string()),
    ]);
    assert_snapshot!(run(&stub, "lochan reflog dev").all(), @r"
    dev  3  delete      b2b2b2b2b2b2 → nothing       17 minutes ago  ann
    dev  2  commit      a1a1a1a1a1a1 → b2b2b2b2b2b2  18 minutes ago  ann
    dev  1  create      nothing → a1a1a1a1a1a1       19 minutes ago  ann
    ---- stderr
    ---- exit 0
    ");
    assert_snapshot!(run(&stub, "lochan undo dev").all(), @r"
    Restored branch dev at b2b2b2b2b2b2
    To undo that:
      lochan undo dev
    ---- stderr
    ---- exit 0
    ");
    assert_eq!(run(&stub, "lochan undo dev --to 1 -n --json").json()["dryRun"], true);
    let bodies: Vec<Value> =
        stub.bodies("POST").iter().map(|body| serde_json::from_str(body).unwrap()).collect();
    assert_eq!(bodies[0], json!({ "entry": 3, "side": "OLD", "expectedNumber": 3, "dryRun": false }));
    assert_eq!(bodies[1], json!({ "entry": 1, "side": "NEW", "expectedNumber": 3, "dryRun": true }));
    let asked = &stub.requests()[0];
    assert_eq!(asked, "GET /ext/v1/reflog?ref=dev&max-records=50");
}

#[test]
fn a_rebase_tells_what_became_of_each_commit() {
    let rebased = json!({ "wasApplied": true, "wasSuccessful": true, "branch": "dev", "oldHash": hash("b2"),
        "newHash": hash("d4"), "commonAncestor": hash("a1"), "details": [],
        "commits": [
            { "oldHash": hash("b1"), "newHash": null, "outcome": "CONTAINED" },
            { "oldHash": hash("b2"), "newHash": hash("d4"), "outcome": "PICKED" },
        ] });
    let history = log(vec![meta("b2", 20, "ann", "Second"), meta("b1", 10, "ann", "First")], true);
    let stub = Stub::start(vec![
        ("GET /api/v2/trees/dev", 200, single(branch("dev", "b2"))),
        ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
        ("GET /api/v2/trees/dev@b2b2", 200, history),
        ("POST /ext/v1/refs/dev:rebase", 200, rebased.to_string()),
    ]);
    assert_snapshot!(run(&stub, "lochan rebase dev onto main").all(), @r"
    Rebased dev onto main: b2b2b2b2b2b2 → d4d4d4d4d4d4, 2 commits
      b2b2b2b2b2b2 → d4d4d4d4d4d4  Second
      b1b1b1b1b1b1 → left out      First
    ---- stderr
    ---- exit 0
    ");
    let body: Value = serde_json::from_str(&stub.bodies("POST")[0]).unwrap();
    let expected = (&json!(hash("b2")), &json!("main"), &json!(hash("c3")));
    assert_eq!((&body["expectedHash"], &body["onto"], &body["ontoHash"]), expected);
}

#[test]
fn a_rebase_without_commits_of_its_own_moves_forward_or_not_at_all() {
    let answer = |applied: bool, new: Option<&str>| {
        let rebased = json!({ "wasApplied": applied, "wasSuccessful": true, "branch": "dev", "oldHash": hash("b2"),
            "newHash": new.map(hash), "commonAncestor": hash("b2"), "details": [], "commits": [] });
        let stub = Stub::start(vec![
            ("GET /api/v2/trees/dev", 200, single(branch("dev", "b2"))),
            ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
            ("GET /api/v2/trees/dev@b2b2", 200, log(vec![], false)),
            ("POST /ext/v1/refs/dev:rebase", 200, rebased.to_string()),
        ]);
        run(
            &stub,
            if new.is_none() || !applied {
                "lochan rebase -n dev onto main"
            } else {
                "lochan rebase dev onto main"
            },
        )
        .stdout
    };
    assert_eq!(answer(true, Some("c3")), "Moved dev forward to main: b2b2b2b2b2b2 → c3c3c3c3c3c3\n");
    assert_eq!(answer(false, None), "Would move dev forward to main\n");
    assert_eq!(answer(false, Some("b2")), "Nothing to rebase: dev stays at b2b2b2b2b2b2\n");
}

#[test]
fn a_rebase_in_conflict_shows_both_sides_and_fails() {
    let key = json!({ "elements": ["ns", "t"] });
    let conflict = json!({ "conflictType": "VALUE_DIFFERS", "key": key, "message": "values differ" });
    let rebased = json!({ "wasApplied": false, "wasSuccessful": false, "branch": "dev", "oldHash": hash("b2"),
        "newHash": null, "commonAncestor": hash("a1"),
        "details": [{ "key": key, "mergeBehavior": "NORMAL", "conflict": conflict }],
        "commits": [{ "oldHash": hash("b2"), "newHash": null, "outcome": "CONFLICT" }] });
    let held = |snapshot| {
        json!({ "contents": [{ "key": key, "content": table("i", "s3://b/m", snapshot) }],
        "effectiveReference": branch("x", "b2") })
        .to_string()
    };
    let stub = Stub::start(vec![
        ("GET /api/v2/trees/dev", 200, single(branch("dev", "b2"))),
        ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
        ("GET /api/v2/trees/dev@b2b2", 200, log(vec![], false)),
        ("GET /api/v2/trees/main@c3c3", 200, log(vec![], false)),
        ("POST /api/v2/trees/dev@b2", 200, held(2)),
        ("POST /api/v2/trees/main@c3", 200, held(3)),
        ("POST /ext/v1/refs/dev:rebase", 200, rebased.to_string()),
    ]);
    assert_snapshot!(run(&stub, "lochan rebase dev onto main").all(), @r"
    Not rebased: dev onto main, still at b2b2b2b2b2b2

      ns.t  both sides changed it
        dev   table, snapshot 2, metadata m
        main  table, snapshot 3, metadata m

    ---- stderr
    error: nothing rebased: 1 key is in conflict
    hint: take dev's state:  lochan rebase dev onto main --key-mode ns.t=FORCE
    hint: keep main's state:  lochan rebase dev onto main --key-mode ns.t=DROP
    ---- exit 1
    ");
}

#[test]
fn refusals_of_our_own_api_have_their_codes() {
    for (status, code, exit) in [
        (404, "REFERENCE_NOT_FOUND", 3),
        (404, "LOG_ENTRY_NOT_FOUND", 3),
        (409, "REFERENCE_CONFLICT", 1),
        (403, "FORBIDDEN", 4),
        (503, "SERVICE_UNAVAILABLE", 5),
        (500, "OUTCOME_UNKNOWN", 6),
    ] {
        let (status, body) = refusal(status, code, "Something.", json!({}));
        let entries = reflog(vec![entry(1, "CREATE", None, Some("a1"))]);
        let stub = Stub::start(vec![
            ("GET /ext/v1/reflog", 200, entries),
            ("POST /ext/v1/refs/dev:restore", status, body),
        ]);
        let ran = run(&stub, "lochan undo dev --json");
        assert_eq!(ran.code, exit, "{code}: {}", ran.all());
        if exit != 6 {
            assert_eq!(ran.error()["errorCode"], code);
        }
    }
}

#[test]
fn other_servers_are_named() {
    for (status, body) in [
        (404, String::new()),
        (404, error(404, "UNKNOWN", "HTTP 404 Not Found")),
        (404, refusal(404, "NOT_FOUND", "no such path", Value::Null).1),
        (405, String::new()),
    ] {
        let stub = Stub::start(vec![("GET /ext/", status, body)]);
        let ran = run(&stub, "lochan reflog main");
        assert_eq!(ran.code, 4, "{}", ran.all());
        assert!(
            ran.stderr.contains("is no Lochan server: it does not know GET /ext/v1/reflog"),
            "{}",
            ran.all()
        );
        assert!(
            ran.stderr.contains("hint: reflog, undo, rebase and import need a Lochan server"),
            "{}",
            ran.all()
        );
    }
}

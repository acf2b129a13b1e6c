//! `lochan sh` with scripts.

use insta::assert_snapshot;
use serde_json::json;

use crate::stub::Stub;
use crate::world::*;

fn stub() -> Stub {
    Stub::start(vec![
        config(),
        references(),
        ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
        ("GET /api/v2/trees/dev", 200, single(branch("dev", "b2"))),
        ("GET /api/v2/trees/dev/history", 200, log(vec![meta("b2", 10, "ann", "Add")], false)),
        (
            "GET /api/v2/trees/gone",
            404,
            error(404, "REFERENCE_NOT_FOUND", "Named reference 'gone' not found"),
        ),
        ("GET /api/v2/trees/-/history", 200, log(vec![meta("c3", 20, "bob", "Change")], false)),
    ])
}

fn script(stub: &Stub, line: &str, text: &str) -> Ran {
    run_with(&[("LOCHAN_ENDPOINT", &stub.url)], text, line)
}

#[test]
fn commands_and_statements_stand_side_by_side() {
    let stub = stub();
    let text = "# what there is\nbranch; USE BRANCH dev\nSHOW LOG\n  LIMIT 1\nshow log limit 1\n";
    assert_snapshot!(script(&stub, "lochan sh", text).all(), @r"
      dev   b2b2b2b2b2b2
    * main  c3c3c3c3c3c3
    commit b2b2b2b2b2b2 (dev)
    Author:  ann
    Date:    50 minutes ago (2026-05-01 11:10:00 UTC)

        Add
    commit b2b2b2b2b2b2 (dev)
    Author:  ann
    Date:    50 minutes ago (2026-05-01 11:10:00 UTC)

        Add
    ---- stderr
    ---- exit 0
    ");
}

#[test]
fn the_first_failure_ends_a_script_unless_told_otherwise() {
    let stub = stub();
    let text = "log gone\nlog dev --oneline\n";
    assert_snapshot!(script(&stub, "lochan sh", text).all(), @r"
    ---- stderr
    error: named reference 'gone' not found
    hint: `lochan branch` and `lochan tag` list what there is
    stopped at line 1 of standard input
    ---- exit 3
    ");
    let ran = script(&stub, "lochan sh -E -q", text);
    assert!(ran.code == 3 && ran.stdout.contains("Add") && !ran.stderr.contains("stopped"), "{}", ran.all());
    let ran = run(&stub, "lochan sh -c log_dev_--oneline -c exit -c log_gone");
    assert!(ran.code == 0 && ran.stdout.contains("Add"), "{}", ran.all());
    let ran = script(&stub, "lochan sh", "USE dev");
    assert!(
        ran.code == 2 && ran.stderr.contains("expected BRANCH, TAG, REFERENCE, found 'dev'"),
        "{}",
        ran.all()
    );
    let ran = script(&stub, "lochan sh", "USE TAG dev");
    assert!(ran.code == 4 && ran.stderr.contains("'dev' is a branch, not a tag"), "{}", ran.all());
    assert_eq!(script(&stub, "lochan sh", "log 'dev").code, 2);
    assert_eq!(script(&stub, "lochan sh", "sh").code, 2);
    assert_eq!(script(&stub, "lochan sh", "log --endpoint http://elsewhere").code, 2);
    assert_eq!(run(&stub, "lochan sh -s /nonexistent").code, 2);
}

#[test]
fn what_was_foreseen_is_no_failure() {
    let stub = Stub::start(vec![
        ("GET /api/v2/trees/dev", 200, single(branch("dev", "b2"))),
        (
            "GET /api/v2/trees/gone",
            404,
            error(404, "REFERENCE_NOT_FOUND", "Named reference 'gone' not found"),
        ),
        (
            "POST /api/v2/trees",
            409,
            error(409, "REFERENCE_ALREADY_EXISTS", "Named reference 'dev' already exists."),
        ),
    ]);
    let text = "CREATE BRANCH IF NOT EXISTS dev FROM dev; DROP BRANCH IF EXISTS gone";
    assert_eq!(script(&stub, "lochan sh", text).all(), "---- stderr\n---- exit 0");
    assert_eq!(script(&stub, "lochan sh", "CREATE BRANCH dev FROM dev").code, 1);
    assert_eq!(script(&stub, "lochan sh", "DROP BRANCH gone").code, 3);
}

#[test]
fn a_mistyped_first_word_is_understood() {
    let ran = script(&stub(), "lochan sh", "MEREG dev");
    assert!(ran.code == 2 && ran.stderr.contains("'MEREG' begins no statement"), "{}", ran.all());
    assert!(ran.stderr.contains("hint: MERGE [DRY] ref [at]"), "{}", ran.all());
    let ran = script(&stub(), "lochan sh", "FROBNICATE");
    assert!(ran.stderr.contains("hint: `help` lists what can be said"), "{}", ran.all());
}

#[test]
fn a_hint_can_be_pasted() {
    let stub = stub();
    assert!(script(&stub, "lochan sh", "lochan log dev --oneline").stdout.contains("Add"));
    let ran = script(&stub, "lochan sh", "USE TAG dev");
    assert!(ran.stderr.contains("hint: say `USE BRANCH dev`"), "{}", ran.all());
    let ran = script(&stub, "lochan sh", "SHOW LOG AT ~1");
    assert!(!ran.stderr.contains("unexpected argument"), "{}", ran.all());
}

#[test]
fn each_statement_writes_a_document() {
    let stub = stub();
    let ran = script(&stub, "lochan sh --json", "branch; log dev");
    let documents: Vec<serde_json::Value> =
        serde_json::Deserializer::from_str(&ran.stdout).into_iter().map(Result::unwrap).collect();
    assert_eq!(documents.len(), 2);
    assert_eq!(documents[1]["logEntries"][0]["commitMeta"]["message"], "Add");
    let error = script(&stub, "lochan sh --json -q", "SHOW NOTHING").error();
    assert_eq!((&error["kind"], &error["exitCode"]), (&json!("usage"), &json!(2)));
}

#[test]
fn an_error_in_json_stands_alone() {
    let stub = stub();
    for (options, statement, kind) in [
        ("--json", "log gone", "not-found"),
        ("--json", "log --onelin", "usage"),
        ("--json", "SHOW NOTHING", "usage"),
        ("", "log gone --json", "not-found"),
        ("", "log --onelin --json", "usage"),
        ("", "log --json --endpoint http://elsewhere", "usage"),
    ] {
        let ran = script(&stub, &format!("lochan {options} sh"), statement);
        assert_eq!(ran.error()["kind"], kind, "{statement}: {}", ran.all());
    }
    let ran = script(&stub, "lochan sh", "log dev --json\nlog gone");
    assert!(ran.stderr.ends_with("stopped at line 2 of standard input\n"), "{}", ran.all());
}

#[test]
fn hints_on_a_connection_fit_what_was_said() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ran = script(&stub(), "lochan sh", &format!("CONNECT TO http://{free}/"));
    assert!(
        ran.code == 5 && ran.stderr.contains(&format!("no server answers at http://{free}")),
        "{}",
        ran.all()
    );
    assert!(
        ran.stderr.contains("hint: start a server with `lochan-server`, or name another with CONNECT TO"),
        "{}",
        ran.all()
    );
    assert!(!ran.stderr.contains("LOCHAN_ENDPOINT"), "{}", ran.all());

    let answering = |status: u16, body: &str| Stub::start(vec![("GET /", status, body.to_owned())]);
    let connect = |to: &Stub, using: &str| {
        script(&stub(), "lochan sh", &format!("CONNECT TO {}api/v2 ON dev {using}", to.url)).stderr
    };
    let closed = answering(401, &error(401, "UNKNOWN", ""));
    let told = connect(&closed, "");
    assert!(told.contains("hint: give a token with CONNECT TO … USING authentication.token = "), "{told}");
    assert!(!told.contains("LOCHAN_TOKEN"), "{told}");
    let told = connect(&closed, "USING authentication.token = t");
    assert!(told.contains("hint: the token that was sent is not valid, or no longer\n"), "{told}");
    let told = connect(&answering(200, "<html>"), "");
    assert!(
        told.contains("hint: the endpoint is the server's root, such as ")
            && !told.contains("`lochan config`"),
        "{told}"
    );

    // Names are looked up where they were meant.
    let other = Stub::start(vec![
        ("GET /api/v2/trees/deb", 404, error(404, "REFERENCE_NOT_FOUND", "Named reference 'deb' not found")),
        (
            "GET /api/v2/trees",
            200,
            json!({ "hasMore": false, "references": [branch("debt", "e5")] }).to_string(),
        ),
    ]);
    let ran = script(&stub(), "lochan sh", &format!("CONNECT TO {}api/v2 ON deb", other.url));
    assert!(ran.code == 3 && ran.stderr.contains("hint: did you mean 'debt'?"), "{}", ran.all());
}

#[test]
fn standard_input_outlives_a_connection() {
    let stub = stub();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.sql");
    std::fs::write(&file, format!("CONNECT TO {}api/v2 ON dev\ncontent commit -i", stub.url)).unwrap();
    let ran = script(&stub, &format!("lochan sh -s {}", file.display()), "no operations");
    assert!(ran.code == 2 && ran.stderr.contains("standard input: expected ident"), "{}", ran.all());
}

#[test]
fn another_server_is_connected_to_with_its_own_token() {
    let (first, second) = (
        stub(),
        Stub::start(vec![
            ("GET /api/v2/trees/dev", 200, single(branch("dev", "e5"))),
            ("GET /api/v2/trees", 200, json!({ "hasMore": false, "references": [] }).to_string()),
            ("GET /api/v2/trees/dev/history", 200, log(vec![meta("e5", 30, "eve", "Elsewhere")], false)),
        ]),
    );
    let connect = format!(
        "CONNECT TO {}api/v2 ON dev USING nessie.authentication.type = BEARER AND nessie.authentication.token='hush hush'",
        second.url
    );
    let ran = script(&first, "lochan sh", &format!("{connect}\nSHOW LOG\nconfig"));
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(ran.stdout.contains("Elsewhere") && ran.stdout.contains("set  (by CONNECT)"), "{}", ran.all());
    assert!(!ran.all().contains("hush"), "{}", ran.all());
    assert!(second.headers().iter().any(|header| header == "authorization: Bearer hush hush"));
    assert!(first.headers().iter().all(|header| !header.starts_with("authorization")));
    let ran = script(&first, "lochan sh", "CONNECT TO http://h USING color = red");
    assert!(ran.code == 2 && ran.stderr.contains("'color' is not known"), "{}", ran.all());
}

#[test]
fn help_lists_statements_and_commands() {
    let stub = stub();
    let ran = script(&stub, "lochan sh", "help");
    assert!(ran.code == 0 && ran.stdout.contains("ASSIGN (BRANCH | TAG)"), "{}", ran.all());
    for line in ran.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let ran = script(&stub, "lochan sh", "HELP MERGE; help undo");
    assert!(ran.code == 0 && ran.stdout.starts_with("MERGE [DRY] ref"), "{}", ran.all());
    assert!(ran.stdout.contains("Usage: lochan undo"), "{}", ran.all());
}

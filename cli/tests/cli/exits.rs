//! Exit codes, errors and hints; the binary itself from outside.

use std::io::Write;

use assert_cmd::Command;
use insta::assert_snapshot;
use serde_json::json;

use crate::stub::Stub;
use crate::world::*;

fn stub(status: u16, body: String) -> Stub {
    Stub::start(vec![
        references(),
        ("GET /api/v2/trees/", status, body.clone()),
        ("POST /api/v2/trees/", status, body),
    ])
}

#[test]
fn unknown_names_get_a_suggestion() {
    let stub = stub(404, error(404, "REFERENCE_NOT_FOUND", "Named reference 'deb' not found"));
    assert_snapshot!(run(&stub, "lochan log deb").all(), @r#"
    ---- stderr
    error: named reference 'deb' not found
    hint: did you mean 'dev'?
    ---- exit 3
    "#);
    let error = run(&stub, "lochan log deb --json").error();
    assert_eq!(error["status"], 404);
    assert_eq!(error["errorCode"], "REFERENCE_NOT_FOUND");
    assert_eq!(error["kind"], "not-found");
}

#[test]
fn every_status_has_its_code() {
    for (status, code, exit) in [
        (400, "BAD_REQUEST", 4),
        (401, "UNKNOWN", 4),
        (403, "FORBIDDEN", 4),
        (404, "REFERENCE_NOT_FOUND", 3),
        (409, "REFERENCE_CONFLICT", 1),
        (429, "TOO_MANY_REQUESTS", 5),
        (500, "UNKNOWN", 5),
        (503, "SERVICE_UNAVAILABLE", 5),
    ] {
        let stub = stub(status, error(status, code, "Something."));
        let ran = run(&stub, "lochan content list -r main");
        assert_eq!(ran.code, exit, "{status}: {}", ran.all());
    }
}

#[test]
fn what_stands_in_the_way_is_told_with_what_to_do() {
    for (status, hint) in [
        (500, "GET /api/v2/trees/main/entries failed; the server's log says why"),
        (503, "nothing was changed; try again"),
        (507, "writes go on once the server's disk has room again"),
    ] {
        let stub = stub(status, error(status, "UNKNOWN", "Something."));
        let ran = run(&stub, "lochan content list -r main");
        assert!(ran.code == 5 && ran.stderr.contains(hint), "{status}: {}", ran.all());
    }
}

/// A commit whose answer is lost: the head is read, the change is sent, then this happens.
fn commit_answered(status: u16, body: &str) -> Ran {
    let key = json!({ "elements": ["ns", "t"] });
    let held = json!({ "contents": [{ "key": key, "content": table("9", "s3://b/t/m1.json", 7) }],
        "effectiveReference": branch("main", "c3") });
    let stub = Stub::start(vec![
        ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
        (
            "POST /api/v2/trees/main@c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3/contents",
            200,
            held.to_string(),
        ),
        ("POST /api/v2/trees/main", status, body.to_owned()),
    ]);
    run(&stub, "lochan content delete ns.t -r main")
}

#[test]
fn a_change_without_a_sound_answer_is_unknown() {
    assert_snapshot!(commit_answered(500, &error(500, "UNKNOWN", "the disk failed")).all(), @r#"
    ---- stderr
    error: it is not known whether the change was made: 500: the disk failed
    hint: look before repeating it: a second try may do it twice
    hint: `lochan log main -n 3` shows whether the commit is there
    ---- exit 6
    "#);
    for (status, body, exit) in
        [(0, "", 6), (200, "<html>", 6), (502, "<html>", 6), (504, "", 6), (503, "", 5), (507, "", 5)]
    {
        let ran = commit_answered(status, body);
        assert_eq!(ran.code, exit, "{status}: {}", ran.all());
    }
}

#[test]
fn conflicts_of_a_commit_say_what_to_do() {
    let conflict = |kind: &str, elements: &[&str], message: &str| json!({ "conflictType": kind, "key": { "elements": elements }, "message": message });
    let body = json!({ "status": 409, "reason": "Conflict", "errorCode": "REFERENCE_CONFLICT",
    "message": "There are multiple conflicts that prevent committing the provided operations: namespace 'a.b' must exist, namespace 'a' must exist.",
    "errorDetails": { "type": "REFERENCE_CONFLICTS", "conflicts": [
        conflict("NAMESPACE_ABSENT", &["a", "b"], "namespace 'a.b' must exist"),
        conflict("NAMESPACE_ABSENT", &["a"], "namespace 'a' must exist"),
    ]}});
    assert_snapshot!(commit_answered(409, &body.to_string()).all(), @r#"
    ---- stderr
    error: there are multiple conflicts that prevent committing the provided operations
      namespace 'a.b' must exist
      namespace 'a' must exist
    hint: make it with `lochan content commit --ref main --put a --namespace`
    hint: make it with `lochan content commit --ref main --put a.b --namespace`
    ---- exit 1
    "#);
}

#[test]
fn what_is_not_the_api_is_told_so() {
    let ran = run(&Stub::start(vec![("GET /", 404, "not here".to_owned())]), "lochan remote show");
    assert_eq!(ran.code, 5);
    assert!(ran.stderr.contains("does not speak the Nessie API v2"), "{}", ran.all());
    let ran = run(&Stub::start(vec![("GET /", 200, "<html>".to_owned())]), "lochan remote show");
    assert_eq!(ran.code, 5, "{}", ran.all());
    // A path below the root, as servers of either kind answer it.
    let nothing = "There is nothing at this path.";
    for body in [
        error(404, "UNKNOWN", nothing),
        json!({ "error": { "code": "NOT_FOUND", "message": nothing } }).to_string(),
    ] {
        let stub = Stub::start(vec![("GET /", 404, body.clone()), ("POST /", 404, body)]);
        for line in ["lochan tag", "lochan show dev", "lochan content get k", "lochan merge dev into main"] {
            let ran = run(&stub, line);
            assert_eq!(ran.code, 5, "{line}: {}", ran.all());
            assert!(
                ran.stderr.contains("does not speak the Nessie API v2: There is nothing"),
                "{}",
                ran.all()
            );
        }
    }
}

#[test]
fn a_server_without_tls_is_told_so() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
            // Closed by the client.
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    });
    let ran = run_with(&[("LOCHAN_ENDPOINT", &format!("https://{address}/"))], "", "lochan tag");
    assert_eq!(ran.code, 5, "{}", ran.all());
    let hint = format!("hint: it answers without TLS; try http://{address}\n");
    assert!(ran.stderr.contains(&hint), "{}", ran.all());
}

#[test]
fn what_may_not_be_seen_as_a_reference_may_be_a_key() {
    let key = json!({ "elements": ["ns", "t"] });
    let held = |found: serde_json::Value| {
        json!({ "contents": found, "effectiveReference": branch("main", "c3") }).to_string()
    };
    let forbidden = |name: &str| {
        error(
            403,
            "FORBIDDEN",
            &format!("'VIEW_REFERENCE' is not allowed for role 'w' on reference '{name}'"),
        )
    };
    let stub = Stub::start(vec![
        config(),
        ("GET /api/v2/trees/ns.", 403, forbidden("ns.t")),
        ("GET /api/v2/trees/@", 403, forbidden("DETACHED")),
        (
            "POST /api/v2/trees/-/contents",
            200,
            held(json!([{ "key": key, "content": table("9", "s3://b/t/m1.json", 7) }])),
        ),
        ("POST /api/v2/trees/-/contents", 200, held(json!([]))),
    ]);
    let ran = run(&stub, "lochan show ns.t");
    assert!(ran.code == 0 && ran.stdout.starts_with("table ns.t"), "{}", ran.all());
    let ran = run(&stub, "lochan show ns.u");
    assert!(ran.code == 4 && ran.stderr.contains("on reference 'ns.t'"), "{}", ran.all());
    let ran = run(&stub, &format!("lochan log {}", hash("a1")));
    assert!(ran.code == 4 && ran.stderr.contains("name a branch or tag beside it"), "{}", ran.all());
}

#[test]
fn a_usage_error_keeps_message_and_hints_apart() {
    let stub = Stub::start(vec![]);
    let error = run(&stub, "lochan --json log --onelin").error();
    assert_eq!(error["message"], "unexpected argument '--onelin' found");
    assert!(error["hints"][0].as_str().unwrap().contains("--oneline"), "{error}");
    let error = run(&stub, "lochan --json log -n -1").error();
    assert_eq!(error["message"], "invalid value '-1' for '--number <N>': it is a number, 0 for all of them");
    assert_eq!(error["hints"], json!([]));
}

fn lochan() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lochan"));
    command.env_remove("LOCHAN_ENDPOINT").env("HOME", "/nonexistent").env_remove("XDG_CONFIG_HOME");
    command
}

#[test]
fn the_program_ends_with_its_codes() {
    lochan().arg("--version").assert().code(0);
    lochan().arg("--help").assert().code(0);
    lochan().assert().code(2);
    lochan().arg("nonsense").assert().code(2);
    lochan().args(["merge", "a", "b", "c"]).assert().code(2);
    lochan().args(["help", "exit-codes"]).assert().code(0);
    let codes = lochan().arg("exit-codes").assert().code(0);
    assert!(codes.get_output().stdout.iter().filter(|byte| **byte == b'\n').count() > 5);
    // Nothing listens on the port of a listener that was closed again.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gone = lochan().args(["--json", "log", "--endpoint", &format!("http://{free}/")]).assert().code(5);
    let error: serde_json::Value = serde_json::from_slice(&gone.get_output().stderr).unwrap();
    assert_eq!(error["kind"], "unavailable");
    assert!(gone.get_output().stdout.is_empty());
    let stub = Stub::start(vec![config(), references()]);
    let list =
        lochan().args(["branch"]).env("LOCHAN_ENDPOINT", format!("{}api/v2", stub.url)).assert().code(0);
    assert!(!list.get_output().stdout.contains(&0x1b), "no colours in a pipe");
}

/// Nothing can be written to `/dev/full`.
#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_a_failure() {
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    for line in [
        "--help",
        "-h",
        "--version",
        "help merge",
        "merge --help",
        "completions bash",
        "completions elvish",
        "man",
        "exit-codes",
        "config",
        "sh -c help",
        "sh -c merge_--help",
    ] {
        let words = line.split(' ').map(|word| word.replace('_', " "));
        let ran = std::process::Command::new(env!("CARGO_BIN_EXE_lochan"))
            .args(words)
            .env("HOME", "/nonexistent")
            .stdout(full())
            .output()
            .unwrap();
        let said = String::from_utf8(ran.stderr).unwrap();
        assert!(
            ran.status.code() == Some(70) && said.contains("cannot write the output"),
            "{line}: {:?} {said}",
            ran.status
        );
    }
    // The code tells even where the complaint cannot be written.
    for line in ["nonsense", "sh -s /dev/null/x", "sh -c nonsense", "sh"] {
        let (script, mut written) = std::io::pipe().unwrap();
        written.write_all(b"nonsense").unwrap();
        drop(written);
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_lochan"));
        command.args(line.split(' ')).env("HOME", "/nonexistent").stdin(script).stderr(full());
        assert_eq!(command.status().unwrap().code(), Some(2), "{line}");
    }
}

/// A reader that went away is no failure.
#[test]
#[cfg(unix)]
fn a_broken_pipe_is_quiet() {
    for line in ["--help", "completions bash"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran = std::process::Command::new(env!("CARGO_BIN_EXE_lochan"))
            .args(line.split(' '))
            .stdout(writer)
            .output()
            .unwrap();
        assert_eq!((ran.status.code(), ran.stderr.as_slice()), (Some(0), b"".as_slice()), "{line}");
    }
}

#[test]
fn completions_and_manuals() {
    let folder = tempfile::tempdir().unwrap();
    lochan().args(["completions", "bash"]).assert().code(0);
    lochan().args(["completions", "fish"]).assert().code(0);
    lochan().arg("man").arg(folder.path()).assert().code(0);
    assert!(folder.path().join("lochan-branch-create.1").exists());
    lochan().args(["completions", "nosuchshell"]).assert().code(2);
}

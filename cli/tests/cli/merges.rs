//! Merges and cherry-picks.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::stub::{Answer, Stub};
use crate::world::*;

fn heads() -> Vec<Answer> {
    vec![
        ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
        ("GET /api/v2/trees/dev", 200, single(branch("dev", "b2"))),
    ]
}

fn response(applied: bool, details: Value) -> String {
    let conflict = details.as_array().unwrap().iter().any(|detail| detail.get("conflict").is_some());
    json!({ "wasApplied": applied, "wasSuccessful": !conflict,
        "resultantTargetHash": applied.then(|| hash("d4")), "commonAncestor": hash("a1"), "targetBranch": "main",
        "effectiveTargetHash": hash("c3"), "expectedHash": hash("c3"), "details": details })
    .to_string()
}

fn detail(elements: &[&str], mode: &str) -> Value {
    json!({ "key": { "elements": elements }, "mergeBehavior": mode })
}

#[test]
fn a_merge_that_applies() {
    let mut answers = heads();
    let details = json!([detail(&["ns", "u"], "NORMAL"), detail(&["ns", "t"], "FORCE")]);
    answers.push(("POST /api/v2/trees/main@c3c3", 200, response(true, details)));
    let stub = Stub::start(answers);
    assert_snapshot!(run(&stub, "lochan merge dev into main --key-mode ns.t=force -m Ship_it").all(), @r#"
    Merged dev into main: c3c3c3c3c3c3 → d4d4d4d4d4d4, 2 keys
      ns.t  the source's state, by FORCE
      ns.u
    ---- stderr
    ---- exit 0
    "#);
    let sent: Value = serde_json::from_str(&stub.bodies("POST")[0]).unwrap();
    assert_eq!(sent["fromRefName"], "dev");
    assert_eq!(sent["fromHash"], hash("b2"));
    assert_eq!(sent["isReturnConflictAsResult"], true);
    assert_eq!(sent["isDryRun"], false);
    assert_eq!(sent["commitMeta"]["message"], "Ship it");
    assert_eq!(sent["keyMergeModes"], json!([detail(&["ns", "t"], "FORCE")]));
}

#[test]
fn a_dry_run_and_nothing_to_do() {
    let mut answers = heads();
    answers.push(("POST /api/v2/trees/main", 200, response(false, json!([detail(&["ns", "t"], "NORMAL")]))));
    answers.push(("POST /api/v2/trees/main", 200, response(false, json!([]))));
    let stub = Stub::start(answers);
    assert_snapshot!(run(&stub, "lochan merge --dry-run dev into main").all(), @r#"
    Would merge dev into main without conflict: 1 key
      ns.t
    ---- stderr
    ---- exit 0
    "#);
    assert!(stub.bodies("POST")[0].contains("\"isDryRun\":true"));
    assert_snapshot!(run(&stub, "lochan merge dev --into main").all(), @r#"
    Nothing to be merged from dev: main stays at c3c3c3c3c3c3
    ---- stderr
    ---- exit 0
    "#);
}

fn in_conflict() -> Vec<Answer> {
    let key = json!({ "elements": ["ns", "t"] });
    let conflict = json!({ "key": key, "mergeBehavior": "NORMAL", "conflict": { "conflictType": "VALUE_DIFFERS",
        "key": key, "message": "values of existing and expected content for key 'ns.t' are different" } });
    let held = |location: &str, snapshot: i64, at: &str| {
        json!({ "contents": [{ "key": key, "content": table("9", location, snapshot) }],
            "effectiveReference": { "type": "DETACHED", "hash": hash(at) } })
        .to_string()
    };
    let mut answers = heads();
    answers.extend([
        ("POST /api/v2/trees/main", 200, response(false, json!([detail(&["ns", "u"], "NORMAL"), conflict]))),
        ("POST /api/v2/trees/dev@b2b2", 200, held("s3://b/t/metadata/00002-bb.metadata.json", 6, "b2")),
        ("POST /api/v2/trees/main@c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3/contents", 200, held("s3://b/t/metadata/00002-cc.metadata.json", 7, "c3")),
        ("GET /api/v2/trees/dev@b2b2", 200, log(vec![meta("b2", 58, "ann", "Drop carrier UA")], false)),
        ("GET /api/v2/trees/main@c3c3", 200, log(vec![meta("c3", 30, "bob", "Drop carrier AA")], false)),
    ]);
    answers
}

#[test]
fn a_conflict_names_keys_both_sides_and_what_to_do() {
    let stub = Stub::start(in_conflict());
    assert_snapshot!(run(&stub, "lochan merge dev into main").all(), @r#"
    Nothing merged from dev into main, still at c3c3c3c3c3c3

      ns.t  both sides changed it
        dev   table, snapshot 6, metadata 00002-bb.metadata.json
              changed by b2b2b2b2b2b2  Drop carrier UA  2 minutes ago
        main  table, snapshot 7, metadata 00002-cc.metadata.json
              changed by c3c3c3c3c3c3  Drop carrier AA  30 minutes ago

    ---- stderr
    error: nothing merged: 1 key is in conflict
    hint: take dev's state:  lochan merge dev into main --key-mode ns.t=FORCE
    hint: keep main's state:  lochan merge dev into main --key-mode ns.t=DROP
    hint: or make the change anew on a fresh branch of main and merge that
    ---- exit 1
    "#);
}

#[test]
fn a_conflict_in_json() {
    let stub = Stub::start(in_conflict());
    let ran = run(&stub, "lochan merge dev into main --json");
    assert_eq!(ran.code, 1);
    let conflict = &ran.json()["conflicts"][0];
    assert_eq!(conflict["source"]["content"]["snapshotId"], 6);
    assert_eq!(conflict["target"]["changedBy"]["message"], "Drop carrier AA");
    let error = ran.error();
    assert_eq!(error["kind"], "conflict");
    assert_eq!(error["exitCode"], 1);
    assert_eq!(error["conflicts"][0]["conflictType"], "VALUE_DIFFERS");
    assert_eq!(error["hints"].as_array().unwrap().len(), 3);
}

#[test]
fn a_cherry_pick_resolves_each_commit() {
    let mut answers = heads();
    answers.extend([
        ("GET /api/v2/trees/dev%7E1/history", 200, log(vec![meta("a1", 1, "", "A")], false)),
        ("POST /api/v2/trees/main@c3c3", 200, response(true, json!([detail(&["ns", "t"], "NORMAL")]))),
    ]);
    let stub = Stub::start(answers);
    assert_snapshot!(run(&stub, "lochan cherry-pick dev~1 dev into main").all(), @r#"
    Cherry-picked 2 commits into main: c3c3c3c3c3c3 → d4d4d4d4d4d4, 1 key
      ns.t
    ---- stderr
    ---- exit 0
    "#);
    let sent: Value = serde_json::from_str(&stub.bodies("POST")[0]).unwrap();
    assert_eq!(sent["fromRefName"], "dev");
    assert_eq!(sent["hashesToTransplant"], json!([hash("a1"), hash("b2")]));
}

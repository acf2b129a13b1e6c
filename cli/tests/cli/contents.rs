//! What keys hold: read in order, changed, put back.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::stub::{Answer, Stub};
use crate::world::*;

fn held(found: &[(&str, Value)]) -> String {
    let found =
        found.iter().map(|(name, content)| json!({ "key": { "elements": [name] }, "content": content }));
    json!({ "contents": found.collect::<Vec<_>>(), "effectiveReference": branch("main", "c3") }).to_string()
}

fn commits() -> Answer {
    let committed = json!({ "targetBranch": branch("main", "d4"), "addedContents": null });
    ("POST /api/v2/trees/main@", 200, committed.to_string())
}

/// `main` at cc, where these keys hold something; a commit on it goes through.
fn world(found: &[(&str, Value)]) -> Stub {
    Stub::start(vec![
        ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
        (
            "GET /api/v2/trees/main/entries",
            200,
            json!({ "hasMore": false, "token": null, "entries": [] }).to_string(),
        ),
        ("POST /api/v2/trees/main/contents", 200, held(found)),
        (
            "POST /api/v2/trees/main@c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3/contents",
            200,
            held(found),
        ),
        (
            "POST /api/v2/trees/main@a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1/contents",
            200,
            held(found),
        ),
        commits(),
    ])
}

fn t() -> (&'static str, Value) {
    ("t", table("9", "s3://b/t/m1.json", 7))
}

/// The bodies of commits that were sent.
fn sent(stub: &Stub) -> Vec<Value> {
    let bodies = stub.bodies("POST").into_iter().map(|body| serde_json::from_str::<Value>(&body).unwrap());
    bodies.filter(|body| body.get("operations").is_some()).collect()
}

#[test]
fn contents_come_in_the_order_that_was_asked() {
    let found = ["b", "c", "a"].map(|name| (name, table(name, "s3://b/m.json", 1)));
    let stub = world(&found);
    let document = run(&stub, "lochan --json content get -r main a b c").json();
    let keys: Vec<&str> = document["contents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|held| held["key"]["elements"][0].as_str().unwrap())
        .collect();
    assert_eq!(keys, ["a", "b", "c"]);
    let said = run(&stub, "lochan content get -r main c b a").stdout;
    let titles: Vec<&str> = said.lines().filter(|line| line.starts_with("table ")).collect();
    assert_eq!(titles, ["table c", "table b", "table a"]);
}

#[test]
fn what_stands_against_a_commit_is_told_before_it_is_sent() {
    let stub = world(&[t()]);
    assert_snapshot!(run(&stub, "lochan content commit -r main --put t --table-metadata s3://m --new").all(), @r"
    ---- stderr
    error: 't' exists already
    hint: without --new it is updated
    ---- exit 1
    ");
    let ran = run(&stub, "lochan content commit -r main --put t --namespace");
    assert!(ran.code == 4 && ran.stderr.contains("'t' is a table, not a namespace"), "{}", ran.all());
    for line in ["delete u", "delete t u", "commit -R u", "commit --delete u"] {
        let ran = run(&stub, &format!("lochan content {line} -r main"));
        assert!(ran.code == 3 && ran.stderr.contains("'u' does not exist on main"), "{line}: {}", ran.all());
    }
    assert!(sent(&stub).is_empty(), "nothing is changed");
    let ran = run(&stub, "lochan content commit -r main --put u --namespace --new");
    assert_eq!(ran.code, 0, "{}", ran.all());
    // A delete and a put of the same key make it anew.
    let ran = run(&stub, "lochan content delete t -r main");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(sent(&stub).len(), 2);
}

#[test]
fn a_commit_moves_the_head_whatever_was_expected() {
    let stub = world(&[t()]);
    let old = hash("a1");
    let ran = run(&stub, &format!("lochan content delete t -r main -c {old}"));
    assert!(ran.stdout.starts_with("Committed to main: c3c3c3c3c3c3 → d4d4d4d4d4d4\n"), "{}", ran.all());
    assert!(stub.requests().last().unwrap().contains(&format!("main@{old}/history/commit")));
}

#[test]
fn a_revert_reads_the_past_beside_its_branch() {
    let stub = Stub::start(vec![
        ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
        ("GET /api/v2/trees/main%7E", 200, log(vec![meta("a1", 1, "", "A")], false)),
        (
            "POST /api/v2/trees/main@a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1/contents",
            200,
            held(&[t()]),
        ),
        (
            "POST /api/v2/trees/main@c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3/contents",
            200,
            held(&[("t", table("9", "s3://b/t/m2.json", 8))]),
        ),
        commits(),
    ]);
    let ran = run(&stub, "lochan revert t to main~1 -r main");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(sent(&stub)[0]["operations"][0]["content"]["snapshotId"], 7);
}

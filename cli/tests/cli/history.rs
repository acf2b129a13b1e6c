//! Logs, differences, contents, commits.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::stub::Stub;
use crate::world::*;

fn two_commits() -> Vec<Value> {
    vec![
        meta("c3", 58, "ann", &format!("Merged dev at {} into main\n\nwith care", hash("b2"))),
        meta("a1", 1, "", "Begin"),
    ]
}

#[test]
fn a_log_for_people_and_for_programs() {
    let stub =
        Stub::start(vec![references(), ("GET /api/v2/trees/main/history", 200, log(two_commits(), true))]);
    assert_snapshot!(run(&stub, "lochan log main -n 2").all(), @r#"
    commit c3c3c3c3c3c3 (main)
    Author:  ann
    Date:    2 minutes ago (2026-05-01 11:58:00 UTC)

        Merged dev at b2b2b2b2b2b2 into main

        with care

    commit a1a1a1a1a1a1 (tag v1)
    Date:    59 minutes ago (2026-05-01 11:01:00 UTC)

        Begin

    2 shown; older ones with --all or -n
    ---- stderr
    ---- exit 0
    "#);
    assert_snapshot!(run(&stub, "lochan log main -n 2 --oneline --full").all(), @r#"
    c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3 (main) Merged dev at b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2 into main  2 minutes ago
    a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1 (tag v1) Begin  59 minutes ago
    2 shown; older ones with --all or -n
    ---- stderr
    ---- exit 0
    "#);
    let document = run(&stub, "lochan --json log main -n 2").json();
    assert_eq!(document["hasMore"], true);
    assert_eq!(document["logEntries"][1]["commitMeta"]["hash"], hash("a1"));
}

#[test]
fn a_log_is_read_page_by_page() {
    let stub = Stub::start(vec![
        references(),
        ("GET /api/v2/trees/main/history", 200, log(two_commits(), true)),
        (
            "GET /api/v2/trees/main/history?max-records=250&page-token=",
            200,
            log(vec![meta("d4", 0, "", "Oldest")], false),
        ),
    ]);
    let document = run(&stub, "lochan --json log main --all").json();
    assert_eq!(document["logEntries"].as_array().unwrap().len(), 3);
    assert_eq!(document["hasMore"], false);
}

#[test]
fn filters_become_cel() {
    let stub = Stub::start(vec![references(), ("GET /api/v2/trees/-/history", 200, log(vec![], false))]);
    let ran = run(&stub, "lochan log --author o'neil --key ns.\"a.b\" --since 2026-05-01");
    assert_snapshot!(ran.all(), @r#"
    No commits on the default branch.
    ---- stderr
    ---- exit 0
    "#);
    let asked = stub.requests().into_iter().find(|line| line.contains("history")).unwrap();
    let decoded = lochan_api_spec::syntax::percent::decode_segment(&asked).into_owned();
    assert_snapshot!(decoded, @r#"
    GET /api/v2/trees/-/history?fetch=ALL&filter=operations.exists(op, op.key == 'ns.a.b' && op.keyElements == ['ns', 'a.b']) && (commit.author == 'o\'neil') && timestamp(commit.commitTime) > timestamp('2026-05-01T00:00:00Z')&max-records=50
    "#);
}

#[test]
fn times_are_taken_as_they_are_shown() {
    let stub = Stub::start(vec![references(), ("GET /api/v2/trees/main/history", 200, log(vec![], false))]);
    for (typed, sent) in [
        ("2 hours ago", "2026-05-01T10:00:00Z"),
        ("yesterday", "2026-04-30T12:00:00Z"),
        ("2026-05-01 14:54:14 +01:00", "2026-05-01T13:54:14Z"),
        ("3 minutes ago (2026-05-01 11:57:00 UTC)", "2026-05-01T11:57:00Z"),
        ("2026-05-01 11:57", "2026-05-01T11:57:00Z"),
        ("2026-05-01T13:57:00+02:00", "2026-05-01T11:57:00Z"),
    ] {
        let argv = ["lochan", "log", "main", "--since", typed].map(Into::into).into();
        let ran = run_words(&[("LOCHAN_ENDPOINT", &stub.url)], "", argv);
        assert_eq!(ran.code, 0, "{typed}: {}", ran.all());
        let requests = stub.requests();
        let asked = requests.iter().rfind(|line| line.contains("history")).unwrap();
        let decoded = lochan_api_spec::syntax::percent::decode_segment(asked);
        assert!(decoded.contains(&format!("> timestamp('{sent}')")), "{typed}: {decoded}");
    }
    for typed in ["0000-01-01", "+12026-11-30T13:54:14Z", "soon"] {
        for verb in ["log", "reflog"] {
            let ran = run(&stub, &format!("lochan {verb} --until {typed}"));
            assert!(ran.code == 2 && ran.stderr.contains("'2 hours ago'"), "{typed}: {}", ran.all());
        }
    }
}

#[test]
fn a_diff_names_what_changed() {
    let body = json!({ "hasMore": false, "token": null, "diffs": [
        { "key": { "elements": ["ns", "gone"] }, "from": table("1", "s3://b/gone/m1.json", 4), "to": null },
        { "key": { "elements": ["ns", "new.er"] }, "from": null, "to": table("2", "s3://b/new/m1.json", -1) },
        { "key": { "elements": ["ns", "t"] }, "from": table("3", "s3://b/t/metadata/00001-aaaaaaaa.metadata.json", 5),
          "to": table("3", "s3://b/t/metadata/00002-bbbbbbbb.metadata.json", 6) },
    ], "effectiveFromReference": branch("main", "c3"), "effectiveToReference": branch("dev", "b2") });
    let stub = Stub::start(vec![("GET /api/v2/trees/main/diff/dev", 200, body.to_string())]);
    assert_snapshot!(run(&stub, "lochan diff main dev").all(), @r#"
    From main (c3c3c3c3c3c3) to dev (b2b2b2b2b2b2)

    - ns.gone  table, snapshot 4, metadata m1.json
    + ns."new.er"  table, no snapshot, metadata m1.json
    ~ ns.t  table
        snapshot  5 → 6
        metadata  s3://b/t/metadata/00001-aaaaaaaa.metadata.json → s3://b/t/metadata/00002-bbbbbbbb.metadata.json

    3 keys: 1 added, 1 removed, 1 changed
    ---- stderr
    ---- exit 0
    "#);
    assert_snapshot!(run(&stub, "lochan diff main dev --names").all(), @r#"
    From main (c3c3c3c3c3c3) to dev (b2b2b2b2b2b2)

    - ns.gone
    + ns."new.er"
    ~ ns.t

    3 keys: 1 added, 1 removed, 1 changed
    ---- stderr
    ---- exit 0
    "#);
    let stub = Stub::start(vec![
        ("GET /api/v2/trees/main%7E1/history", 200, log(vec![meta("c3", 10, "ann", "Add")], false)),
        ("GET /api/v2/trees/main", 200, body.to_string()),
    ]);
    let said = run(&stub, "lochan diff main~1 dev").all();
    assert!(said.starts_with("From main~1 (c3c3c3c3c3c3) to dev (b2b2b2b2b2b2)\n"), "{said}");
    assert_eq!(run(&stub, "lochan diff main dev --json").json()["diffs"][0]["to"], Value::Null);
}

fn contents(found: Value) -> String {
    json!({ "contents": found, "effectiveReference": branch("main", "c3") }).to_string()
}

#[test]
fn what_a_key_holds_and_what_it_could_have_been() {
    let key = json!({ "elements": ["ns", "t"] });
    let entries = json!({ "hasMore": false, "token": null, "effectiveReference": branch("main", "c3"), "entries": [
        { "type": "NAMESPACE", "name": { "elements": ["ns"] }, "contentId": "1", "content": null },
        { "type": "ICEBERG_TABLE", "name": { "elements": ["ns", "orders"] }, "contentId": "2", "content": null },
    ]});
    let stub = Stub::start(vec![
        (
            "POST /api/v2/trees/main/contents",
            200,
            contents(json!([{ "key": key, "content": table("9", "s3://b/t/m1.json", 7) }])),
        ),
        ("POST /api/v2/trees/v1/contents", 200, contents(json!([]))),
        ("GET /api/v2/trees/main/entries", 200, entries.to_string()),
    ]);
    assert_snapshot!(run(&stub, "lochan content get ns.t --ref main").all(), @r#"
    table ns.t
    On:         main (c3c3c3c3c3c3)
    Snapshot:   7
    Schema:     0
    Spec:       0
    Sort order: 0
    Metadata:   s3://b/t/m1.json
    Content id: 9
    ---- stderr
    ---- exit 0
    "#);
    assert_snapshot!(run(&stub, "lochan content get ns.orderz --ref v1").all(), @r#"
    ---- stderr
    error: 'ns.orderz' does not exist on main
    hint: did you mean 'ns.orders' or 'ns'?
    ---- exit 3
    "#);
    assert_snapshot!(run(&stub, "lochan content list -r main").all(), @r#"
    namespace  ns
    table      ns.orders
    ---- stderr
    ---- exit 0
    "#);
}

#[test]
fn a_commit_adopts_the_content_id_of_an_update() {
    let key = json!({ "elements": ["ns", "t"] });
    let committed = json!({ "targetBranch": branch("main", "d4"), "addedContents": null });
    let stub = Stub::start(vec![
        ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
        (
            "POST /api/v2/trees/main@c3c3",
            200,
            contents(json!([{ "key": key, "content": table("9", "s3://b/t/m1.json", 7) }])),
        ),
        (
            "POST /api/v2/trees/main@c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3/history/commit",
            200,
            committed.to_string(),
        ),
    ]);
    let line = "lochan content commit -r main --put ns.t --table-metadata s3://b/t/m2.json --snapshot-id 8 -m Append_June";
    assert_snapshot!(run(&stub, line).all(), @r#"
    Committed to main: c3c3c3c3c3c3 → d4d4d4d4d4d4
      put    ns.t  table, snapshot 8, metadata m2.json
    ---- stderr
    ---- exit 0
    "#);
    let sent = |nth: usize| -> Value {
        let bodies = stub.bodies("POST");
        let commits: Vec<&String> = bodies.iter().filter(|body| body.contains("commitMeta")).collect();
        serde_json::from_str(commits[nth]).unwrap()
    };
    assert_eq!(sent(0)["operations"][0]["content"]["id"], "9");
    assert_eq!(sent(0)["commitMeta"]["message"], "Append June");

    let document = r#"[{"type": "DELETE", "key": {"elements": ["ns", "t"]}},
        {"type": "PUT", "key": {"elements": ["ns", "t"]}, "content": {"type": "ICEBERG_TABLE",
         "metadataLocation": "m", "snapshotId": 1, "schemaId": 0, "specId": 0, "sortOrderId": 0}}]"#;
    let ran = run_with(&[("LOCHAN_ENDPOINT", &stub.url)], document, "lochan content commit -r main --stdin");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert_eq!(sent(1)["operations"][1]["content"]["id"], Value::Null, "a re-add gets a new id");
    assert_eq!(sent(1)["commitMeta"]["message"], "Delete ns.t, put ns.t");

    for (document, reason) in
        [("{", "EOF"), ("[]", "nothing to commit"), ("{\"operation\": []}", "unknown field")]
    {
        let ran =
            run_with(&[("LOCHAN_ENDPOINT", &stub.url)], document, "lochan content commit -r main --file -");
        assert_eq!(ran.code, 2, "{}", ran.all());
        assert!(ran.stderr.contains(reason), "{}", ran.all());
    }
}

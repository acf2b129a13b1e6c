//! Branches and tags.

use insta::assert_snapshot;
use serde_json::json;

use crate::stub::Stub;
use crate::world::*;

/// The state without commits.
const EMPTY: &str = lochan_api_spec::syntax::reference::NO_ANCESTOR_HASH;

#[test]
fn a_list_marks_the_default_branch() {
    let stub = Stub::start(vec![config(), references()]);
    assert_snapshot!(run(&stub, "lochan branch").all(), @r#"
      dev   b2b2b2b2b2b2
    * main  c3c3c3c3c3c3
    ---- stderr
    ---- exit 0
    "#);
    assert_snapshot!(run(&stub, "lochan tag list").all(), @r#"
      v1  a1a1a1a1a1a1
    ---- stderr
    ---- exit 0
    "#);
    assert_eq!(run(&stub, "lochan branch list --json").json()["references"][1], branch("main", "c3"));
    // The configuration is asked for at the same time, so the order is open.
    assert!(stub.requests().iter().any(|line| line.contains("/trees?filter=")), "{:?}", stub.requests());
}

#[test]
fn the_short_form_creates_at_the_head_of_the_base() {
    let stub = Stub::start(vec![
        ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
        ("POST /api/v2/trees?name=dev-feature-x&type=BRANCH", 200, single(branch("dev-feature-x", "c3"))),
    ]);
    assert_snapshot!(run(&stub, "lochan branch dev-feature-x main").all(), @r#"
    Created branch dev-feature-x at c3c3c3c3c3c3, from main
    ---- stderr
    ---- exit 0
    "#);
    let sent: serde_json::Value = serde_json::from_str(&stub.bodies("POST")[0]).unwrap();
    assert_eq!(sent, json!({ "type": "BRANCH", "name": "main", "hash": hash("c3") }));
    let created = run(&stub, "lochan --json branch create dev-feature-x --from main").json();
    assert_eq!(created["reference"], branch("dev-feature-x", "c3"));
}

#[test]
fn a_taken_name_is_a_conflict_and_force_moves_it() {
    let taken = error(409, "REFERENCE_ALREADY_EXISTS", "Named reference 'dev' already exists.");
    let stub = Stub::start(vec![
        ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
        ("GET /api/v2/trees/dev", 200, single(branch("dev", "b2"))),
        (
            "GET /api/v2/trees/dev@b2b2",
            200,
            log(vec![meta("b2", 5, "ann", "Try"), meta("c3", 1, "bob", "Base")], false),
        ),
        ("POST /api/v2/trees", 409, taken),
        ("PUT /api/v2/trees/dev", 200, single(branch("dev", "c3"))),
    ]);
    assert_snapshot!(run(&stub, "lochan branch dev main").all(), @r#"
    ---- stderr
    error: named reference 'dev' already exists
    hint: `lochan show dev` shows where it stands; --force moves it
    ---- exit 1
    "#);
    assert_snapshot!(run(&stub, "lochan branch -f dev main").all(), @r#"
    Moved dev from b2b2b2b2b2b2 to c3c3c3c3c3c3
    1 commit is left behind:
      b2b2b2b2b2b2  Try                                              55 minutes ago
    To get it back:
      lochan branch assign dev b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2
    ---- stderr
    ---- exit 0
    "#);
}

#[test]
fn reset_sends_the_head_it_read_and_shows_what_is_left_behind() {
    let stub = Stub::start(vec![
        ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
        (
            "GET /api/v2/trees/main@c3c3",
            200,
            log(
                vec![
                    meta("c3", 50, "ann", "Merged dev"),
                    meta("b2", 30, "bob", "Add"),
                    meta("a1", 10, "", "Old"),
                ],
                false,
            ),
        ),
        ("PUT /api/v2/trees/main@c3c3", 200, single(branch("main", "a1"))),
    ]);
    let ran = run(&stub, &format!("lochan reset main to {}", hash("a1")));
    assert_snapshot!(ran.all(), @r#"
    Moved main from c3c3c3c3c3c3 to a1a1a1a1a1a1
    2 commits are left behind:
      c3c3c3c3c3c3  Merged dev                                       10 minutes ago
      b2b2b2b2b2b2  Add                                              30 minutes ago
    To get them back:
      lochan reset main to c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3
    ---- stderr
    ---- exit 0
    "#);
    let line = format!("PUT /api/v2/trees/main@{}?type=BRANCH", hash("c3"));
    assert_eq!(stub.requests().last(), Some(&line));
    let sent: serde_json::Value = serde_json::from_str(&stub.bodies("PUT")[0]).unwrap();
    assert_eq!(sent, json!({ "type": "DETACHED", "hash": hash("a1") }));
    let document = run(&stub, &format!("lochan --json reset main {}", hash("a1"))).json();
    assert_eq!(document["previousHash"], hash("c3"));
    assert_eq!(document["leftBehind"]["count"], 2);
    assert_eq!(document["undo"], format!("lochan reset main to {}", hash("c3")));
}

#[test]
fn what_others_still_have_is_told() {
    let mut main = branch("dev", "b2");
    // The newest commit that dev and the default branch share.
    main["metadata"] = json!({ "commonAncestorHash": hash("a1") });
    let metas = vec![meta("b2", 5, "", "Mine"), meta("a1", 1, "", "Old"), meta("e5", 0, "", "Older")];
    let references =
        json!({ "hasMore": false, "token": null, "references": [branch("dev", "b2"), branch("x", "e5")] });
    let stub = Stub::start(vec![
        ("GET /api/v2/trees", 200, references.to_string()),
        ("GET /api/v2/trees/dev", 200, single(main)),
        ("GET /api/v2/trees/x", 200, single(branch("x", "d4"))),
        ("GET /api/v2/trees/dev@b2b2", 200, log(metas, false)),
        ("GET /api/v2/trees/x@d4d4", 200, log(vec![meta("d4", 0, "", "Elsewhere")], false)),
        ("PUT /api/v2/trees/dev", 200, single(branch("dev", "d4"))),
    ]);
    assert_snapshot!(run(&stub, "lochan reset dev to x").all(), @r"
    Moved dev from b2b2b2b2b2b2 to d4d4d4d4d4d4
    3 commits are left behind, the oldest 2 still on the default branch:
      b2b2b2b2b2b2  Mine                                             55 minutes ago
      a1a1a1a1a1a1  Old                                              59 minutes ago
      e5e5e5e5e5e5  Older                                            60 minutes ago
    To get them back:
      lochan reset dev to b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2
    ---- stderr
    ---- exit 0
    ");
    let left = &run(&stub, "lochan --json reset dev to x").json()["leftBehind"];
    assert_eq!(left["stillOn"], json!({ "name": "-", "count": 2 }));
}

#[test]
fn what_may_not_be_read_stops_no_move() {
    let stub = Stub::start(vec![
        references(),
        ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
        ("GET /api/v2/trees/main@c3c3", 403, error(403, "FORBIDDEN", "'LIST_COMMIT_LOG' is not allowed")),
        ("PUT /api/v2/trees/main", 200, single(branch("main", "a1"))),
    ]);
    let line = format!("lochan reset main to main@{}", hash("a1"));
    assert_snapshot!(run(&stub, &line).all(), @r"
    Moved main from c3c3c3c3c3c3 to a1a1a1a1a1a1
    What is left behind could not be read.
    To move it back:
      lochan reset main to c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3
    ---- stderr
    ---- exit 0
    ");
    let left = &run(&stub, &format!("{line} --json")).json()["leftBehind"];
    assert_eq!((&left["count"], &left["complete"]), (&json!(0), &json!(false)));
    // The commit goes beside its branch: its readers may see it.
    assert!(stub.requests().iter().all(|request| !request.contains("/trees/@")), "{:?}", stub.requests());
}

#[test]
fn steps_beyond_the_first_commit_lead_nowhere() {
    let stub = Stub::start(vec![
        references(),
        ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
        ("GET /api/v2/trees/main%7E", 200, log(vec![], false)),
        ("GET /api/v2/trees/main*", 200, log(vec![], false)),
        ("GET /api/v2/trees/main@c3c3", 200, log(vec![meta("c3", 5, "", "C")], false)),
        ("PUT /api/v2/trees/main", 200, single(json!({ "type": "BRANCH", "name": "main", "hash": EMPTY }))),
    ]);
    for line in
        ["reset main to main~100000", "branch x main~100000", "tag -f v1 main~100000", "show main~100000"]
    {
        let ran = run(&stub, &format!("lochan {line}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{line}: {}", ran.all());
        let error = "error: there is no commit at 'main~100000': its history does not go there\n";
        let hint = "hint: where the state without any commit is meant, say 2e1cfa82b035\n";
        assert_eq!(ran.stderr, format!("{error}{hint}"), "{line}");
    }
    let ran = run(&stub, "lochan show main*2020-01-01T00:00:00Z");
    assert!(ran.code == 3 && ran.stderr.contains("no commit at 'main*2020"), "{}", ran.all());
    assert!(stub.bodies("P").is_empty());
    // Written out it is meant.
    let ran = run(&stub, "lochan reset main to 2e1cfa82b035");
    assert!(ran.stdout.contains("to no commits\n1 commit is left behind"), "{}", ran.all());
    assert!(stub.bodies("PUT")[0].contains(EMPTY));
}

#[test]
fn lines_that_parted_are_compared_up_to_where_they_meet() {
    let stub = Stub::start(vec![
        ("GET /api/v2/trees/main", 200, single(branch("main", "c3"))),
        ("GET /api/v2/trees/dev", 200, single(branch("dev", "b2"))),
        (
            "GET /api/v2/trees/main@c3c3",
            200,
            log(vec![meta("c3", 5, "", "C"), meta("a1", 1, "", "A")], false),
        ),
        ("GET /api/v2/trees/dev@b2b2", 200, log(vec![meta("b2", 5, "", "B"), meta("a1", 1, "", "A")], false)),
        ("PUT /api/v2/trees/dev", 200, single(branch("dev", "c3"))),
    ]);
    let document = run(&stub, "lochan --json branch assign dev to main").json();
    assert_eq!(document["leftBehind"]["commits"][0]["message"], "B");
    assert_eq!(document["leftBehind"]["count"], 1);
    assert_eq!(document["undo"], format!("lochan branch assign dev {}", hash("b2")));
}

#[test]
fn first_digits_are_completed() {
    let stub = Stub::start(vec![
        references(),
        ("GET /api/v2/trees/-/history", 200, log(vec![meta("abcdef01", 1, "", "A")], false)),
        ("POST /api/v2/trees?name=x", 200, single(branch("x", "abcdef01"))),
    ]);
    let ran = run(&stub, "lochan branch x abcdef01abcd");
    assert_eq!(ran.code, 0, "{}", ran.all());
    assert!(stub.requests()[1].contains("commit.hash.startsWith"), "{:?}", stub.requests());
    let sent: serde_json::Value = serde_json::from_str(&stub.bodies("POST")[0]).unwrap();
    assert_eq!(sent, json!({ "type": "DETACHED", "hash": hash("abcdef01") }));
}

#[test]
fn delete_says_how_to_get_it_back() {
    let stub = Stub::start(vec![
        ("GET /api/v2/trees/dev", 200, single(branch("dev", "b2"))),
        ("DELETE /api/v2/trees/dev@b2b2", 200, single(branch("dev", "b2"))),
    ]);
    assert_snapshot!(run(&stub, "lochan branch delete dev").all(), @r#"
    Deleted branch dev, which was at b2b2b2b2b2b2
    To get it back:
      lochan branch create dev b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2
    ---- stderr
    ---- exit 0
    "#);
}

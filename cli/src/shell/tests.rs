//! What statements mean, without a server.

use super::grammar::Cursor;
use super::script::{Unfinished, split, words};
use super::statement::{Allowed, Meaning, parse};

fn texts(source: &str) -> Vec<String> {
    split(source).unwrap().into_iter().map(|statement| statement.text).collect()
}

#[test]
fn scripts_fall_into_statements() {
    fn check(source: &str, expected: &[&str]) {
        assert_eq!(texts(source), expected, "{source:?}");
    }
    check("", &[]);
    check(" ;; \n", &[]);
    check("branch; log main", &["branch", "log main"]);
    check("branch\nlog main\n", &["branch", "log main"]);
    check("MERGE dev\n  INTO main\nlog", &["MERGE dev   INTO main", "log"]);
    check("MERGE dev;\nlog", &["MERGE dev", "log"]);
    check("# a remark\n-- another; one\nlog", &["log"]);
    check("log main --json", &["log main --json"]);
    check("MERGE DRY\ndev\nINTO main;", &["MERGE DRY dev INTO main"]);
    check("SHOW TABLE\n  a.t;\nlog", &["SHOW TABLE   a.t", "log"]);
    check("show\nmerge dev\ndrop branch\nx", &["show", "merge dev", "drop branch x"]);
    check("log \\\n main", &["log   main"]);
    check("content commit -m 'one; two\nthree'", &["content commit -m 'one; two\nthree'"]);
    check("LIST CONTENTS FILTER \"a == 'x;y'\"", &["LIST CONTENTS FILTER \"a == 'x;y'\""]);
    check("a \"\\\"; b\"", &["a \"\\\"; b\""]);
    assert_eq!(split("log 'main"), Err(Unfinished::Quote('\'')));
    assert_eq!(split("log \\"), Err(Unfinished::Backslash));
    let lines: Vec<usize> = split("\n# x\nlog; branch\n\ntag").unwrap().iter().map(|s| s.line).collect();
    assert_eq!(lines, [3, 3, 5]);
}

#[test]
fn statements_fall_into_words() {
    fn check(statement: &str, expected: &[&str]) {
        let found = words(statement);
        assert_eq!(found.iter().map(|word| word.text.as_str()).collect::<Vec<_>>(), expected, "{statement}");
    }
    check("a  b\tc", &["a", "b", "c"]);
    check("-m 'fix it' --filter=\"x == 'y'\"", &["-m", "fix it", "--filter=x == 'y'"]);
    check("ns.\"a b.c\"", &["ns.\"a b.c\""]);
    check("\"a.b\".c `x y`", &["\"a.b\".c", "x y"]);
    check("ns.`a b.c` `a.b`.c 'a.b'.c ns.'x.y'", &["ns.\"a b.c\"", "\"a.b\".c", "\"a.b\".c", "ns.\"x.y\""]);
    check("refType=='TAG'", &["refType==\"TAG\""]);
    check("'it\\n' \"a\\\"b\" ''", &["it\\n", "a\"b", ""]);
    check("'it''s' '''' \"a\"\"b\"", &["it's", "'", "a\"b"]);
    check("\"say \"\"hi\"\"\".t ns.'say \"hi\"'", &["\"say \"\"hi\"\"\".t", "ns.\"say \"\"hi\"\"\""]);
    check("--property owner=\"ops team\" -p k=''", &["--property", "owner=ops team", "-p", "k="]);
    check("--put='a.b'.c --filter=refType=='TAG'", &["--put=\"a.b\".c", "--filter=refType==\"TAG\""]);
    check("'a='\"b\" 'a'=\"b\"", &["a=\"b\"", "a=b"]);
    assert!(words("'use'")[0].quoted && !words("use")[0].quoted);
}

/// The command line a statement becomes, words joined by blanks; `!` before an error.
fn said(statement: &str) -> String {
    let words = words(statement);
    match parse(Cursor::new(&words, "here")) {
        Ok(Meaning::Command { argv, allowed: Allowed::Nothing }) => argv.join(" "),
        Ok(Meaning::Command { argv, allowed }) => format!("{} ({allowed:?})", argv.join(" ")),
        Ok(Meaning::Use(point, kind)) => format!("use {point} {}", kind.unwrap_or("reference")),
        Ok(other) => format!("{other:?}"),
        Err(trouble) => format!("! {trouble}"),
    }
}

fn check(statement: &str, expected: &str) {
    assert_eq!(said(statement), expected, "{statement}");
}

const HASH: &str = "cafebabe00112233445566778899aabbccddeeff0011223344556677889900aa";

#[test]
fn references() {
    check("create branch dev", "branch create -- dev");
    check("CREATE BRANCH IF NOT EXISTS dev FROM main", "branch create --from=main -- dev (Existing)");
    check("CREATE TAG v1 FROM main AT ~2", "tag create --from=main~2 -- v1");
    check(&format!("CREATE TAG v1 AT COMMIT {HASH}"), &format!("tag create --from=here@{HASH} -- v1"));
    check("CREATE TAG v1 AT 2026-05-01", "tag create --from=here*2026-05-01T00:00:00Z -- v1");
    check("CREATE BRANCH 'if' FROM `from`", "branch create --from=from -- if");
    check("DROP BRANCH dev", "branch delete -- dev");
    check("DROP TAG IF EXISTS v1", "tag delete -- v1 (Missing)");
    check("ASSIGN BRANCH dev TO main", "branch assign --to=main -- dev");
    check("ASSIGN BRANCH TO main AT ^2", "branch assign --to=main^2 -- here");
    check("ASSIGN TAG v1", "tag assign --to=here -- v1");
    check("LIST REFERENCES", "branch list --all");
    check(
        "LIST REFERENCES STARTING WITH 'dev' CONTAINING x",
        "branch list --all --filter=ref.name.startsWith('dev') && ref.name.contains('x')",
    );
    check("LIST REFERENCES FILTER \"refType == 'TAG'\"", "branch list --all --filter=refType == 'TAG'");
    check("SHOW REFERENCE", "show");
    check("SHOW REFERENCE dev", "show --as reference -- dev");
    check("SHOW REFERENCE dev AT ~1", "show --as commit -- dev~1");
    check("USE BRANCH dev", "use dev branch");
    check(
        "USE REFERENCE dev AT TIMESTAMP 2026-05-01T10:00:00+02:00",
        "use dev*2026-05-01T08:00:00Z reference",
    );
}

#[test]
fn logs_and_merges() {
    check("show log", "log");
    check("SHOW LOG dev LIMIT 5", "log --number=5 -- dev");
    check("SHOW LOG ON BRANCH dev AT ~3", "log -- dev~3");
    check("SHOW LOG AT ~1 LIMIT 1", "log --number=1 -- here~1");
    check("MERGE dev", "merge -- dev");
    check("MERGE DRY BRANCH dev INTO main BEHAVIOR force", "merge --dry-run --into=main --mode=FORCE -- dev");
    check(
        "MERGE dev AT ~1 BEHAVIOR NORMAL BEHAVIORS a.b = DROP AND c=FORCE",
        "merge --mode=NORMAL --key-mode=a.b=DROP --key-mode=c=FORCE -- dev~1",
    );
    check("merge dry into main", "merge --into=main -- dry");
    check("merge tag into main", "merge --into=main -- tag");
}

#[test]
fn contents() {
    check(
        "CREATE NAMESPACE a.b ON dev SET x = 'y z' AND k=v",
        "content commit --namespace --new --put=a.b --ref=dev --property=x=y z --property=k=v",
    );
    check(
        "ALTER NAMESPACE a ON BRANCH dev SET x=\"y\" REMOVE k AND l",
        "content alter --ref=dev --property=x=y --remove-property=k --remove-property=l -- a",
    );
    check("DROP TABLE a.t ON dev", "content delete --type table --ref=dev -- a.t");
    check("DROP NAMESPACE a", "content delete --type namespace -- a");
    check("SHOW TABLE ON dev AT ~1 a.t", "content get --type table --ref=dev~1 -- a.t");
    check("SHOW VIEW a.v", "content get --type view -- a.v");
    check("LIST CONTENTS", "content list");
    check(
        "LIST CONTENTS ON dev STARTING WITH 'a.'",
        "content list --ref=dev --filter=entry.encodedKey.startsWith('a.')",
    );
    check("LIST CONTENTS AT 2026-05-01T00:00:00Z", "content list --ref=here*2026-05-01T00:00:00Z");
    check(
        "REVERT CONTENT OF a.t AND b ON dev TO STATE ON main AT ~1 ALLOW DELETES",
        "revert --ref=dev --to=main~1 --allow-deletes -- a.t b",
    );
    check("REVERT CONTENT DRY OF a.t TO STATE AT ~1", "revert --dry-run --to=here~1 -- a.t");
}

#[test]
fn what_stands_in_quotes_is_taken_as_it_is() {
    let set = |said: &str, property: &str| {
        let expected = format!("content commit --namespace --new --put=a --property={property}");
        check(&format!("CREATE NAMESPACE a SET {said}"), &expected);
    };
    set("\"a=b\" = c", "\"a=b\"=c");
    set("'a=b'=c", "\"a=b\"=c");
    set("'\"a' = c", "\"\"\"a\"=c");
    set("k = '='", "k==");
    set("k='a=b'", "k=a=b");
    set("k = '\"v\"'", "k=\"v\"");
    set("k='\"v\"'", "k=\"v\"");
    set("k =\"it's\"", "k=it's");
    set("k = ''", "k=");
    set("k=''", "k=");
    check("CREATE NAMESPACE a SET k '=' v", "! expected =, found '=' in quotes");
    check("CREATE NAMESPACE a SET = v", "! expected name = value, found '='");
    check(
        "MERGE dev BEHAVIORS ns.\"a=b\" = DROP AND 'c=d'=FORCE",
        "merge --key-mode=ns.\"a=b\"=DROP --key-mode=c=d=FORCE -- dev",
    );
    check("MERGE dev BEHAVIORS a = 'x=DROP'", "! expected NORMAL, FORCE, DROP, found 'x=DROP'");
    check("DROP BRANCH dev 'now'", "! expected the end, found 'now' in quotes");
    check("REVERT CONTENT OF 'AND' AND to TO STATE ON main", "revert --to=main -- AND \"to\"");
}

#[test]
fn what_is_no_statement_says_why() {
    check("USE dev", "! expected BRANCH, TAG, REFERENCE, found 'dev'");
    check("CREATE", "! expected BRANCH, TAG, NAMESPACE, found the end");
    check("DROP BRANCH dev now", "! expected the end, found 'now'");
    check(
        "SHOW LOG AT TIMESTAMP yesterday",
        "! 'yesterday' is no time; write 2026-05-01T10:20:30Z or 2026-05-01",
    );
    check("REVERT CONTENT OF a TO STATE", "! expected ON or AT, found the end");
    assert!(said("USE BRANCH dev AT xyz").starts_with("! 'dev@xyz' is no point"));
    check("show nyc.flights", "! expected LOG, TABLE, VIEW, NAMESPACE, REFERENCE, found 'nyc.flights'");
}

#[test]
fn connections() {
    let words = words("CONNECT TO http://h:1 ON dev USING a.b = c AND d='e f'");
    let Ok(Meaning::Connect { uri, on, using }) = parse(Cursor::new(&words, "-")) else {
        panic!("{words:?}")
    };
    assert_eq!(uri, "http://h:1");
    assert_eq!(on.unwrap().name.as_deref(), Some("dev"));
    assert_eq!(using, [("a.b".to_owned(), "c".to_owned()), ("d".to_owned(), "e f".to_owned())]);
}

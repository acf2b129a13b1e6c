//! What words mean, checked without a server.

use clap::{CommandFactory, Parser};

use super::*;

fn normalised(line: &str) -> String {
    let argv = line.split_whitespace().map(Into::into).collect();
    let words = phrase::normalise(&Cli::command(), argv);
    words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ")
}

fn check(line: &str, expected: &str) {
    assert_eq!(normalised(line), expected, "{line}");
}

fn parsed(line: &str) -> Command {
    let argv: Vec<std::ffi::OsString> = line.split_whitespace().map(Into::into).collect();
    let words = phrase::normalise(&Cli::command(), argv);
    Cli::try_parse_from(words).unwrap_or_else(|error| panic!("{line}: {error}")).command
}

#[test]
fn the_parser_is_sound() {
    Cli::command().debug_assert();
}

#[test]
fn short_forms_get_their_verb() {
    check("lochan branch", "lochan branch list");
    check("lochan tag", "lochan tag list");
    check("lochan branch dev-feature-x main", "lochan branch create dev-feature-x main");
    check("lochan tag v1", "lochan tag create v1");
    check("lochan branch -d dev", "lochan branch delete dev");
    check("lochan branch -x", "lochan branch list -x");
    check("lochan branch -l", "lochan branch list");
    check("lochan branch -f dev main", "lochan branch create -f dev main");
    check("lochan branch --help", "lochan branch --help");
    check("lochan branch help", "lochan branch help");
    check("lochan branch -- -x", "lochan branch create -- -x");
    check("lochan branch --", "lochan branch list --");
}

#[test]
fn a_first_word_that_is_a_verb_is_the_verb() {
    check("lochan branch list", "lochan branch list");
    check("lochan branch list main", "lochan branch list main");
    check("lochan branch create list main", "lochan branch create list main");
    check("lochan branch dev list", "lochan branch create dev list");
    check("lochan branch assign to to main", "lochan branch assign to to main");
    check("lochan tag delete delete", "lochan tag delete delete");
    check("lochan branch branch tag", "lochan branch create branch tag");
    check("lochan log branch", "lochan log branch");
    check("lochan merge branch into tag", "lochan merge branch into tag");
}

#[test]
fn options_of_every_command_stand_anywhere() {
    check("lochan branch --json list", "lochan --json branch list");
    check("lochan branch --endpoint http://h dev main", "lochan --endpoint=http://h branch create dev main");
    check("lochan branch dev --json", "lochan --json branch create dev");
    check("lochan -v branch -l main", "lochan --full branch list main");
    // Under the names that other command lines have for them, too.
    check("lochan --auth-token t branch", "lochan --auth-token=t branch list");
    check("lochan branch dev --uri http://h", "lochan --uri=http://h branch create dev");
    check("lochan --verbose tag", "lochan --verbose tag list");
    check("lochan branch -v -d dev", "lochan --full branch delete dev");
    check("lochan --endpoint branch branch", "lochan --endpoint=branch branch list");
    check("lochan log -- --json", "lochan log -- --json");
}

#[test]
fn merge_and_reset_phrases() {
    fn merge(line: &str) -> Option<String> {
        match parsed(line) {
            Command::Merge(args) => args.into.branch().unwrap_or_else(|error| Some(format!("! {error}"))),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(merge("lochan merge dev-feature-x into main").as_deref(), Some("main"));
    assert_eq!(merge("lochan merge --dry-run dev into main").as_deref(), Some("main"));
    assert_eq!(merge("lochan merge dev into main -m into").as_deref(), Some("main"));
    assert_eq!(merge("lochan merge dev --into main").as_deref(), Some("main"));
    assert_eq!(merge("lochan merge into into into").as_deref(), Some("into"));
    assert_eq!(merge("lochan merge dev"), None);
    assert!(merge("lochan merge dev main").unwrap().starts_with("! 'main' does not follow"));
    assert!(merge("lochan merge dev into").unwrap().starts_with("! into which branch"));

    fn reset(line: &str) -> String {
        match parsed(line) {
            Command::Reset(args) => match args.target.point("reset") {
                Ok(point) => point::show(&point, 12),
                Err(error) => format!("! {error}"),
            },
            other => panic!("{other:?}"),
        }
    }
    let hash = "ab".repeat(32);
    assert_eq!(reset(&format!("lochan reset main to {hash}")), "abababababab");
    assert_eq!(reset(&format!("lochan reset main --to {hash}")), "abababababab");
    assert_eq!(reset("lochan reset main main~2"), "main~2");
    assert_eq!(reset("lochan reset main to to"), "to");
    assert!(reset("lochan reset main to").starts_with("! where to?"));
    assert!(reset("lochan reset main").starts_with("! where to?"));
    assert!(reset("lochan reset main at x").starts_with("! 'at x' is no target"));
    assert!(reset("lochan reset main to ..").starts_with("! '..' is no point"));
}

#[test]
fn cherry_pick_phrases() {
    fn pick(line: &str) -> String {
        match parsed(line) {
            Command::CherryPick(args) => match args.words() {
                Ok((commits, branch)) => format!("{} > {}", commits.join(" "), branch.unwrap_or_default()),
                Err(error) => format!("! {error}"),
            },
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(pick("lochan cherry-pick dev~1 dev into main"), "dev~1 dev > main");
    assert_eq!(pick("lochan cherry-pick dev"), "dev > ");
    assert_eq!(pick("lochan cherry-pick dev --into main"), "dev > main");
    assert_eq!(pick("lochan cherry-pick into into main"), "into > main");
    assert!(pick("lochan cherry-pick into main").starts_with("! "));
    assert!(pick("lochan cherry-pick dev into a --into main").starts_with("! two branches are named"));
}

#[test]
fn revert_phrases() {
    fn revert(words: &[&str]) -> String {
        let words = [&["lochan", "revert"], words].concat();
        let Ok(Command::Revert(args)) = Cli::try_parse_from(words).map(|cli| cli.command) else {
            panic!("no revert")
        };
        match args.keys_and_point() {
            Ok((keys, point)) => {
                let keys: Vec<String> = keys.iter().map(key::show).collect();
                format!("{} > {}", keys.join(" "), point::show(&point, 12))
            }
            Err(error) => format!("! {error}"),
        }
    }
    assert_eq!(revert(&["a", "b", "to", "main~3"]), "a b > main~3");
    assert_eq!(revert(&["a", "b", "--to", "main"]), "a b > main");
    assert_eq!(revert(&["\"to\"", "to", "to"]), "to > to");
    assert_eq!(revert(&["\"to\"", "--to", "main"]), "to > main");
    assert!(revert(&["a", "to", "b", "--to", "main"]).starts_with("! two states are named"));
    assert!(revert(&["to", "b", "--to", "main"]).starts_with("! two states are named"));
    for words in [&["a", "to", "b", "to", "main"][..], &["a", "to", "--to", "main"], &["to", "to", "main"]] {
        assert!(revert(words).starts_with("! 'to' stands before the state"), "{words:?}: {}", revert(words));
    }
    assert!(revert(&["a"]).starts_with("! to which state?"));
    assert!(revert(&["to", "main"]).starts_with("! which keys?"));
}

#[test]
fn properties() {
    fn check(text: &str, name: &str, value: &str) {
        assert_eq!(property::parse(text), Ok((name.to_owned(), value.to_owned())), "{text}");
        assert_eq!(property::parse(&property::show(name, value)), Ok((name.to_owned(), value.to_owned())));
    }
    check("a=b", "a", "b");
    check("a=", "a", "");
    check("a=b=\"c\"", "a", "b=\"c\"");
    check("a\"b=c", "a\"b", "c");
    check("\"a=b\"=c", "a=b", "c");
    check("\"say \"\"hi\"\"\"=c", "say \"hi\"", "c");
    for bad in ["a", "\"a=b", "\"a\"", "\"a\"b=c"] {
        assert!(property::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn keys() {
    fn check(text: &str, elements: &[&str]) {
        let key = key::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(key.elements, elements, "{text}");
        assert_eq!(key::parse(&key::show(&key)).unwrap(), key);
    }
    check("a", &["a"]);
    check("a.b.c", &["a", "b", "c"]);
    check("ns.\"a.b\"", &["ns", "a.b"]);
    check("\"a.b\".c", &["a.b", "c"]);
    check("\"say \"\"hi\"\"\"", &["say \"hi\""]);
    check("a.b*c", &["a", "b*c"]);
    check("a b.c", &["a b", "c"]);
    check(".ns1.a*.b", &["ns1", "a.b"]);
    check(".a", &["a"]);
    for bad in ["", ".", "a.", "a..b", "\"a", "\"a\"b", "a\"b\"", "\"\"", "a.\u{1}"] {
        assert!(key::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn points() {
    fn check(text: &str, name: Option<&str>, hash: Option<&str>, parts: usize) {
        let point = point::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(
            (point.name.as_deref(), point.hash.as_deref(), point.parts.len()),
            (name, hash, parts),
            "{text}"
        );
    }
    check("main", Some("main"), None, 0);
    check("-", Some("-"), None, 0);
    check("my/branch~2", Some("my/branch"), None, 1);
    check("cafebabe", None, Some("cafebabe"), 0);
    check("CAFEBABE~1^2", None, Some("cafebabe"), 2);
    check("@cafebabe", None, Some("cafebabe"), 0);
    check("main@cafebabe", Some("main"), Some("cafebabe"), 0);
    check("main*2026-05-01T00:00:00Z", Some("main"), None, 1);
    check("cafe", Some("cafe"), None, 0);
    assert!(point::parse("main..dev").unwrap_err().contains("log -r A..B"));
    for bad in ["", "@", "1main", "main~0", "main@xyz", "main~x", ".."] {
        assert!(point::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn modes() {
    let mode = mode::parse_key_mode("ns.\"a=b\"=force").unwrap();
    assert_eq!(mode.key.elements, ["ns", "a=b"]);
    assert_eq!(mode.mode.as_str(), "FORCE");
    assert!(mode::parse_key_mode("ns.t").is_err());
    assert!(mode::parse_key_mode("ns.t=maybe").is_err());
}

#[test]
fn words_for_a_shell() {
    assert_eq!(key::in_shell("ns.t=FORCE"), "ns.t=FORCE");
    assert_eq!(key::in_shell("ns.\"a.b\""), "'ns.\"a.b\"'");
    assert_eq!(key::in_shell("it's"), "'it'\\''s'");
}

#[test]
fn options_of_one_kind_of_content_are_no_others() {
    fn check(options: &str, legal: bool) {
        let line = format!("lochan content commit --put k {options}");
        let words = phrase::normalise(&Cli::command(), line.split_whitespace().map(Into::into).collect());
        assert_eq!(Cli::try_parse_from(words).is_ok(), legal, "{line}");
    }
    check("--table-metadata l --snapshot-id -1 --schema-id 1 --spec-id 1 --sort-order-id 1", true);
    check("--view-metadata l --version-id 2 --schema-id 1", true);
    check("--namespace --property a=b --property c=d", true);
    check("--table-metadata l --property a=b", false);
    check("--content {} --property a=b", false);
    check("--property a=b", false);
    check("--namespace --snapshot-id 1", false);
    check("--view-metadata l --snapshot-id 1", false);
    check("--view-metadata l --spec-id 1", false);
    check("--content {} --sort-order-id 1", false);
    check("--table-metadata l --version-id 2", false);
    check("--namespace --schema-id 2", false);
    check("--snapshot-id 1", false);
}

#[test]
fn options_that_must_say_something() {
    for line in ["lochan content alter ns", "lochan import f --id=", "lochan log -n x", "lochan reflog -n -1"]
    {
        let words = line.split_whitespace().map(std::ffi::OsString::from);
        assert!(Cli::try_parse_from(words).is_err(), "{line}");
    }
    parsed("lochan content alter ns --property a=b --remove-property c");
}

//! Help, as a person with 80 columns sees it.

use assert_cmd::Command;
use insta::assert_snapshot;

fn help(words: &[&str]) -> String {
    let ran =
        Command::cargo_bin("lochan").unwrap().env_clear().env("COLUMNS", "80").args(words).output().unwrap();
    assert!(ran.status.success(), "{words:?}");
    String::from_utf8(ran.stdout).unwrap()
}

/// The commands that a help page lists.
fn listed(page: &str) -> Vec<String> {
    let behind = page.split("\nCommands:\n").nth(1).unwrap_or_default();
    let commands = behind.lines().take_while(|line| !line.is_empty());
    let first_words = commands.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    first_words
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .filter(|name| name != "help")
        .collect()
}

#[test]
fn every_page_fits_into_eighty_columns() {
    fn check(path: &[&str]) -> usize {
        let mut pages = 1;
        for flag in ["-h", "--help"] {
            let page = help(&[path, &[flag]].concat());
            for line in page.lines() {
                assert!(line.chars().count() <= 80, "{path:?} {flag}: {line}");
            }
            if flag == "-h" {
                for verb in listed(&page) {
                    pages += check(&[path, &[verb.as_str()]].concat());
                }
            }
        }
        pages
    }
    assert!(check(&[]) > 25);
}

#[test]
fn the_first_page() {
    assert_snapshot!(help(&["-h"]));
}

#[test]
fn every_command_has_completions_and_a_manual_page() {
    let offered = help(&["complete", "--", ""]);
    let elvish = help(&["completions", "elvish"]);
    let folder = tempfile::tempdir().unwrap();
    help(&["man", folder.path().to_str().unwrap()]);
    for verb in listed(&help(&["-h"])) {
        assert!(offered.lines().any(|word| word == verb), "{verb}");
        assert!(elvish.contains(&format!("cand {verb} ")), "{verb}");
        assert!(folder.path().join(format!("lochan-{verb}.1")).is_file(), "{verb}");
    }
}

/// A commit, a merge and a cherry-pick take an older commit of the branch; a reference that moves or goes must be at it.
#[test]
fn an_expected_commit_is_told_as_it_is_judged() {
    let told = |words: &str| {
        let page = help(&words.split(' ').chain(["-h"]).collect::<Vec<_>>());
        let (_, behind) = page.split_once("--expected <HASH>").unwrap();
        let option: Vec<&str> =
            behind.lines().take_while(|line| !line.trim_start().starts_with('-')).collect();
        option.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for words in ["merge", "cherry-pick", "content commit", "content delete", "content alter", "revert"] {
        assert!(told(words).contains("its head or an older one"), "{words}: {}", told(words));
    }
    for words in ["branch create", "branch assign", "tag delete", "reset", "rebase"] {
        assert!(
            told(words).to_lowercase().contains("only when") && told(words).contains("head is this commit"),
            "{words}: {}",
            told(words)
        );
    }
}

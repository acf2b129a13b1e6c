//! Phrases: the short forms people say, put into the long form that the parser knows.
//!
//! `branch dev main` is `branch create dev main`, `branch` alone is `branch list`. Only the word right behind the noun
//! decides, so "a first word that is a verb is always the verb" holds whatever options stand around.

use std::ffi::OsString;

use clap::{Arg, Command};

/// Nouns with a short form.
const NOUNS: [&str; 2] = ["branch", "tag"];

/// Moves the options of every command to the front and writes the verb that a short form leaves out.
pub fn normalise(command: &Command, argv: Vec<OsString>) -> Vec<OsString> {
    let mut words = globals_first(command, argv);
    let place = words.iter().enumerate().skip(1).find(|(i, word)| is_noun(&words, *i, word)).map(|(i, _)| i);
    if let Some(noun) = place.and_then(|i| words.get(i)).and_then(|word| word.to_str())
        && let Some(place) = place
    {
        let verbs = verbs(command, noun);
        let behind: Vec<String> =
            words.iter().skip(place + 1).map_while(|word| word.to_str().map(str::to_owned)).collect();
        let all = behind.len();
        let behind: Vec<&str> = behind.iter().map(String::as_str).take_while(|word| *word != "--").collect();
        // `branch -- NAME` names one, too.
        let named_behind = all > behind.len() + 1;
        let flag = |short: &str, long: &str| behind.iter().position(|word| *word == short || *word == long);
        let verb = match behind.first() {
            Some(word) if verbs.iter().any(|verb| verb == word) => None,
            _ if flag("-h", "--help").is_some() => None,
            None => Some(if named_behind { "create" } else { "list" }),
            _ => match (flag("-d", "--delete"), flag("-l", "--list")) {
                (Some(at), _) => {
                    words.remove(place + 1 + at);
                    Some("delete")
                }
                (None, Some(at)) => {
                    words.remove(place + 1 + at);
                    Some("list")
                }
                // Options alone ask for the list: `branch -x`.
                (None, None) if behind.iter().all(|word| matches!(*word, "-x" | "--extended")) => {
                    Some("list")
                }
                (None, None) => Some("create"),
            },
        };
        if let Some(verb) = verb {
            words.insert(place + 1, verb.into());
        }
    }
    words
}

/// Whether `--json` stands among the options that [`normalise`] has moved to the front.
pub fn asks_for_json(argv: &[OsString]) -> bool {
    let options = argv.iter().skip(1).map_while(|word| word.to_str().filter(|word| word.starts_with("--")));
    options.take_while(|word| *word != "--").any(|word| word == "--json")
}

/// The command is the first word that is no option of every command (those stand in front, with their values).
fn is_noun(words: &[OsString], place: usize, word: &OsString) -> bool {
    NOUNS.iter().any(|noun| word == noun)
        && words.iter().take(place).skip(1).all(|before| before.to_str().is_some_and(|w| w.starts_with("--")))
}

fn verbs(command: &Command, noun: &str) -> Vec<String> {
    let mut verbs = vec!["help".to_owned()];
    if let Some(noun) = command.find_subcommand(noun) {
        for verb in noun.get_subcommands() {
            verbs.push(verb.get_name().to_owned());
            verbs.extend(verb.get_all_aliases().map(str::to_owned));
        }
    }
    verbs
}

/// Pulls `--json`, `--endpoint URL` and their like in front of the command, as `--name=value` where they take one; `-v` in
/// its long form.
pub fn globals_first(command: &Command, argv: Vec<OsString>) -> Vec<OsString> {
    let goes_by = |arg: &Arg, name: &str| {
        arg.get_long() == Some(name) || arg.get_all_aliases().unwrap_or_default().contains(&name)
    };
    let global = |name: &str| command.get_arguments().find(|arg| arg.is_global_set() && goes_by(arg, name));
    let short = |text: &str| {
        let letter = text.strip_prefix('-').filter(|letter| letter.len() == 1)?.chars().next();
        let arg = command.get_arguments().find(|arg| arg.is_global_set() && arg.get_short() == letter)?;
        arg.get_long()
    };
    let mut argv = argv.into_iter();
    let mut front: Vec<OsString> = argv.next().into_iter().collect();
    let mut rest = Vec::new();
    while let Some(word) = argv.next() {
        let Some(text) = word.to_str() else {
            rest.push(word);
            continue;
        };
        if text == "--" {
            rest.push(word);
            rest.extend(argv);
            break;
        }
        let Some(option) = text.strip_prefix("--") else {
            match short(text) {
                Some(long) => front.push(format!("--{long}").into()),
                None => rest.push(word),
            }
            continue;
        };
        let (name, value) =
            option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        match global(name) {
            None => rest.push(word),
            Some(arg) if value.is_none() && arg.get_action().takes_values() => match argv.next() {
                Some(value) => {
                    let mut joined = word;
                    joined.push("=");
                    joined.push(value);
                    front.push(joined);
                }
                None => front.push(word),
            },
            Some(_) => front.push(word),
        }
    }
    front.extend(rest);
    front
}

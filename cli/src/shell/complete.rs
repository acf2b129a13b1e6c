//! What may come next in a statement: verbs, keywords, options, references, keys.

use clap::CommandFactory;

use super::help::STATEMENTS;
use crate::args::Cli;

/// What a server knows.
pub trait Known {
    /// Names of branches and tags.
    fn references(&self) -> Vec<String>;
    /// Keys that begin with this, as they are typed; perhaps others too, and not all.
    fn keys(&self, prefix: &str) -> Vec<String>;
}

/// What fits behind the words before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    /// Nothing that is known.
    Nothing,
    /// A branch or tag.
    Reference,
    /// A key.
    Key,
    /// Either.
    Both,
}

/// The place where the word to be completed begins, and what it may become, in order.
pub fn candidates(line: &str, known: &dyn Known) -> (usize, Vec<String>) {
    let statement_at = line.rfind(';').map_or(0, |at| at + 1);
    let statement = line.get(statement_at..).unwrap_or_default();
    let word_at = statement.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let (before, prefix) = statement.split_at(word_at);
    let before: Vec<&str> = before.split_whitespace().collect();
    let mut found = match before.split_first() {
        None => verbs(prefix),
        Some((verb, rest)) => {
            let shouted = verb.chars().all(|c| c.is_ascii_uppercase());
            if shouted {
                behind_statement(verb, rest, prefix, known)
            } else {
                behind_verb(verb, rest, prefix, known)
            }
        }
    };
    found.retain(|word| word.starts_with(prefix));
    found.sort();
    found.dedup();
    (statement_at + word_at, found)
}

/// Words that begin statements: our verbs, and keywords where capitals are typed.
fn verbs(prefix: &str) -> Vec<String> {
    if prefix.starts_with(|c: char| c.is_ascii_uppercase()) {
        return STATEMENTS
            .iter()
            .filter_map(|(words, _)| words.split(' ').next())
            .map(str::to_owned)
            .collect();
    }
    let parser = Cli::command();
    let own = parser.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "sh");
    own.map(|verb| verb.get_name().to_owned()).chain(["exit", "help"].map(str::to_owned)).collect()
}

fn behind_verb(verb: &str, rest: &[&str], prefix: &str, known: &dyn Known) -> Vec<String> {
    let parser = Cli::command();
    let Some(mut command) = parser.find_subcommand(verb) else { return Vec::new() };
    let mut rest = rest;
    let mut path = vec![verb];
    if let Some((first, behind)) = rest.split_first()
        && let Some(inner) = command.find_subcommand(first)
    {
        command = inner;
        path.push(first);
        rest = behind;
    }
    if prefix.starts_with('-') {
        let options =
            command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(clap::Arg::get_long);
        return options.map(|long| format!("--{long}")).collect();
    }
    let mut found = Vec::new();
    if rest.is_empty() {
        found.extend(command.get_subcommands().map(|verb| verb.get_name().to_owned()));
    }
    let last = rest.last().copied().unwrap_or_default();
    let want = match last {
        "--ref" | "-r" | "--into" | "-b" | "--branch" | "--to" | "to" | "into" | "onto" | "--onto"
        | "--from" | "--expected" | "-c" | "-s" => Want::Reference,
        "--key" | "--prefix" | "--put" | "--delete" | "--unchanged" => Want::Key,
        option if takes_value(command, option) => Want::Nothing,
        _ => positional(&path),
    };
    found.extend(offered(want, prefix, known));
    if matches!(verb, "reset" | "revert") && !rest.is_empty() && !rest.contains(&"to") {
        found.push("to".to_owned());
    }
    if matches!(verb, "merge" | "cherry-pick") && !rest.is_empty() && !rest.contains(&"into") {
        found.push("into".to_owned());
    }
    found
}

fn takes_value(command: &clap::Command, option: &str) -> bool {
    let found = command.get_arguments().find(|arg| {
        let long = option.strip_prefix("--").is_some_and(|name| arg.get_long() == Some(name));
        let short = option
            .strip_prefix('-')
            .and_then(|name| name.parse().ok())
            .is_some_and(|c| arg.get_short() == Some(c));
        long || short
    });
    found.is_some_and(|arg| arg.get_action().takes_values())
}

/// What words without an option stand for.
fn positional(path: &[&str]) -> Want {
    match path {
        ["show"] => Want::Both,
        ["content", "list"] | ["config" | "remote" | "export" | "import" | "help", ..] => Want::Nothing,
        ["content", ..] | ["revert"] => Want::Key,
        _ => Want::Reference,
    }
}

fn offered(want: Want, prefix: &str, known: &dyn Known) -> Vec<String> {
    match want {
        Want::Nothing => Vec::new(),
        Want::Reference => known.references(),
        Want::Key => known.keys(prefix),
        Want::Both => known.references().into_iter().chain(known.keys(prefix)).collect(),
    }
}

fn behind_statement(verb: &str, rest: &[&str], prefix: &str, known: &dyn Known) -> Vec<String> {
    let last = rest.last().copied().unwrap_or(verb).to_ascii_uppercase();
    // What follows a word wherever it stands, then what may follow the statement's parts.
    let (keywords, want): (&[&str], Want) = match (verb, last.as_str()) {
        ("USE", "USE") => (&["BRANCH", "TAG", "REFERENCE"], Want::Nothing),
        ("CREATE", "CREATE") => (&["BRANCH", "TAG", "NAMESPACE"], Want::Nothing),
        ("ALTER", "ALTER") => (&["NAMESPACE"], Want::Nothing),
        ("ALTER" | "CREATE", "NAMESPACE") => (&[], Want::Key),
        ("CREATE", "BRANCH" | "TAG") => (&["IF NOT EXISTS"], Want::Nothing),
        ("DROP", "DROP") => (&["BRANCH", "TAG", "TABLE", "VIEW", "NAMESPACE"], Want::Nothing),
        ("DROP", "BRANCH" | "TAG") => (&["IF EXISTS"], Want::Reference),
        ("ASSIGN", "ASSIGN") => (&["BRANCH", "TAG"], Want::Nothing),
        ("LIST", "LIST") => (&["REFERENCES", "CONTENTS"], Want::Nothing),
        ("LIST", "REFERENCES") => (&["FILTER", "STARTING WITH", "CONTAINING"], Want::Nothing),
        ("LIST", "CONTENTS") => (&["ON", "AT", "FILTER", "STARTING WITH", "CONTAINING"], Want::Nothing),
        ("SHOW", "SHOW") => (&["LOG", "TABLE", "VIEW", "NAMESPACE", "REFERENCE"], Want::Nothing),
        ("SHOW", "LOG") => (&["ON", "AT", "LIMIT"], Want::Reference),
        ("SHOW" | "DROP", "TABLE" | "VIEW" | "NAMESPACE") => (&["ON", "AT"], Want::Key),
        ("MERGE", "MERGE") => (&["DRY"], Want::Reference),
        ("MERGE", "BEHAVIOR") => (&["NORMAL", "FORCE", "DROP"], Want::Nothing),
        ("REVERT", "REVERT") => (&["CONTENT"], Want::Nothing),
        ("REVERT", "CONTENT") => (&["OF", "DRY OF"], Want::Nothing),
        ("REVERT", "TO") => (&["STATE"], Want::Nothing),
        ("REVERT", "STATE") => (&["ON", "AT"], Want::Nothing),
        (_, "AT") => (&["COMMIT", "TIMESTAMP"], Want::Nothing),
        ("CONNECT", "CONNECT") => (&["TO"], Want::Nothing),
        (_, "OF" | "BEHAVIORS") => (&[], Want::Key),
        (_, "ON" | "FROM" | "INTO" | "TO" | "BRANCH" | "TAG" | "REFERENCE" | "DRY") => (&[], Want::Reference),
        ("CREATE", _) => (&["FROM", "AT", "ON", "SET"], Want::Nothing),
        ("ALTER", _) => (&["ON", "SET", "REMOVE", "AND"], Want::Nothing),
        ("ASSIGN", _) => (&["TO", "AT"], Want::Nothing),
        ("MERGE", _) => (&["AT", "INTO", "BEHAVIOR", "BEHAVIORS", "AND"], Want::Nothing),
        ("REVERT", _) => (&["AND", "ON", "TO STATE", "AT", "ALLOW DELETES"], Want::Nothing),
        ("SHOW" | "USE", _) => (&["AT", "LIMIT"], Want::Nothing),
        ("LIST", _) => (&["AT", "FILTER", "STARTING WITH", "CONTAINING"], Want::Nothing),
        ("DROP", _) => (&["ON"], Want::Nothing),
        _ => (&[], Want::Nothing),
    };
    // A table of a state: SHOW TABLE ON dev <key>
    let want = match (verb, rest) {
        ("SHOW", [kind, on, _]) if on.eq_ignore_ascii_case("ON") && !kind.eq_ignore_ascii_case("LOG") => {
            Want::Key
        }
        _ => want,
    };
    keywords.iter().map(|word| (*word).to_owned()).chain(offered(want, prefix, known)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;

    impl Known for Fixed {
        fn references(&self) -> Vec<String> {
            ["dev", "main", "v1"].map(str::to_owned).into()
        }

        fn keys(&self, _: &str) -> Vec<String> {
            ["nyc", "nyc.flights", "nyc.trips"].map(str::to_owned).into()
        }
    }

    #[test]
    fn what_may_come_next() {
        fn check(line: &str, expected: &[&str]) {
            let (at, found) = candidates(line, &Fixed);
            assert_eq!(found, expected, "{line}");
            assert!(found.iter().all(|word| word.starts_with(line.get(at..).unwrap())), "{line}");
        }
        check("lo", &["log"]);
        check("exi", &["exit"]);
        check("log ", &["dev", "main", "v1"]);
        check("log m", &["main"]);
        check("log --one", &["--oneline"]);
        check("log --key nyc.", &["nyc.flights", "nyc.trips"]);
        check("log -n ", &[]);
        check("branch del", &["delete"]);
        check("branch delete d", &["dev"]);
        check("merge dev i", &["into"]);
        check("merge dev into m", &["main"]);
        check("content get nyc.f", &["nyc.flights"]);
        check("content list -r v", &["v1"]);
        check("revert nyc.flights to m", &["main"]);
        check("show n", &["nyc", "nyc.flights", "nyc.trips"]);
        check("log main; branch delete d", &["dev"]);
        check("US", &["USE"]);
        check("USE ", &["BRANCH", "REFERENCE", "TAG"]);
        check("USE BRANCH ", &["dev", "main", "v1"]);
        check("MERGE d", &["dev"]);
        check("MERGE dev IN", &["INTO"]);
        check("SHOW TABLE nyc.f", &["nyc.flights"]);
        check("SHOW TABLE ON dev ny", &["nyc", "nyc.flights", "nyc.trips"]);
        check("REVERT CONTENT OF ny", &["nyc", "nyc.flights", "nyc.trips"]);
        check("nonsense x", &[]);
    }
}

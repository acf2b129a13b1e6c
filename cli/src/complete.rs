//! What may come next in a statement: verbs, keywords, options, references, keys.

pub mod known;

use clap::CommandFactory;
use lochan_api_spec::ext::model::LogOperation;

use crate::args::{Cli, mode};
use crate::commands::content::list;
use crate::settings::file;
use crate::shell::STATEMENTS;

/// What a server knows.
pub trait Known {
    /// Names of branches and tags.
    fn references(&self) -> Vec<String>;
    /// Keys that begin with this, as they are typed; perhaps others too, and not all.
    fn keys(&self, prefix: &str) -> Vec<String>;
}

/// What fits behind the words before.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Want {
    /// Nothing that is known.
    Nothing,
    /// A branch or tag.
    Reference,
    /// A key.
    Key,
    /// Either.
    Both,
    /// A file or folder, which shells know best.
    File,
    /// One of these words.
    Words(Vec<String>),
}

/// What a word may become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Offer {
    /// One of these, in order.
    Words(Vec<String>),
    /// The name of a file or folder.
    File,
}

/// The place where the last word of a line of the shell begins, and what it may become, in order.
pub fn candidates(line: &str, known: &dyn Known) -> (usize, Vec<String>) {
    let statement_at = line.rfind(';').map_or(0, |at| at + 1);
    let statement = line.get(statement_at..).unwrap_or_default();
    let (before, prefix) = cut(statement);
    let found = match before.split_first() {
        None => offered(Want::Words(verbs(prefix)), prefix, known),
        Some((verb, rest)) if verb.chars().all(|c| c.is_ascii_uppercase()) => {
            behind_statement(verb, rest, prefix, known)
        }
        Some((verb, rest)) => match behind_verb(&Cli::command(), verb, rest, prefix, known) {
            Offer::Words(words) => words,
            Offer::File => Vec::new(),
        },
    };
    (statement_at + statement.len() - prefix.len(), fitting(found, prefix))
}

/// What the last word of a command line may become, which begins behind the word `lochan` and the options of every command.
pub fn of_command_line(before: &[&str], prefix: &str, known: &dyn Known) -> Offer {
    let parser = Cli::command();
    let offer = match before.split_first() {
        None if prefix.starts_with('-') => Offer::Words(options(&parser, &parser)),
        None => Offer::Words(commands(&parser)),
        Some((verb, rest)) => behind_verb(&parser, verb, rest, prefix, known),
    };
    match offer {
        Offer::Words(words) => Offer::Words(fitting(words, prefix)),
        Offer::File => Offer::File,
    }
}

/// The words of a text, and the one that is not ended yet.
pub fn cut(text: &str) -> (Vec<&str>, &str) {
    let (before, prefix) = text.split_at(text.rfind(char::is_whitespace).map_or(0, |at| at + 1));
    (before.split_whitespace().collect(), prefix)
}

fn fitting(mut words: Vec<String>, prefix: &str) -> Vec<String> {
    words.retain(|word| word.starts_with(prefix));
    words.sort();
    words.dedup();
    words
}

/// Words that begin statements: our verbs, and keywords where capitals are typed.
fn verbs(prefix: &str) -> Vec<String> {
    if prefix.starts_with(|c: char| c.is_ascii_uppercase()) {
        let first = STATEMENTS.iter().filter_map(|(words, _)| words.split(' ').next());
        return first.map(str::to_owned).collect();
    }
    let own = commands(&Cli::command()).into_iter().filter(|verb| verb != "sh");
    own.chain(["exit".to_owned()]).collect()
}

/// The commands right below this one.
fn commands(command: &clap::Command) -> Vec<String> {
    let shown = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    shown.map(|verb| verb.get_name().to_owned()).chain(["help".to_owned()]).collect()
}

/// The long options of a command, and those of every command, which are the parser's.
fn options(parser: &clap::Command, command: &clap::Command) -> Vec<String> {
    let shown = command.get_arguments().chain(parser.get_arguments()).filter(|arg| !arg.is_hide_set());
    shown.filter_map(clap::Arg::get_long).chain(["help"]).map(|long| format!("--{long}")).collect()
}

fn behind_verb(parser: &clap::Command, verb: &str, rest: &[&str], prefix: &str, known: &dyn Known) -> Offer {
    if verb == "help" {
        let inner = rest.first().and_then(|verb| parser.find_subcommand(verb));
        return Offer::Words(commands(inner.unwrap_or(parser)));
    }
    let Some(mut command) = parser.find_subcommand(verb) else { return Offer::Words(Vec::new()) };
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
        // `--ref=ma` is one word.
        let Some((option, value)) = prefix.split_once('=') else {
            return Offer::Words(options(parser, command));
        };
        let Some(want) = wanted_by(parser, command, &path, option) else { return Offer::Words(Vec::new()) };
        if want == Want::File {
            return Offer::File;
        }
        let whole = |word: String| format!("{option}={word}");
        return Offer::Words(offered(want, value, known).into_iter().map(whole).collect());
    }
    let last = rest.last().copied().unwrap_or_default();
    let wanted = match last {
        "to" | "into" | "onto" => Some(Want::Reference),
        word => wanted_by(parser, command, &path, word),
    };
    let is_free = wanted.is_none();
    let want = match wanted {
        Some(want) => want,
        // Its verbs; a name behind `branch` alone is a new one.
        None if rest.is_empty() && command.is_subcommand_required_set() => Want::Nothing,
        None => positional(command, &path, rest),
    };
    if want == Want::File {
        return Offer::File;
    }
    let mut found = offered(want, prefix, known);
    if rest.is_empty() && command.has_subcommands() {
        found.extend(commands(command));
    }
    let link = match verb {
        "reset" | "revert" => Some("to"),
        "merge" | "cherry-pick" => Some("into"),
        "rebase" => Some("onto"),
        _ => None,
    };
    if let Some(link) = link.filter(|link| is_free && !rest.is_empty() && !rest.contains(link)) {
        found.push(link.to_owned());
    }
    Offer::Words(found)
}

/// What an option of a command takes: `None` where the word is none, or one that takes nothing.
fn wanted_by(parser: &clap::Command, command: &clap::Command, path: &[&str], option: &str) -> Option<Want> {
    let mut arguments = command.get_arguments().chain(parser.get_arguments());
    let arg = arguments.find(|arg| match option.strip_prefix("--") {
        Some(long) => arg.get_long_and_visible_aliases().unwrap_or_default().contains(&long),
        None => {
            let short = option.strip_prefix('-').and_then(|name| name.parse().ok());
            short.is_some_and(|short| arg.get_short() == Some(short))
        }
    })?;
    arg.get_action().takes_values().then(|| wanted_as(arg, path))
}

/// What a value stands for, by the name that help gives it.
fn wanted_as(arg: &clap::Arg, path: &[&str]) -> Want {
    let values = arg.get_possible_values();
    if !values.is_empty() {
        let shown = values.iter().filter(|value| !value.is_hide_set());
        return Want::Words(shown.map(|value| value.get_name().to_owned()).collect());
    }
    let words = |words: &[&str]| Want::Words(words.iter().map(|word| (*word).to_owned()).collect());
    match arg.get_value_names().and_then(|names| names.first()).map_or("", clap::builder::Str::as_str) {
        "KEY" if path == ["config"] => words(&file::KEYS.map(|(key, _)| key)),
        "KEY" | "KEY=MODE" => Want::Key,
        "POINT" | "BRANCH" | "HASH" | "REFERENCE" | "BASE" | "COMMIT" | "SOURCE" => Want::Reference,
        "FILE" | "DIR" => Want::File,
        "MODE" => words(&mode::NAMES),
        "TYPE" => words(&list::TYPES),
        "KIND" => Want::Words(LogOperation::ALL.iter().map(|kind| kind.as_str().to_lowercase()).collect()),
        _ => Want::Nothing,
    }
}

/// What the next word without an option stands for.
fn positional(command: &clap::Command, path: &[&str], rest: &[&str]) -> Want {
    match path {
        ["show"] => return Want::Both,
        ["content", "list"] | ["remote", "add"] => return Want::Nothing,
        ["content", ..] | ["revert"] => return Want::Key,
        ["config" | "export" | "import" | "man" | "completions"] => {}
        _ => return Want::Reference,
    }
    // These take one word.
    let is_given = rest.iter().any(|word| !word.starts_with('-'));
    let next = command.get_positionals().next().filter(|_| !is_given);
    next.map_or(Want::Nothing, |arg| wanted_as(arg, path))
}

fn offered(want: Want, prefix: &str, known: &dyn Known) -> Vec<String> {
    match want {
        Want::Nothing | Want::File => Vec::new(),
        Want::Reference => known.references(),
        Want::Key => known.keys(prefix),
        Want::Both => known.references().into_iter().chain(known.keys(prefix)).collect(),
        Want::Words(words) => words,
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
        ("MERGE", "BEHAVIOR") => (&mode::NAMES, Want::Nothing),
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
        check("export repo", &[]);
    }

    #[test]
    fn what_may_come_next_on_a_command_line() {
        fn check(line: &str, expected: &[&str]) {
            let (before, prefix) = cut(line);
            let expected = expected.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(of_command_line(&before, prefix, &Fixed), Offer::Words(expected), "{line}");
        }
        fn file(line: &str) {
            let (before, prefix) = cut(line);
            assert_eq!(of_command_line(&before, prefix, &Fixed), Offer::File, "{line}");
        }
        check("lo", &["log"]);
        check("exi", &[]);
        check("--js", &["--json"]);
        check("log --js", &["--json"]);
        check("merge dev into m", &["main"]);
        check("rebase dev on", &["onto"]);
        check("merge dev --mode ", &["DROP", "FORCE", "NORMAL"]);
        check("merge --f", &["--full"]);
        check("content ", &["alter", "commit", "delete", "get", "help", "list"]);
        check("branch d", &["delete"]);
        check("content list --type t", &["table"]);
        check("content list --ref=m", &["--ref=main"]);
        check("content get -r d", &["dev"]);
        check("import x --existing ", &["keep", "move", "refuse"]);
        check("config --get end", &["endpoint"]);
        check("config time", &["timeout_s"]);
        check("reflog --operation cre", &["create"]);
        check("show --as c", &["commit", "content"]);
        check("completions f", &["fish"]);
        check("help con", &["config", "content"]);
        check("help branch cr", &["create"]);
        check("log --color a", &["always", "auto"]);
        file("export repo");
        file("log --token-file ~/");
        file("import --table=");
    }
}

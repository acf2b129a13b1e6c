//! What the words of a statement mean. The statements are those of the Nessie CLI; each but a few that concern the shell
//! itself says the same as a `lochan` command line, and becomes it.

use clap::CommandFactory;
use lochan_api_spec::syntax::{Instant, RefSpec};

use super::grammar::{Cursor, Trouble};
use super::help::is_statement;
use crate::args::{Cli, key, mode, point, property};
use crate::commands::cel;
use crate::commands::content::revert;

/// What a statement asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// A command line, without the program's name.
    Command {
        /// Its words.
        argv: Vec<String>,
        /// What does not count as a failure.
        allowed: Allowed,
    },
    /// Another server.
    Connect {
        /// Its address.
        uri: String,
        /// Where to stand.
        on: Option<RefSpec>,
        /// Properties of Nessie's clients.
        using: Vec<(String, String)>,
    },
    /// Where to stand from now on, and what that must be: `branch` or `tag`.
    Use(RefSpec, Option<&'static str>),
    /// An explanation, perhaps of one statement or verb.
    Help(Option<String>),
    /// The end.
    Exit,
}

/// An error that a statement was told to take for success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// None.
    Nothing,
    /// `IF NOT EXISTS`
    Existing,
    /// `IF EXISTS`
    Missing,
}

/// Reads a statement of the Nessie CLI.
pub fn parse(mut words: Cursor<'_>) -> Result<Meaning, Trouble> {
    let verbs = [
        "CONNECT", "USE", "CREATE", "ALTER", "DROP", "ASSIGN", "LIST", "SHOW", "MERGE", "REVERT", "HELP",
        "EXIT", "QUIT",
    ];
    let meaning = match words.one_of(&verbs)? {
        "CONNECT" => connect(&mut words)?,
        "USE" => {
            let kind = words.one_of(&["BRANCH", "TAG", "REFERENCE"])?;
            let point = words.place("a branch or tag")?;
            Meaning::Use(point, kind_word(kind))
        }
        "CREATE" => create(&mut words)?,
        "ALTER" => alter(&mut words)?,
        "DROP" => drop(&mut words)?,
        "ASSIGN" => assign(&mut words)?,
        "LIST" => list(&mut words)?,
        "SHOW" => show(&mut words)?,
        "MERGE" => merge(&mut words)?,
        "REVERT" => revert(&mut words)?,
        "HELP" => Meaning::Help(words.rest()),
        _ => Meaning::Exit,
    };
    words.end()?;
    Ok(meaning)
}

/// Whether a text begins a statement of the Nessie CLI and ends in the middle of it, so that the next line belongs to it.
pub fn is_open(text: &str) -> bool {
    let words = super::script::words(text);
    let Some(verb) = words.first().map(|word| word.text.as_str()) else { return false };
    // `show` and `merge` are also commands, which may be as short as they like.
    let is_command =
        verb.chars().any(|c| c.is_ascii_lowercase()) && Cli::command().find_subcommand(verb).is_some();
    let found = parse(Cursor::new(&words, "-"));
    !is_command && is_statement(verb) && matches!(found, Err(Trouble::Expected { found: None, .. }))
}

fn kind_word(keyword: &str) -> Option<&'static str> {
    match keyword {
        "BRANCH" => Some("branch"),
        "TAG" => Some("tag"),
        _ => None,
    }
}

fn command(argv: Vec<String>) -> Meaning {
    Meaning::Command { argv, allowed: Allowed::Nothing }
}

/// A command line of a verb with its options, and words that must not be taken for options.
fn with_words(mut argv: Vec<String>, words: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut words = words.into_iter().peekable();
    if words.peek().is_some() {
        argv.push("--".to_owned());
    }
    argv.extend(words);
    argv
}

fn line(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn connect(words: &mut Cursor<'_>) -> Result<Meaning, Trouble> {
    words.expect("TO")?;
    let uri = words.word("an address")?;
    let on = if words.keyword("ON") { Some(words.place("a branch or tag")?) } else { None };
    let using = if words.keyword("USING") { words.assignments()? } else { Vec::new() };
    Ok(Meaning::Connect { uri, on, using })
}

fn create(words: &mut Cursor<'_>) -> Result<Meaning, Trouble> {
    let kind = words.one_of(&["BRANCH", "TAG", "NAMESPACE"])?;
    let Some(kind) = kind_word(kind) else {
        let key = words.word("a key")?;
        let mut argv = line(&["content", "commit", "--namespace", "--new", &format!("--put={key}")]);
        on(words, &mut argv)?;
        if words.keyword("SET") {
            properties(words, &mut argv)?;
        }
        return Ok(command(argv));
    };
    let mut allowed = Allowed::Nothing;
    if words.keyword("IF") {
        words.expect("NOT")?;
        words.expect("EXISTS")?;
        allowed = Allowed::Existing;
    }
    let name = words.word("a name")?;
    let mut argv = line(&[kind, "create"]);
    let from = if words.keyword("FROM") { Some(words.word("a branch or tag")?) } else { None };
    let at = words.at()?;
    if from.is_some() || at.is_some() {
        argv.push(format!("--from={}", point_text(from.as_deref(), at, words.here())?));
    }
    Ok(Meaning::Command { argv: with_words(argv, [name]), allowed })
}

fn alter(words: &mut Cursor<'_>) -> Result<Meaning, Trouble> {
    words.expect("NAMESPACE")?;
    let key = words.word("a key")?;
    let mut argv = line(&["content", "alter"]);
    on(words, &mut argv)?;
    if words.keyword("SET") {
        properties(words, &mut argv)?;
    }
    if words.keyword("REMOVE") {
        for name in words.listed("a property")? {
            argv.push(format!("--remove-property={name}"));
        }
    }
    Ok(command(with_words(argv, [key])))
}

fn drop(words: &mut Cursor<'_>) -> Result<Meaning, Trouble> {
    let kind = words.one_of(&["BRANCH", "TAG", "TABLE", "VIEW", "NAMESPACE"])?;
    let Some(kind) = kind_word(kind) else {
        let key = words.word("a key")?;
        let mut argv = line(&["content", "delete", "--type", &kind.to_ascii_lowercase()]);
        on(words, &mut argv)?;
        return Ok(command(with_words(argv, [key])));
    };
    let mut allowed = Allowed::Nothing;
    if words.keyword("IF") {
        words.expect("EXISTS")?;
        allowed = Allowed::Missing;
    }
    let name = words.word("a name")?;
    Ok(Meaning::Command { argv: with_words(line(&[kind, "delete"]), [name]), allowed })
}

fn assign(words: &mut Cursor<'_>) -> Result<Meaning, Trouble> {
    let kind = kind_word(words.one_of(&["BRANCH", "TAG"])?).unwrap_or("branch");
    let mut argv = line(&[kind, "assign"]);
    let here = words.here().to_owned();
    let unnamed = words.is_keyword("TO") || words.is_end();
    let name = if unnamed { here.clone() } else { words.word("a name")? };
    let to = if words.keyword("TO") { words.place("a branch or tag")?.to_string() } else { here };
    argv.push(format!("--to={to}"));
    Ok(command(with_words(argv, [name])))
}

fn list(words: &mut Cursor<'_>) -> Result<Meaning, Trouble> {
    if words.one_of(&["REFERENCES", "CONTENTS"])? == "REFERENCES" {
        let mut argv = line(&["branch", "list", "--all"]);
        filter(words, "ref.name", &mut argv)?;
        return Ok(command(argv));
    }
    let mut argv = line(&["content", "list"]);
    let place = words.optional_place(true)?;
    reference(place, &mut argv);
    filter(words, "entry.encodedKey", &mut argv)?;
    Ok(command(argv))
}

fn filter(words: &mut Cursor<'_>, field: &str, argv: &mut Vec<String>) -> Result<(), Trouble> {
    if words.keyword("FILTER") {
        argv.push(format!("--filter={}", words.word("a CEL expression")?));
        return Ok(());
    }
    let mut tests = Vec::new();
    if words.keyword("STARTING") {
        words.expect("WITH")?;
        tests.push(format!("{field}.startsWith({})", cel::text(&words.word("a text")?)));
    }
    if words.keyword("CONTAINING") {
        tests.push(format!("{field}.contains({})", cel::text(&words.word("a text")?)));
    }
    if !tests.is_empty() {
        argv.push(format!("--filter={}", tests.join(" && ")));
    }
    Ok(())
}

fn show(words: &mut Cursor<'_>) -> Result<Meaning, Trouble> {
    match words.one_of(&["LOG", "TABLE", "VIEW", "NAMESPACE", "REFERENCE"])? {
        "LOG" => {
            let mut argv = line(&["log"]);
            let place = words.optional_place(false)?.map(|place| place.to_string());
            if words.keyword("LIMIT") {
                argv.push(format!("--number={}", words.word("a number")?));
            }
            Ok(command(with_words(argv, place)))
        }
        "REFERENCE" => {
            let place = words.optional_place(false)?;
            let Some(place) = place else { return Ok(command(line(&["show"]))) };
            let kind = if place.has_hash() { "commit" } else { "reference" };
            let name = place.name.clone().filter(|_| !place.has_hash());
            let word = name.unwrap_or_else(|| place.to_string());
            Ok(command(with_words(line(&["show", "--as", kind]), [word])))
        }
        kind => {
            let mut argv = line(&["content", "get", "--type", &kind.to_ascii_lowercase()]);
            let place = words.optional_place(true)?;
            reference(place, &mut argv);
            Ok(command(with_words(argv, [words.word("a key")?])))
        }
    }
}

fn merge(words: &mut Cursor<'_>) -> Result<Meaning, Trouble> {
    let mut argv = line(&["merge"]);
    // `merge dry into main` means a branch of that name.
    if words.is_keyword("DRY") && !words.is_keyword_behind("INTO") {
        words.keyword("DRY");
        argv.push("--dry-run".to_owned());
    }
    words.kind();
    let source = words.place("a branch or tag")?;
    if words.keyword("INTO") {
        argv.push(format!("--into={}", words.word("a branch")?));
    }
    if words.keyword("BEHAVIOR") {
        argv.push(format!("--mode={}", words.one_of(&mode::NAMES)?));
    }
    if words.keyword("BEHAVIORS") {
        for (key, mode) in words.assignments()? {
            let known = mode::NAMES.iter().find(|known| known.eq_ignore_ascii_case(&mode));
            let wrong =
                || Trouble::Expected { expected: mode::NAMES.join(", "), found: Some(format!("'{mode}'")) };
            argv.push(format!("--key-mode={key}={}", known.ok_or_else(wrong)?));
        }
    }
    Ok(command(with_words(argv, [source.to_string()])))
}

fn revert(words: &mut Cursor<'_>) -> Result<Meaning, Trouble> {
    words.expect("CONTENT")?;
    let mut argv = line(&["revert"]);
    if words.keyword("DRY") {
        argv.push("--dry-run".to_owned());
    }
    words.expect("OF")?;
    let mut keys = words.listed("a key")?;
    // In quotes it is not the word before the state.
    keys.iter_mut().filter(|key| *key == revert::LINK).for_each(|key| *key = key::quoted(key));
    let mut branch = None;
    if words.keyword("ON") {
        words.kind();
        branch = Some(words.word("a branch")?);
    }
    words.expect("TO")?;
    words.expect("STATE")?;
    let to = if words.keyword("ON") {
        words.kind();
        words.place("a branch or tag")?.to_string()
    } else {
        let at = words.at()?.ok_or_else(|| words.trouble("ON or AT"))?;
        point_text(branch.as_deref(), Some(at), words.here())?
    };
    if let Some(branch) = branch {
        argv.push(format!("--ref={branch}"));
    }
    argv.push(format!("--to={to}"));
    if words.keyword("ALLOW") {
        words.expect("DELETES")?;
        argv.push("--allow-deletes".to_owned());
    }
    Ok(command(with_words(argv, keys)))
}

/// `k = v [AND k = v]*`
fn properties(words: &mut Cursor<'_>, argv: &mut Vec<String>) -> Result<(), Trouble> {
    let set = words.assignments()?;
    argv.extend(set.iter().map(|(name, value)| format!("--property={}", property::show(name, value))));
    Ok(())
}

/// `ON [type] ref`
fn on(words: &mut Cursor<'_>, argv: &mut Vec<String>) -> Result<(), Trouble> {
    if words.keyword("ON") {
        words.kind();
        argv.push(format!("--ref={}", words.word("a branch")?));
    }
    Ok(())
}

fn reference(place: Option<RefSpec>, argv: &mut Vec<String>) {
    argv.extend(place.map(|place| format!("--ref={place}")));
}

/// A point as text; without a name it counts from where the shell stands.
fn point_text(name: Option<&str>, at: Option<At>, here: &str) -> Result<String, Trouble> {
    let name = name.unwrap_or(here);
    at.map_or_else(|| Ok(name.to_owned()), |at| Ok(at.of(name)?.to_string()))
}

/// `AT …`
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum At {
    /// A commit: a hash, steps, or both.
    Commit(String),
    /// A time.
    Time(Instant),
}

impl At {
    /// Reads what stands behind `AT`. Without a keyword a time is told from a commit by its looks.
    pub fn parse(kind: Option<&str>, text: &str) -> Result<Self, Trouble> {
        let time = || {
            let day = format!("{text}T00:00:00Z");
            Instant::parse_loose(text).or_else(|_| Instant::parse_loose(&day)).ok()
        };
        match kind {
            Some("COMMIT") => Ok(Self::Commit(text.to_owned())),
            Some(_) => time().map(Self::Time).ok_or_else(|| Trouble::NoTime(text.to_owned())),
            None => Ok(time().map_or_else(|| Self::Commit(text.to_owned()), Self::Time)),
        }
    }

    /// The point, counted from a reference.
    pub fn of(&self, name: &str) -> Result<RefSpec, Trouble> {
        let text = match self {
            Self::Time(time) => format!("{name}*{time}"),
            Self::Commit(text) if text.starts_with(['~', '^', '*']) => format!("{name}{text}"),
            Self::Commit(text) => format!("{name}@{text}"),
        };
        point::parse(&text).map_err(|message| Trouble::NoPoint { text, message })
    }
}

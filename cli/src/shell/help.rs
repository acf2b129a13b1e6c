//! What the shell says of itself.

use clap::CommandFactory;

use crate::args::Cli;
use crate::hints::nearest;
use crate::output::page::pad;

/// How alike a wrong first word and a right one must be, from 0 to 1.
const VERB_LIKENESS_MIN: f64 = 0.8;

/// The statements of the Nessie CLI, by their first words, as they are written.
pub const STATEMENTS: [(&str, &str); 19] = [
    ("CONNECT", "CONNECT TO uri [ON ref] [USING key = value [AND key = value]...]"),
    ("USE", "USE (BRANCH | TAG | REFERENCE) ref [at]"),
    ("CREATE BRANCH", "CREATE BRANCH [IF NOT EXISTS] name [FROM ref] [at]"),
    ("CREATE TAG", "CREATE TAG [IF NOT EXISTS] name [FROM ref] [at]"),
    ("CREATE NAMESPACE", "CREATE NAMESPACE key [ON ref] [SET k = v [AND k = v]...]"),
    ("ALTER", "ALTER NAMESPACE key [ON ref] [SET k = v [AND k = v]...]\n    [REMOVE k [AND k]...]"),
    ("DROP BRANCH", "DROP (BRANCH | TAG) [IF EXISTS] ref"),
    ("DROP TABLE", "DROP (TABLE | VIEW | NAMESPACE) key [ON ref]"),
    ("ASSIGN", "ASSIGN (BRANCH | TAG) [ref] [TO ref [at]]"),
    ("LIST REFERENCES", "LIST REFERENCES [FILTER cel | [STARTING WITH s] [CONTAINING t]]"),
    ("LIST CONTENTS", "LIST CONTENTS [ON ref] [at] [FILTER cel | [STARTING WITH s] [CONTAINING t]]"),
    ("SHOW LOG", "SHOW LOG [[ON] ref] [at] [LIMIT n]"),
    ("SHOW TABLE", "SHOW (TABLE | VIEW | NAMESPACE) [ON ref] [at] key"),
    ("SHOW REFERENCE", "SHOW REFERENCE [ref] [at]"),
    (
        "MERGE",
        "MERGE [DRY] ref [at] [INTO ref] [BEHAVIOR mode]\n    [BEHAVIORS key = mode [AND key = mode]...]",
    ),
    (
        "REVERT",
        "REVERT CONTENT [DRY] OF key [AND key]... [ON ref]\n    TO STATE (ON ref [at] | at) [ALLOW DELETES]",
    ),
    ("HELP", "HELP [statement or command]"),
    ("EXIT", "EXIT"),
    ("QUIT", "QUIT"),
];

/// Whether a word begins statements.
pub fn is_statement(verb: &str) -> bool {
    STATEMENTS.iter().any(|(known, _)| known.split(' ').next().is_some_and(|w| w.eq_ignore_ascii_case(verb)))
}

/// How the statements are written that begin with these words.
pub fn of_statement(topic: &str) -> Option<String> {
    // `help merge` and the like mean the command, `HELP MERGE` the statement.
    if topic.chars().any(|c| c.is_ascii_lowercase()) && Cli::command().find_subcommand(topic).is_some() {
        return None;
    }
    let found = usages(topic);
    (!found.is_empty()).then(|| found.join("\n"))
}

/// Each statement that begins with these words, as it is written.
pub fn usages(topic: &str) -> Vec<&'static str> {
    let topic = topic.to_ascii_uppercase();
    let first = topic.split(' ').next().unwrap_or_default();
    let fits = |known: &str| !first.is_empty() && (known.starts_with(&topic) || known == first);
    STATEMENTS.iter().filter(|(known, _)| fits(known)).map(|(_, usage)| *usage).collect()
}

/// Statements that somebody who wrote this first word may have meant, as they are written.
pub fn near(verb: &str) -> Vec<&'static str> {
    let mut verbs: Vec<&str> = STATEMENTS.iter().filter_map(|(known, _)| known.split(' ').next()).collect();
    verbs.dedup();
    let best = nearest(verb, verbs, VERB_LIKENESS_MIN);
    best.first().map(|verb| usages(verb)).unwrap_or_default()
}

/// Everything that can be said.
pub fn all() -> String {
    let mut out = String::from("Commands (`help COMMAND` says more):\n");
    let parser = Cli::command();
    let shown = parser.get_subcommands().filter(|verb| !verb.is_hide_set() && verb.get_name() != "sh");
    for verb in shown {
        let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
        out.push_str(&format!("  {} {about}\n", pad(verb.get_name(), 12)));
    }
    out.push_str("\nStatements of the Nessie CLI, in any case:\n");
    for (_, usage) in STATEMENTS {
        out.push_str(&format!("  {usage}\n"));
    }
    out.push_str(
        "\nat: AT [COMMIT] hash, ~1, ^2 or both; AT [TIMESTAMP] 2026-05-01T10:20:30Z\n\
         A statement ends at `;` or with its line; a backslash goes on with the next one.\n\
         What stands in quotes (' or \" or `) is taken as it is: blanks, keywords, `=`.\n\
         Where no branch is named, the one is meant that USE chose.\n",
    );
    out
}

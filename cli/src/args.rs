//! The command line as types. Doc comments are the help text.

pub mod key;
pub mod mode;
pub mod phrase;
pub mod point;
pub mod property;
pub mod target;
pub mod time;

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand, ValueEnum};

use crate::commands::{commit, content, merge, reference, repository, setup, state};
use crate::settings::Secret;
use crate::shell;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Git-like version control for the tables of a data lake.
///
/// Works with any server of the Nessie API v2. A point in the history is written as a branch or tag (main), a hash or
/// its first digits (at least 8), or with steps back from either: main~2, main@HASH, HASH^2, main*2026-05-01T00:00:00Z.
/// Without a point the server's default branch is meant.
///
/// A key is written with dots between its elements and double quotes around an element that holds a dot: sales."a.b".
#[derive(Debug, Parser)]
#[command(
    name = "lochan",
    version,
    styles = STYLES,
    max_term_width = 100,
    after_help = "Try: lochan branch dev-feature-x main\n     lochan merge dev-feature-x into main\n     lochan reset main to HASH\n\n`lochan help COMMAND` says more; `lochan help exit-codes` lists the exit codes.",
    after_long_help = format!("{JSON_HELP}\n\n{}", crate::exit::table()),
)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What `--json` writes.
const JSON_HELP: &str = "\
JSON:
  Documents are those of the Nessie API v2, listings put together from all
  pages; reflog, undo, rebase and import write those of /ext/v1. merge,
  cherry-pick and rebase add fromHash, dryRun and conflicts (both sides of
  each); reset and assign add previousHash, leftBehind and undo, delete adds
  undo. An error has kind, exitCode, message, status, errorCode, conflicts,
  request and hints, null where nothing is known. A merge with conflicts
  writes both.";

/// Options of every command.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// The server's root, such as http://127.0.0.1:19120/ [env: LOCHAN_ENDPOINT].
    #[arg(long, global = true, value_name = "URL", alias = "uri")]
    pub endpoint: Option<String>,
    /// A bearer token.
    ///
    /// Other users of the machine can see it; LOCHAN_TOKEN or a file is better.
    #[arg(long, global = true, value_name = "TOKEN", alias = "auth-token", value_parser = secret, hide_short_help = true)]
    pub token: Option<Secret>,
    /// A file that holds the bearer token [env: LOCHAN_TOKEN_FILE].
    #[arg(long, global = true, value_name = "FILE", conflicts_with = "token")]
    pub token_file: Option<PathBuf>,
    /// Write one JSON document, and errors as one JSON object to standard error.
    #[arg(long, global = true)]
    pub json: bool,
    /// Show hashes with all 64 digits.
    #[arg(short = 'v', long, global = true, alias = "verbose")]
    pub full: bool,
    /// When to use colours: auto (which honours NO_COLOR), always or never.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_possible_values = true
    )]
    pub color: Colour,
    /// Never start a pager ($LOCHAN_PAGER, $PAGER, less).
    #[arg(long, global = true)]
    pub no_pager: bool,
    /// The settings file [env: LOCHAN_CONFIG; usually ~/.config/lochan/config.toml].
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// Reads how many commits or entries are wanted.
pub fn how_many(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| "it is a number, 0 for all of them".to_owned())
}

fn secret(text: &str) -> Result<Secret, std::convert::Infallible> {
    Ok(Secret::new(text.trim()))
}

/// When to use colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List, create, delete or move branches.
    ///
    /// Without anything it lists them; `branch NAME [BASE]` creates one. A first word that is a verb is always the
    /// verb: a branch called `list` is made with `branch create list main`.
    #[command(subcommand, override_usage = "lochan branch [NAME [BASE]]\n       lochan branch <VERB> ...")]
    Branch(reference::Verb),
    /// List, create, delete or move tags.
    ///
    /// Without anything it lists them; `tag NAME [BASE]` creates one. A first word that is a verb is always the verb: a
    /// tag called `list` is made with `tag create list main`.
    #[command(subcommand, override_usage = "lochan tag [NAME [BASE]]\n       lochan tag <VERB> ...")]
    Tag(reference::Verb),
    /// Show the commits that led to a state, newest first.
    Log(commit::log::Args),
    /// Show what differs between two states.
    ///
    /// Lists the keys that came (+), went (-) or changed (~) on the way from the first state to the second. With one
    /// state, on the way from the default branch to it.
    Diff(state::diff::Args),
    /// Show a branch, a tag, a commit or a content.
    ///
    /// A hash, or a point with steps (main~1), is a commit. Another word is a branch or tag of that name; if there is
    /// none, a key. With --ref it is always a key; --as says what is meant.
    Show(state::show::Args),
    /// Read, list, change or delete what keys hold.
    #[command(subcommand)]
    Content(content::Verb),
    /// Merge a state into a branch, as one commit.
    ///
    /// Keys that both sides changed are conflicts: nothing is merged, both sides are shown, and --key-mode or --mode says
    /// what is to be done with them.
    Merge(merge::merge_into::Args),
    /// Replay single commits onto a branch.
    ///
    /// Each becomes a commit of its own that keeps message and authors. Give them oldest first; each must be the parent
    /// of the next.
    CherryPick(merge::cherry_pick::Args),
    /// Make the commits of a branch again on top of another reference.
    ///
    /// The branch is set to the new commits, all at once or not at all. Commits whose changes the other one has already
    /// are left out. Needs a Lochan server.
    Rebase(merge::rebase::Args),
    /// Move a branch to another commit.
    ///
    /// The head that was read is sent along, so that nothing committed meanwhile is lost unseen. Commits that are left
    /// behind are listed, with the command that brings them back.
    Reset(reference::reset::Args),
    /// Show how branches and tags were changed, deleted ones too.
    ///
    /// The newest change comes first. Each line has the reference, the number of the change, what was done, and where it led; `lochan undo` goes back.
    /// Needs a Lochan server.
    Reflog(repository::reflog::Args),
    /// Undo changes of a branch or tag, its deletion too.
    ///
    /// A deleted one comes back, a moved one goes back. Without an option the newest change is undone. An undo is a change too, so undoing twice changes nothing. Needs a
    /// Lochan server.
    Undo(repository::undo::Args),
    /// Make keys what they were in another state, as one commit.
    ///
    /// Each key gets the content that it has in the state given (lochan revert nyc.flights to main~3); others stay as
    /// they are. A key that the state does not have is deleted only with --allow-deletes.
    Revert(content::revert::Args),
    /// Write the whole repository into a file.
    ///
    /// That is references, commits and contents, as lines of JSON with checksums. Works with Lochan, whose commits keep their hashes, and with any other Nessie server. A file that broke off is gone
    /// on with by --resume (from Lochan). Files of tables are not part of it.
    Export(repository::export::Args),
    /// Take a repository in that `export` wrote.
    ///
    /// Said again after a break, it goes on where it stopped. References appear all together at the end. Needs a Lochan
    /// server; lochan --endpoint OLD export - | lochan --endpoint NEW import -
    Import(repository::import::Args),
    /// Show the settings in force, or change the settings file.
    Config(setup::config::Args),
    /// Ask about the server, or say which one is meant.
    #[command(subcommand)]
    Remote(setup::remote::Verb),
    /// Say statements one after the other.
    ///
    /// A statement is a command without the word `lochan`, or a statement of the Nessie CLI (USE BRANCH dev; SHOW LOG).
    /// `help` lists them, Tab completes commands, references and keys. Without a terminal, statements are read from
    /// standard input: echo 'log main; diff main dev' | lochan sh
    #[command(visible_alias = "shell")]
    Sh(shell::Args),
    /// Print a completion script for a shell.
    ///
    /// For example: lochan completions bash > ~/.local/share/bash-completion/completions/lochan
    ///
    /// In bash, zsh and fish, branches, tags and keys of the server are completed, too.
    Completions(setup::completions::Args),
    /// What the last word of a command line may become; completion scripts ask for it.
    #[command(hide = true)]
    Complete(setup::complete::Args),
    /// Write the man pages into a folder, or print the main one.
    Man(setup::man::Args),
    /// List the exit codes.
    #[command(hide = true, long_about = crate::exit::table())]
    ExitCodes,
}

#[cfg(test)]
#[path = "args/tests.rs"]
mod tests;

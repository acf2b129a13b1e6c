//! The `lochan` command line: branches, merges and contents of a catalog server, over the Nessie API v2.
//!
//! It sees only the wire: everything it knows of a server it learned through the endpoints that `api-spec` declares,
//! so it works with any server of that API. Words become [`args`], `args` become one command in `commands`, a command
//! returns a report that one of the formats in `output` writes, and an [`error::Error`] whose kind decides the
//! [`exit`] code; what to do about it is said apart, by `hints`.
//!
//! The library exists so that tests can run a command line without a process: [`run`] takes everything that it
//! reads or writes from a [`Host`].

pub mod args;
mod client;
mod commands;
mod complete;
pub mod error;
pub mod exit;
mod hints;
pub mod host;
mod output;
mod settings;
mod shell;

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};

pub use crate::host::Host;

use crate::args::{Cli, Command, Global, phrase};
use crate::commands::setup::remote::Verb;
use crate::commands::{Done, Session};
use crate::error::Error;
use crate::output::Format;

/// Runs one command line (the program's name first) and returns the exit code; see [`exit::Kind`].
pub fn run(argv: Vec<OsString>, mut host: Host) -> u8 {
    let command = Cli::command();
    let argv = phrase::normalise(&command, argv);
    let json = phrase::asks_for_json(&argv);
    let cli = command.try_get_matches_from(argv).and_then(|matches| Cli::from_arg_matches(&matches));
    let (format, ended) = match cli {
        Ok(cli) => {
            host.choose_colour(cli.global.color);
            let format = output::format(&cli.global, &host);
            let ended = settings_and_command(cli, &mut host, format.as_ref());
            (format, ended)
        }
        Err(error) => {
            let ended = output::usage::tell(&mut host, &error, json);
            (output::format(&Global { json, ..Global::default() }, &host), ended)
        }
    };
    // From before there was a server to ask for hints.
    ended.unwrap_or_else(|error| fail(&mut host, format.as_ref(), &error, &hints::offline(&error)))
}

/// Runs a parsed command.
fn settings_and_command(cli: Cli, host: &mut Host, format: &dyn Format) -> Result<u8, Error> {
    let paging = !cli.global.no_pager && !cli.global.json;
    match cli.command {
        // These need no settings, so that they work beside a broken settings file.
        Command::Completions(args) => commands::setup::completions::run(&args, host),
        Command::Complete(args) => commands::setup::complete::run(&args, host),
        Command::Man(args) => commands::setup::man::run(&args, host, format),
        Command::ExitCodes => commands::setup::exit_codes::run(host, format),
        Command::Sh(args) => shell::run(&args, cli.global, host),
        command => {
            let settings = match &command {
                Command::Config(_) | Command::Remote(Verb::Add { .. } | Verb::SetHead { .. }) => {
                    settings::load_unfinished(&cli.global, host)?
                }
                _ => settings::load(&cli.global, host)?,
            };
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Output)?;
            let session = Session::new(settings, host)?;
            let done = runtime.block_on(commands::run(command, &session));
            let hints = |error: &Error| runtime.block_on(hints::for_error(error, &session));
            conclude(host, format, paging, done, hints)
        }
    }
}

/// Shows what a command came to, and returns its exit code. `Err` is output that cannot be written.
fn conclude(
    host: &mut Host,
    format: &dyn Format,
    paging: bool,
    done: Result<Done, Error>,
    hints: impl FnOnce(&Error) -> Vec<String>,
) -> Result<u8, Error> {
    let error = match done {
        Ok(Done { report, verdict }) => {
            let shown = match report.silent() {
                true => Ok(()),
                false => host.show(format.report(report.as_ref())?, paging && report.long()),
            };
            match (verdict, shown.map_err(Error::from)) {
                // What was found counts, whether its reader has stayed for it or not.
                (Some(error), Ok(())) => error,
                (Some(error), Err(gone)) if is_reader_gone(&gone) => error,
                (_, shown) => return shown.map(|()| 0),
            }
        }
        Err(error) => error,
    };
    let hints = hints(&error);
    Ok(fail(host, format, &error, &hints))
}

fn is_reader_gone(error: &Error) -> bool {
    matches!(error, Error::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe)
}

fn fail(host: &mut Host, format: &dyn Format, error: &Error, hints: &[String]) -> u8 {
    // `lochan log | head` is no failure.
    if is_reader_gone(error) {
        return 0;
    }
    // Nothing is left to be done when even the complaint cannot be written; the code still tells.
    let _ = host.complain(&format.failure(error, hints));
    error.kind().code()
}

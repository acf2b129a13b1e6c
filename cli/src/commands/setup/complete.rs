//! `complete -- "merge dev in"`: what a completion script asks.

use std::cell::RefCell;
use std::rc::Rc;

use clap::{Args as _, CommandFactory, FromArgMatches};

use crate::args::{Cli, Global, phrase};
use crate::commands::Session;
use crate::complete::known::Server;
use crate::complete::{Known, Offer, cut, of_command_line};
use crate::error::Error;
use crate::host::Host;
use crate::settings;

/// The exit code that says: a file is meant, which the shell completes itself.
const FILE_WANTED: u8 = 10;

/// Words and options; the command's help stands in [`crate::args::Command`].
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command line up to the cursor, behind the word `lochan`
    #[arg(value_name = "LINE", allow_hyphen_values = true)]
    pub line: String,
}

/// Prints what the last word may become, one a line. Whatever is wrong: a completion offers nothing and says nothing.
pub fn run(args: &Args, host: &mut Host) -> Result<u8, Error> {
    let (before, prefix) = cut(&args.line);
    let (options, rest) = options_apart(&before);
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let offer = match server(&options, host) {
        Some(server) => of_command_line(&rest, prefix, &server),
        None => of_command_line(&rest, prefix, &Nobody),
    };
    match offer {
        Offer::File => Ok(FILE_WANTED),
        Offer::Words(words) => {
            host.write(words.iter().map(|word| format!("{word}\n")).collect::<String>().as_bytes())?;
            Ok(0)
        }
    }
}

/// The options of every command, as `--name=value`, and the other words. One whose value is still to come stays the last of these.
fn options_apart(before: &[&str]) -> (Vec<String>, Vec<String>) {
    let command = Cli::command();
    let argv = std::iter::once("lochan").chain(before.iter().copied()).map(Into::into).collect();
    let words = phrase::globals_first(&command, argv).into_iter().skip(1);
    let mut words = words.filter_map(|word| word.into_string().ok()).peekable();
    let (mut options, mut waiting) = (Vec::new(), None);
    while let Some(word) = words.next_if(|word| word.starts_with("--")) {
        let lacks_value = command
            .get_arguments()
            .any(|arg| arg.get_action().takes_values() && arg.get_long() == word.strip_prefix("--"));
        if lacks_value { waiting = Some(word) } else { options.push(word) }
    }
    (options, words.chain(waiting).collect())
}

/// The server that the options, the environment and the settings name.
fn server(options: &[String], host: &mut Host) -> Option<Server> {
    let words = std::iter::once("lochan").chain(options.iter().map(String::as_str));
    let matches = Global::augment_args(clap::Command::new("lochan")).try_get_matches_from(words).ok()?;
    let settings = settings::load(&Global::from_arg_matches(&matches).ok()?, host).ok()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let session = Session::new(settings, host).ok()?;
    Some(Server::new(Rc::new(RefCell::new(session)), Rc::new(runtime)))
}

/// Where no server can be asked.
struct Nobody;

impl Known for Nobody {
    fn references(&self) -> Vec<String> {
        Vec::new()
    }

    fn keys(&self, _: &str) -> Vec<String> {
        Vec::new()
    }
}

//! The commands: a folder per noun, a file per verb. Each has its `Args`, whose comments are the help, and a `run`
//! that makes the calls and returns a report.

pub mod cel;
pub mod commit;
pub mod content;
pub mod merge;
pub mod reference;
pub mod setup;
pub mod state;

use std::cell::RefCell;
use std::io::Read;

use lochan_api_spec::nessie::model::ReferenceKind;
use lochan_api_spec::syntax::RefSpec;
use lochan_api_spec::syntax::reference::DEFAULT_BRANCH_ALIAS;

use crate::args::{Command, point};
use crate::client::Client;
use crate::error::Error;
use crate::host::Host;
use crate::output::Report;
use crate::settings::Settings;

/// What a command needs besides its arguments.
pub struct Session {
    /// The server.
    pub client: Client,
    /// The settings in force.
    pub settings: Settings,
    /// Standard input, for those that read it.
    pub stdin: RefCell<Box<dyn Read>>,
}

impl Session {
    /// A session with the server of the settings; takes the host's standard input.
    pub fn new(settings: Settings, host: &mut Host) -> Result<Self, Error> {
        let stdin = std::mem::replace(&mut host.stdin, Box::new(std::io::empty()));
        Ok(Self { client: Client::new(&settings)?, settings, stdin: RefCell::new(stdin) })
    }
}

/// How a command ended: with a report, and perhaps with a verdict that makes the exit code one of failure.
pub struct Done {
    /// What to show.
    pub report: Box<dyn Report>,
    /// What was wrong nevertheless.
    pub verdict: Option<Error>,
}

impl<R: Report + 'static> From<R> for Done {
    fn from(report: R) -> Self {
        Self { report: Box::new(report), verdict: None }
    }
}

/// Runs a command that talks to a server.
pub async fn run(command: Command, session: &Session) -> Result<Done, Error> {
    match command {
        Command::Branch(verb) => reference::run(ReferenceKind::Branch, verb, session).await,
        Command::Tag(verb) => reference::run(ReferenceKind::Tag, verb, session).await,
        Command::Log(args) => commit::log::run(&args, session).await,
        Command::Diff(args) => state::diff::run(&args, session).await,
        Command::Show(args) => state::show::run(&args, session).await,
        Command::Content(verb) => content::run(verb, session).await,
        Command::Merge(args) => merge::merge_into::run(&args, session).await,
        Command::CherryPick(args) => merge::cherry_pick::run(&args, session).await,
        Command::Reset(args) => reference::reset::run(&args, session).await,
        Command::Config => Ok(setup::config::run(session)),
        Command::Remote(verb) => setup::remote::run(verb, session).await,
        Command::Completions(_) | Command::Man(_) | Command::ExitCodes => {
            Err(Error::Usage("this command takes no server".to_owned()))
        }
    }
}

/// A point given as an argument, or the default branch.
fn point_or_default(text: Option<&str>) -> Result<RefSpec, Error> {
    match text {
        None => Ok(RefSpec::named(DEFAULT_BRANCH_ALIAS)),
        Some(text) => {
            point::parse(text).map_err(|error| Error::Usage(format!("'{text}' is no point: {error}")))
        }
    }
}

/// `branch` or `tag`.
fn kind_word(kind: ReferenceKind) -> &'static str {
    match kind {
        ReferenceKind::Branch => "branch",
        ReferenceKind::Tag => "tag",
        ReferenceKind::Detached => "commit",
    }
}

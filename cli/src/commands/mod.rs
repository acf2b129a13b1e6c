//! The commands: a folder per noun, a file per verb. Each has its `Args`, whose comments are the help, and a `run`
//! that makes the calls and returns a report.

pub mod cel;
pub mod commit;
pub mod content;
pub mod merge;
pub mod reference;
pub mod repository;
pub mod setup;
pub mod state;

use std::cell::RefCell;
use std::io::{Read, Write};
use std::rc::Rc;

use lochan_api_spec::nessie::model::ReferenceKind;
use lochan_api_spec::syntax::reference::DEFAULT_BRANCH_ALIAS;
use lochan_api_spec::syntax::{Instant, RefSpec};

use self::content::Typed;
use crate::args::time::When;
use crate::args::{Command, point, target};
use crate::client::{Client, Resolved};
use crate::error::Error;
use crate::host::{Host, Zone};
use crate::output::Report;
use crate::settings::Settings;

/// What a command needs besides its arguments.
pub struct Session {
    /// The server.
    pub client: Client,
    /// The settings in force.
    pub settings: Settings,
    /// What is meant where no point is named: the default branch, or what `USE` chose.
    pub here: RefSpec,
    /// Standard input, for those that read it.
    pub stdin: RefCell<Box<dyn Read>>,
    /// Standard output, for what is no report.
    pub stdout: Rc<RefCell<Box<dyn Write>>>,
    /// The editor that a person can be handed a text in; none where nobody is there.
    pub editor: Option<String>,
    /// What was typed there and is not committed yet.
    pub typed: Typed,
    /// The time from which times are counted back.
    pub now: Instant,
    /// The zone of times without one.
    zone: Zone,
}

impl Session {
    /// A session with the server of the settings; takes the host's standard input.
    pub fn new(settings: Settings, host: &mut Host) -> Result<Self, Error> {
        let stdin = std::mem::replace(&mut host.stdin, Box::new(std::io::empty()));
        let editor = ["VISUAL", "EDITOR"].into_iter().find_map(|name| host.var(name)).unwrap_or("vi");
        Ok(Self {
            client: Client::new(&settings)?,
            here: RefSpec::named(settings.default_branch.as_deref().unwrap_or(DEFAULT_BRANCH_ALIAS)),
            stdin: RefCell::new(stdin),
            stdout: Rc::clone(&host.stdout),
            editor: host.interactive.then(|| editor.to_owned()),
            typed: Typed::default(),
            now: host.now,
            zone: host.zone,
            settings,
        })
    }

    /// The moment of a time that was typed.
    pub fn time(&self, when: When) -> Instant {
        when.at(self.now, self.zone)
    }

    /// A point given as an argument, or where we are.
    pub fn point(&self, text: Option<&str>) -> Result<RefSpec, Error> {
        text.map_or_else(|| Ok(self.here.clone()), parse_point)
    }

    /// The commit that a branch's head must be: one given as an argument, or the head that was read. Steps alone go back from
    /// that head; another reference is what its name says.
    pub async fn expected(&self, text: Option<&str>, head: &Resolved) -> Result<String, Error> {
        let Some(text) = text else { return Ok(head.hash.clone()) };
        let at = match parse_point(text)? {
            steps @ RefSpec { name: None, hash: None, .. } => RefSpec { name: head.name.clone(), ..steps },
            RefSpec { name: None, hash: Some(digits), parts }
                if parts.is_empty() && head.hash.starts_with(&digits) =>
            {
                return Ok(head.hash.clone());
            }
            other => other,
        };
        Ok(self.client.resolve(&at).await?.hash)
    }

    /// The branch to change: one given as an argument, or the one where we are.
    pub fn branch(&self, name: Option<&str>) -> Result<String, Error> {
        match (name, &self.here.name) {
            (Some(name), _) => target::branch_name(name),
            (None, Some(name)) if !self.here.has_hash() => Ok(name.clone()),
            _ => Err(Error::Usage("a commit cannot be changed; name a branch".to_owned())),
        }
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
        Command::Rebase(args) => merge::rebase::run(&args, session).await,
        Command::Reflog(args) => repository::reflog::run(&args, session).await,
        Command::Undo(args) => repository::undo::run(&args, session).await,
        Command::Export(args) => repository::export::run(&args, session).await,
        Command::Import(args) => repository::import::run(&args, session).await,
        Command::Reset(args) => reference::reset::run(&args, session).await,
        Command::Revert(args) => content::revert::run(&args, session).await,
        Command::Config(args) => setup::config::run(&args, session),
        Command::Remote(verb) => setup::remote::run(verb, session).await,
        Command::Sh(_) => Err(crate::shell::inside()),
        Command::Completions(_) | Command::Complete(_) | Command::Man(_) | Command::ExitCodes => {
            Err(Error::Usage("this command takes no server".to_owned()))
        }
    }
}

/// A point given as an argument.
fn parse_point(text: &str) -> Result<RefSpec, Error> {
    point::parse(text).map_err(|error| Error::Usage(format!("'{text}' is no point: {error}")))
}

/// `branch` or `tag`.
pub fn kind_word(kind: ReferenceKind) -> &'static str {
    match kind {
        ReferenceKind::Branch => "branch",
        ReferenceKind::Tag => "tag",
        ReferenceKind::Detached => "commit",
    }
}

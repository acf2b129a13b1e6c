//! `lochan sh`: statements one after the other, typed or from a script, with one connection.
//!
//! A statement is a `lochan` command line without the word `lochan`, or a statement of the Nessie CLI
//! ([`statement`]), which becomes such a command line. [`script`] cuts text into statements and words, [`editor`] asks a
//! person; [`crate::complete`] knows what may come next.

mod connect;
mod editor;
mod give_up;
mod grammar;
mod help;
mod script;
mod statement;

use std::cell::RefCell;
use std::io::Read;
use std::rc::Rc;

use clap::{CommandFactory, FromArgMatches};
use lochan_api_spec::syntax::RefSpec;
use tokio::runtime::Runtime;

use crate::args::{Cli, Colour, Command, Global, phrase};
use crate::commands::{self, Session};
use crate::error::Error;
use crate::host::Host;
use crate::output::{self, Format};
use crate::settings::{self, Secret, Source};
use crate::{conclude, fail};

pub use help::STATEMENTS;

use give_up::Waiting;
use grammar::Cursor;
use script::Statement;
use statement::{Allowed, Meaning};

/// The longest script taken, in bytes.
const SCRIPT_BYTES_MAX: u64 = 16 << 20;

/// Words and options; the command's help stands in [`crate::args::Command`].
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run these statements and end; may be repeated
    #[arg(short = 'c', long = "command", value_name = "STATEMENT")]
    pub commands: Vec<String>,
    /// Run the statements of this file and end; - is standard input
    #[arg(short = 's', long, alias = "file", value_name = "FILE", conflicts_with = "commands")]
    pub run_script: Option<String>,
    /// Go on with the next statement when one fails
    #[arg(short = 'E', long)]
    pub continue_on_error: bool,
    /// Ask for further statements afterwards
    #[arg(short = 'K', long)]
    pub keep_running: bool,
    /// Say nothing but what statements answer
    #[arg(short, long)]
    pub quiet: bool,
    /// Begin on this branch or tag
    #[arg(short = 'r', long, value_name = "POINT")]
    pub initial_reference: Option<String>,
    /// Neither read nor write the history
    #[arg(short = 'H', long)]
    pub no_history: bool,
    /// Where the history is kept (usually ~/.local/state/lochan/history)
    #[arg(short = 'j', long, value_name = "FILE")]
    pub history_file: Option<std::path::PathBuf>,
    /// The server, as --endpoint says it
    #[arg(short = 'u', value_name = "URL")]
    pub uri: Option<String>,
    /// How to say who we are, as properties of Nessie's clients: authentication.type=BEARER,…
    #[arg(short = 'o', long, value_name = "KEY=VALUE", value_delimiter = ',', value_parser = property)]
    pub client_option: Vec<(String, Secret)>,
    /// No colours
    #[arg(short = 'P', long, alias = "non-ansi")]
    pub plain: bool,
    /// Has no meaning here: taken because the Nessie CLI has it.
    #[arg(long, hide = true)]
    pub client_name: Option<String>,
    /// As above.
    #[arg(short = 'S', long, hide = true)]
    pub stdout: bool,
    /// As above.
    #[arg(long, hide = true)]
    pub no_up_to_date_check: bool,
}

fn property(text: &str) -> Result<(String, Secret), String> {
    let (name, value) = text.split_once('=').ok_or("a property is written KEY=VALUE")?;
    Ok((name.trim().to_owned(), Secret::new(value)))
}

/// What becomes of the shell behind a statement.
enum Next {
    /// It goes on; the code is the statement's.
    On(u8),
    /// It ends.
    End,
}

/// A running shell.
struct Shell<'a> {
    global: Global,
    host: &'a mut Host,
    runtime: Rc<Runtime>,
    session: Rc<RefCell<Session>>,
    waiting: Waiting,
    /// Whether the statement that ran last says what it has to say as JSON.
    json: bool,
}

/// Runs the shell. The code is that of the first statement that failed; typed statements do not count.
pub fn run(args: &Args, mut global: Global, host: &mut Host) -> Result<u8, Error> {
    if args.uri.is_some() {
        global.endpoint.clone_from(&args.uri);
    }
    if args.plain {
        global.color = Colour::Never;
    }
    let mut settings = settings::load(&global, host)?;
    if !args.client_option.is_empty() {
        let given = args.client_option.iter();
        let given: Vec<_> = given.map(|(name, value)| (name.clone(), value.reveal().to_owned())).collect();
        settings.credentials = connect::credentials(&given)?;
        settings.credentials_source = Source::Flag;
    }
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Output)?;
    let mut session = Session::new(settings, host)?;
    if let Some(text) = &args.initial_reference {
        session.here = session.point(Some(text))?;
    }
    let script = match &args.run_script {
        Some(path) if path != "-" => Some(read(path, std::fs::File::open(path))?),
        Some(_) => Some(read("standard input", Ok(session.stdin.get_mut()))?),
        None if args.commands.is_empty() && !host.interactive => {
            Some(read("standard input", Ok(session.stdin.get_mut()))?)
        }
        None => None,
    };
    let typed = host.interactive && (args.keep_running || (script.is_none() && args.commands.is_empty()));
    let mut shell = Shell {
        json: global.json,
        global,
        host,
        runtime: Rc::new(runtime),
        session: Rc::new(RefCell::new(session)),
        waiting: Waiting::Script,
    };
    let mut sources: Vec<(Option<&str>, &str)> =
        args.commands.iter().map(|text| (None, text.as_str())).collect();
    sources.extend(
        script.iter().map(|text| (args.run_script.as_deref().or(Some("standard input")), text.as_str())),
    );
    let mut first_failure = 0;
    for (name, source) in sources {
        let statements = script::split(source).map_err(|error| Error::Usage(error.to_string()))?;
        for Statement { text, line } in statements {
            match shell.execute(&text)? {
                Next::End => return Ok(first_failure),
                Next::On(0) => {}
                Next::On(code) => {
                    if first_failure == 0 {
                        first_failure = code;
                    }
                    if !args.continue_on_error {
                        if let Some(name) = name.filter(|_| !args.quiet && !shell.json) {
                            // The code tells, too.
                            let _ = shell.host.complain(&format!("stopped at line {line} of {name}\n"));
                        }
                        return Ok(code);
                    }
                }
            }
        }
    }
    if typed {
        shell.waiting = Waiting::Person;
        editor::run(args, &mut shell)?;
    }
    Ok(first_failure)
}

fn read<R: Read>(name: &str, source: std::io::Result<R>) -> Result<String, Error> {
    let failed = |reason: String| Error::File { path: name.to_owned(), reason };
    let mut text = String::new();
    let source = source.map_err(|error| failed(error.to_string()))?;
    source.take(SCRIPT_BYTES_MAX + 1).read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    if u64::try_from(text.len()).is_ok_and(|length| length > SCRIPT_BYTES_MAX) {
        return Err(failed(format!("it is longer than {SCRIPT_BYTES_MAX} bytes")));
    }
    Ok(text)
}

impl Shell<'_> {
    /// Runs one statement. `Err` ends the shell: nothing can be shown any more.
    fn execute(&mut self, text: &str) -> Result<Next, Error> {
        if self.host.interactive {
            self.host.now = crate::host::now();
            self.session.borrow_mut().now = self.host.now;
        }
        self.json = self.global.json;
        let mut words = script::words(text);
        // As hints and people's habits have it.
        if words.len() > 1 && words.first().is_some_and(|word| word.text == "lochan") {
            words.remove(0);
        }
        let here = self.session.borrow().here.name.clone().unwrap_or_else(|| "-".to_owned());
        let meaning = statement::parse(Cursor::new(&words, &here));
        let verb = words.first().map(|word| word.text.as_str()).unwrap_or_default();
        let own = Cli::command().find_subcommand(verb).is_some();
        let shouted = !verb.is_empty() && verb.chars().all(|c| c.is_ascii_uppercase());
        match meaning {
            Ok(Meaning::Command { argv, allowed }) => self.command(argv, allowed),
            Ok(Meaning::Exit) => Ok(Next::End),
            Ok(Meaning::Help(topic)) => self.help(topic.as_deref()),
            Ok(Meaning::Use(point, kind)) => {
                let moved = connect::stand(point, kind, &self.session.borrow(), self.by());
                self.moved(moved)
            }
            Ok(Meaning::Connect { uri, on, using }) => self.connect(&uri, on, &using),
            // Words of both kinds of verbs (`show`, `merge`) that are no statement may be a command line.
            Err(trouble) if shouted || !own && help::is_statement(verb) => {
                let error = match help::usages(verb) {
                    usage if usage.is_empty() && !verb.is_empty() => Error::Statement {
                        message: format!("'{verb}' begins no statement"),
                        usage: help::near(verb),
                    },
                    usage => Error::Statement { message: trouble.to_string(), usage },
                };
                self.failed(&error)
            }
            Err(_) => self.command(words.into_iter().map(|word| word.text).collect(), Allowed::Nothing),
        }
    }

    /// Who runs calls, and for whom.
    fn by(&self) -> (&Runtime, Waiting) {
        (&self.runtime, self.waiting)
    }

    fn command(&mut self, words: Vec<String>, allowed: Allowed) -> Result<Next, Error> {
        let parser = Cli::command();
        let argv = std::iter::once("lochan".to_owned()).chain(words).map(Into::into).collect();
        let argv = phrase::normalise(&parser, argv);
        self.json |= phrase::asks_for_json(&argv);
        let cli = parser.try_get_matches_from(argv).and_then(|matches| Cli::from_arg_matches(&matches));
        let cli = match cli {
            Ok(cli) => cli,
            Err(error) => return Ok(Next::On(output::usage::tell(self.host, &error, self.json)?)),
        };
        let inner = &cli.global;
        if inner.endpoint.is_some()
            || inner.token.is_some()
            || inner.token_file.is_some()
            || inner.config.is_some()
        {
            let message = "the shell has its server already; say CONNECT TO … for another";
            return self.failed(&Error::Usage(message.to_owned()));
        }
        let look = Global {
            json: self.json,
            full: self.global.full || inner.full,
            no_pager: self.global.no_pager || inner.no_pager,
            ..Global::default()
        };
        let format = output::format(&look, self.host);
        let paging = !look.no_pager && !look.json;
        let local = match &cli.command {
            Command::Completions(args) => Some(commands::setup::completions::run(args, self.host)?),
            Command::Man(args) => Some(commands::setup::man::run(args, self.host, format.as_ref())?),
            Command::ExitCodes => Some(commands::setup::exit_codes::run(self.host, format.as_ref())?),
            _ => None,
        };
        if let Some(code) = local {
            return Ok(Next::On(code));
        }
        let session = self.session.borrow();
        let done = self.waiting.run(&self.runtime, &session, commands::run(cli.command, &session));
        if let Err(error) = &done
            && connect::is_allowed(error, allowed)
        {
            return Ok(Next::On(0));
        }
        let hints = |error: &Error| self.runtime.block_on(crate::hints::for_error(error, &session));
        Ok(Next::On(conclude(self.host, format.as_ref(), paging, done, hints)?))
    }

    /// Goes on with another server. The old one is left only when the new one answers.
    fn connect(&mut self, uri: &str, on: Option<RefSpec>, using: &[(String, String)]) -> Result<Next, Error> {
        let made = connect::session(uri, using, &self.session.borrow(), self.host);
        let mut session = match made {
            Ok(session) => session,
            Err(error) => return self.failed(&error),
        };
        let point = on.unwrap_or_else(|| session.here.clone());
        match connect::stand(point, None, &session, self.by()) {
            Ok(point) => {
                session.here = point;
                session.stdin.swap(&self.session.borrow().stdin);
                self.session.replace(session);
                Ok(Next::On(0))
            }
            // What to do about it depends on where it was to lead.
            Err(error) => self.failed_on(&error, &session),
        }
    }

    fn moved(&mut self, moved: Result<RefSpec, Error>) -> Result<Next, Error> {
        match moved {
            Ok(point) => {
                self.session.borrow_mut().here = point;
                Ok(Next::On(0))
            }
            Err(error) => self.failed(&error),
        }
    }

    fn help(&mut self, topic: Option<&str>) -> Result<Next, Error> {
        match topic {
            None => self.host.show(help::all(), true)?,
            Some(topic) => match help::of_statement(topic) {
                Some(usage) => self.host.show(format!("{usage}\n"), false)?,
                None => {
                    let words = std::iter::once("help").chain(topic.split(' ')).map(str::to_owned);
                    return self.command(words.collect(), Allowed::Nothing);
                }
            },
        }
        Ok(Next::On(0))
    }

    fn failed(&mut self, error: &Error) -> Result<Next, Error> {
        let session = Rc::clone(&self.session);
        self.failed_on(error, &session.borrow())
    }

    /// Tells an error that came of talking to the server of this session.
    fn failed_on(&mut self, error: &Error, session: &Session) -> Result<Next, Error> {
        let look = Global { json: self.json, full: self.global.full, ..Global::default() };
        let format: Box<dyn Format> = output::format(&look, self.host);
        let hints = self.runtime.block_on(crate::hints::for_error(error, session));
        Ok(Next::On(fail(self.host, format.as_ref(), error, &hints)))
    }
}

/// The error of a shell inside a shell.
pub fn inside() -> Error {
    Error::Usage("a shell is running already".to_owned())
}

#[cfg(test)]
mod tests;

//! Asking a person: a line editor with completion and history.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustyline::completion::{Completer, Pair};
use rustyline::config::{BellStyle, CompletionType, Config};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Editor, Helper};

use super::script::{self, Statement};
use super::{Args, Next, Shell, statement};
use crate::args::point;
use crate::complete::{self, known::Server};
use crate::error::Error;
use crate::host::Host;
use crate::output::page::HASH_DIGITS_SHORT;

/// Statements kept in the history.
const HISTORY_STATEMENTS_MAX: usize = 1000;

/// What the editor is helped by.
struct Help(Rc<Server>);

impl Helper for Help {}
impl Highlighter for Help {}

impl Hinter for Help {
    type Hint = String;
}

impl Completer for Help {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let typed = line.get(..pos).unwrap_or(line);
        let (at, found) = complete::candidates(typed, self.0.as_ref());
        let last = found.len() == 1;
        // The only candidate is done with; a blank leads on.
        let pair = |word: String| Pair {
            replacement: if last { format!("{word} ") } else { word.clone() },
            display: word,
        };
        Ok((at, found.into_iter().map(pair).collect()))
    }
}

impl Validator for Help {
    fn validate(&self, ctx: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let input = ctx.input();
        // An empty line ends what nobody knows how to go on with.
        let goes_on = !input.ends_with('\n') && !input.trim_end().ends_with(';');
        Ok(match script::split(input) {
            Ok(statements)
                if goes_on && statements.last().is_some_and(|last| statement::is_open(&last.text)) =>
            {
                ValidationResult::Incomplete
            }
            Ok(_) => ValidationResult::Valid(None),
            Err(_) => ValidationResult::Incomplete,
        })
    }
}

/// Asks until the person has enough.
pub(super) fn run(args: &Args, shell: &mut Shell<'_>) -> Result<(), Error> {
    let failed = |error: ReadlineError| Error::Output(std::io::Error::other(error));
    let config = Config::builder()
        .max_history_size(HISTORY_STATEMENTS_MAX)
        .and_then(|builder| builder.history_ignore_dups(true))
        .map_err(failed)?
        .history_ignore_space(true)
        .completion_type(CompletionType::List)
        .bell_style(BellStyle::None)
        .build();
    let server = Rc::new(Server::new(Rc::clone(&shell.session), Rc::clone(&shell.runtime)));
    let mut editor: Editor<Help, FileHistory> = Editor::with_config(config).map_err(failed)?;
    editor.set_helper(Some(Help(Rc::clone(&server))));
    let history = if args.no_history { None } else { history(args, shell.host) };
    if let Some(path) = &history {
        // A history that cannot be read is an empty one.
        let _ = editor.load_history(path);
    }
    if !args.quiet {
        greet(shell)?;
    }
    loop {
        match editor.readline(&prompt(shell)) {
            Ok(line) => {
                remember(&mut editor, history.as_deref(), &line);
                if !statements(&line, shell)? {
                    return Ok(());
                }
                server.forget();
            }
            // Ctrl-C gives up the line.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(failed(error)),
        }
    }
}

/// Runs what was typed; false at the end.
fn statements(line: &str, shell: &mut Shell<'_>) -> Result<bool, Error> {
    // The validator lets nothing unfinished through.
    for Statement { text, .. } in script::split(line).unwrap_or_default() {
        match shell.execute(&text)? {
            Next::End => return Ok(false),
            Next::On(0) => {}
            Next::On(_) => break,
        }
    }
    Ok(true)
}

fn greet(shell: &mut Shell<'_>) -> Result<(), Error> {
    let endpoint = shell.session.borrow().settings.endpoint.clone();
    let text = format!(
        "Lochan {} at {endpoint}\n`help` lists what can be said, Tab completes.\n",
        env!("CARGO_PKG_VERSION")
    );
    shell.host.show(text, false)?;
    let here = shell.session.borrow().here.clone();
    let found = super::connect::stand(here, None, &shell.session.borrow(), shell.by());
    match found {
        Ok(point) => shell.session.borrow_mut().here = point,
        Err(error) => {
            shell.failed(&error)?;
        }
    }
    Ok(())
}

fn prompt(shell: &Shell<'_>) -> String {
    let session = shell.session.borrow();
    match point::show(&session.here, HASH_DIGITS_SHORT) {
        default if default == "-" => "lochan> ".to_owned(),
        here => format!("lochan {here}> "),
    }
}

/// Appends to the history, unless the line may hold a secret.
fn remember(editor: &mut Editor<Help, FileHistory>, path: Option<&Path>, line: &str) {
    let lower = line.to_ascii_lowercase();
    if line.trim().is_empty() || ["token", "secret", "password"].iter().any(|word| lower.contains(word)) {
        return;
    }
    // Without a history one can work just as well.
    let _ = editor.add_history_entry(line.trim_end());
    if let Some(path) = path {
        let _ = editor.append_history(path);
    }
}

fn history(args: &Args, host: &Host) -> Option<PathBuf> {
    let path = args.history_file.clone().or_else(|| {
        let folder = match host.var("XDG_STATE_HOME") {
            Some(folder) => PathBuf::from(folder),
            None => Path::new(host.var("HOME")?).join(".local").join("state"),
        };
        Some(folder.join("lochan").join("history"))
    })?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).ok()?;
    }
    Some(path)
}

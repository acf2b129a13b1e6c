//! What the program touches besides the network: environment, clock, standard streams.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Read, Write};
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use lochan_api_spec::syntax::Instant;

use crate::args::Colour;

/// Columns of a terminal that does not say how many it has.
pub const COLUMNS_DEFAULT: usize = 80;

/// Columns below which nothing is cut any shorter.
const COLUMNS_MIN: usize = 40;

/// The time zone in which people read times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// The machine's.
    Local,
    /// UTC.
    Utc,
}

/// The terminal behind standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Columns of a line.
    pub columns: usize,
    /// Lines.
    pub lines: usize,
}

/// The surroundings of one run. [`Host::of_process`] is the real one; tests make their own.
pub struct Host {
    /// Environment variables.
    pub vars: BTreeMap<String, String>,
    /// The time of the run: relative times count back from it.
    pub now: Instant,
    /// The zone of absolute times.
    pub zone: Zone,
    /// Standard input.
    pub stdin: Box<dyn Read>,
    /// Standard output.
    pub stdout: Rc<RefCell<Box<dyn Write>>>,
    /// Standard error.
    pub stderr: Box<dyn Write>,
    /// The terminal behind standard output, so that a pager makes sense.
    pub screen: Option<Screen>,
    /// Whether a person can be asked: standard input and output are a terminal of this process.
    pub interactive: bool,
    /// Whether standard output takes colours.
    pub stdout_colour: bool,
    /// Whether standard error takes colours.
    pub stderr_colour: bool,
}

impl Host {
    /// The surroundings of this process.
    pub fn of_process() -> Self {
        let takes_colour = |choice| !matches!(choice, anstream::ColorChoice::Never);
        let size = || {
            let (width, height) = terminal_size::terminal_size()?;
            Some(Screen { columns: usize::from(width.0).max(COLUMNS_MIN), lines: usize::from(height.0) })
        };
        // A terminal that does not know its size (width 0) is one of 80 columns, and too low for any text.
        let screen = io::stdout()
            .is_terminal()
            .then(|| size().unwrap_or(Screen { columns: COLUMNS_DEFAULT, lines: 1 }));
        Self {
            vars: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
            now: now(),
            zone: Zone::Local,
            stdin: Box::new(io::stdin()),
            stdout: Rc::new(RefCell::new(Box::new(io::stdout()))),
            stderr: Box::new(io::stderr()),
            screen,
            interactive: screen.is_some() && io::stdin().is_terminal(),
            stdout_colour: takes_colour(anstream::AutoStream::choice(&io::stdout())),
            stderr_colour: takes_colour(anstream::AutoStream::choice(&io::stderr())),
        }
    }

    /// A variable that is set and not empty.
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Columns of a line; without a terminal nothing is cut or broken.
    pub fn columns(&self) -> usize {
        self.screen.map_or(usize::MAX, |screen| screen.columns)
    }

    /// Applies `--color`.
    pub fn choose_colour(&mut self, colour: Colour) {
        match colour {
            Colour::Auto => {}
            Colour::Always => (self.stdout_colour, self.stderr_colour) = (true, true),
            Colour::Never => (self.stdout_colour, self.stderr_colour) = (false, false),
        }
    }

    /// Writes text with colours to standard output; through a pager when `paging` and a terminal reads it.
    pub fn show(&mut self, text: String, paging: bool) -> io::Result<()> {
        let text = if self.stdout_colour { text } else { anstream::adapter::strip_str(&text).to_string() };
        if paging && self.screen.is_some_and(|screen| !fits(&text, screen)) && self.page(&text)? {
            return Ok(());
        }
        self.write(text.as_bytes())
    }

    /// Writes bytes to standard output.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut stdout = self.stdout.borrow_mut();
        stdout.write_all(bytes)?;
        stdout.flush()
    }

    /// Writes text with colours to standard error.
    pub fn complain(&mut self, text: &str) -> io::Result<()> {
        if self.stderr_colour {
            self.stderr.write_all(text.as_bytes())?;
        } else {
            write!(self.stderr, "{}", anstream::adapter::strip_str(text))?;
        }
        self.stderr.flush()
    }

    /// Shows text in the pager; false when there is none that starts. `PAGER=` (empty) and `PAGER=cat` are none.
    fn page(&self, text: &str) -> io::Result<bool> {
        let pager = ["LOCHAN_PAGER", "PAGER"].into_iter().find_map(|name| self.vars.get(name));
        let pager = pager.map_or("less", String::as_str);
        let mut words = pager.split_whitespace();
        let Some(program) = words.next().filter(|program| *program != "cat") else { return Ok(false) };
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped());
        if self.var("LESS").is_none() {
            // Ends by itself on one screen, lets colours through, leaves the text on the screen.
            command.env("LESS", "FRX");
        }
        let Ok(mut child) = command.spawn() else { return Ok(false) };
        if let Some(mut stdin) = child.stdin.take() {
            match stdin.write_all(text.as_bytes()) {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
                _ => {}
            }
        }
        child.wait()?;
        Ok(true)
    }
}

/// The system's time.
pub fn now() -> Instant {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Instant::from_micros(i64::try_from(since_epoch.as_micros()).unwrap_or(i64::MAX))
}

/// Whether a text stands on one screen, the prompt's line included. Long lines count as often as they are broken.
fn fits(text: &str, screen: Screen) -> bool {
    let rows = |line: &str| {
        let plain = anstream::adapter::strip_str(line).to_string();
        unicode_width::UnicodeWidthStr::width(plain.as_str()).div_ceil(screen.columns.max(1)).max(1)
    };
    let mut rows_taken = 0;
    text.lines().all(|line| {
        rows_taken += rows(line);
        rows_taken < screen.lines
    })
}

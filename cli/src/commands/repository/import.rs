//! `import FILE`, `import --list`, `import --drop NAME`

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::NonEmptyStringValueParser;
use lochan_api_spec::ext::import_repository::{Existing, Query};
use lochan_api_spec::ext::model::{ErrorCode, ImportState, ImportStatus};
use lochan_api_spec::ext::stream::{Event, Reader};
use lochan_api_spec::ext::{DropImport, GetImport, ListImportedCommits, ListImports, page};
use serde_json::Value;

use super::export::{PAUSE_S, TRIES_MAX, may_pass};
use super::reflog::type_word;
use super::sink::{STANDARD, next_line};
use crate::client::{self, Code};
use crate::commands::{Done, Session};
use crate::error::{Error, count};
use crate::output::Report;
use crate::output::page::{Page, style};

/// How much is sent with one request, in bytes; a part that is larger goes alone.
const PIECE_BYTES_WANTED: usize = 8 << 20;

/// Digits of the stream's own checksum that name an import.
const ID_DIGITS: usize = 16;

/// The longest name of an import.
const ID_CHARS_MAX: usize = 64;

/// References listed for people.
const REFERENCES_SHOWN_MAX: usize = 50;

/// Words and options; the command's help stands in [`crate::args::Command`].
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The stream that an export wrote; - is standard input
    #[arg(value_name = "FILE", required_unless_present_any = ["list", "drop"])]
    pub file: Option<String>,
    /// Put this before the name of every reference, such as imported/
    #[arg(long, value_name = "TEXT")]
    pub prefix: Option<String>,
    /// What happens to references that exist
    #[arg(long, value_name = "WHAT", value_enum)]
    pub existing: Option<Policy>,
    /// The import's own name (without it: made of the stream's checksum, --existing and --prefix)
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub id: Option<String>,
    /// Write old and new hashes of commits into this file, two columns
    #[arg(long, value_name = "FILE")]
    pub table: Option<String>,
    /// Take nothing in: list the imports that there are, done or not
    #[arg(long, conflicts_with_all = ["file", "prefix", "existing", "id", "table", "drop"])]
    pub list: bool,
    /// Take nothing in: give up this import, which is not done, so that its name is free
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new(),
        conflicts_with_all = ["file", "prefix", "existing", "id", "table"])]
    pub drop: Option<String>,
}

/// What happens to references that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Policy {
    /// The import fails
    Refuse,
    /// They stay as they are
    Keep,
    /// They are set to the imported commit
    Move,
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    if args.list {
        return Ok(Listed(list(session).await?).into());
    }
    if let Some(id) = &args.drop {
        return Ok(Dropped(session.client.ask::<DropImport>(DropImport::path(id), &()).await?).into());
    }
    let (name, source): (&str, Box<dyn Read>) = match args.file.as_deref().unwrap_or(STANDARD) {
        STANDARD => ("standard input", session.stdin.replace(Box::new(std::io::empty()))),
        path => {
            let failed =
                |error: std::io::Error| Error::File { path: path.to_owned(), reason: error.to_string() };
            (path, Box::new(File::open(path).map_err(failed)?))
        }
    };
    let sender = Sender { args, session, name, id: args.id.clone(), taken: 0, done: false, state: None };
    let (state, already) = sender.send(&mut BufReader::new(source)).await?;
    let rows = match &args.table {
        Some(path) => Some((path.clone(), table(path, &state.id, session).await?)),
        None => None,
    };
    Ok(Imported { state, already, rows }.into())
}

/// An import under way.
struct Sender<'a> {
    args: &'a Args,
    session: &'a Session,
    /// What the stream is called in errors.
    name: &'a str,
    id: Option<String>,
    /// Parts that the server has taken.
    taken: u64,
    /// Whether it has taken them all: the stream is only checked.
    done: bool,
    state: Option<ImportState>,
}

impl Sender<'_> {
    /// Checks the stream while sending it piece by piece. Parts taken earlier are checked and left out. The import's state,
    /// and whether it was done before.
    async fn send(mut self, source: &mut impl BufRead) -> Result<(ImportState, bool), Error> {
        let name = self.name.to_owned();
        let wrong = |reason: String| Error::Stream { name: name.clone(), reason };
        let mut reader = Reader::begin();
        let (mut piece, mut part) = (Vec::new(), Vec::new());
        loop {
            let line = next_line(source).map_err(|error| wrong(error.to_string()))?;
            let line =
                line.ok_or_else(|| wrong("it ends too early; `export --resume` goes on with it".to_owned()))?;
            let event = reader.line(&line).map_err(|error| wrong(error.to_string()))?;
            part.extend_from_slice(&line);
            part.push(b'\n');
            match event {
                Event::Header(_) => {
                    let checksum = reader.progress().map(|progress| progress.checksum.to_string());
                    let checksum = checksum.unwrap_or_default();
                    let id = self.id.get_or_insert_with(|| own_id(&checksum, self.args)).clone();
                    if let Some(state) = self.known(&id).await? {
                        self.must_fit(&state)?;
                        self.taken = state.next_part.saturating_sub(1);
                        self.done = state.status == ImportStatus::Done;
                        self.state = Some(state);
                    }
                    // The header goes before whatever part comes first.
                    piece.append(&mut part);
                }
                Event::PartEnds(end) => {
                    if end.number > self.taken && !self.done {
                        piece.append(&mut part);
                    }
                    part.clear();
                    if piece.len() >= PIECE_BYTES_WANTED {
                        self.post(std::mem::take(&mut piece)).await?;
                    }
                }
                Event::End(_) => {
                    if next_line(source).map_err(|error| wrong(error.to_string()))?.is_some() {
                        return Err(wrong("more follows its last line".to_owned()));
                    }
                    if !self.done {
                        piece.append(&mut part);
                        self.post(piece).await?;
                    }
                    let state = self.state.ok_or_else(|| wrong("it holds nothing".to_owned()))?;
                    let checksum = reader.progress().map(|progress| progress.checksum.to_string());
                    if self.done && state.checksum.is_some() && state.checksum != checksum {
                        return Err(Error::Usage(format!(
                            "another stream was taken in as '{}'; --id NAME takes this one in anew",
                            state.id
                        )));
                    }
                    return Ok((state, self.done));
                }
                _ => {}
            }
        }
    }

    /// Sees to it that an import begun before was not begun with other options; they need not be repeated.
    fn must_fit(&self, state: &ImportState) -> Result<(), Error> {
        let prefix = self.args.prefix.as_deref().unwrap_or(&state.prefix);
        let existing = self.existing().map_or(state.existing.as_str(), |policy| policy.as_str());
        if state.prefix == prefix && state.existing == existing {
            return Ok(());
        }
        let with = |prefix: &str, existing: &str| format!("--prefix '{prefix}' --existing {existing}");
        let what = if state.status == ImportStatus::Done { "was taken in" } else { "was begun" };
        Err(Error::Usage(format!(
            "this stream {what} before with {}, not with {}; --id NAME takes it in anew",
            with(&state.prefix, &state.existing),
            with(prefix, existing)
        )))
    }

    fn existing(&self) -> Option<Existing> {
        self.args.existing.map(|policy| match policy {
            Policy::Refuse => Existing::Refuse,
            Policy::Keep => Existing::Keep,
            Policy::Move => Existing::Move,
        })
    }

    /// Where an import of this name stands; none when nobody has begun it.
    async fn known(&self, id: &str) -> Result<Option<ImportState>, client::Error> {
        let client = &self.session.client;
        match patiently(async || client.ask::<GetImport>(GetImport::path(id), &()).await).await {
            Ok(state) => Ok(Some(state)),
            Err(client::Error::Refused(refusal))
                if refusal.code == Some(Code::Ext(ErrorCode::ImportNotFound)) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Sends a piece, again if need be: parts that arrived are passed over.
    async fn post(&mut self, piece: Vec<u8>) -> Result<(), Error> {
        let query =
            Query { id: self.id.clone(), prefix: self.args.prefix.clone(), existing: self.existing() };
        let mut tries = 0;
        loop {
            let error = match self.session.client.import(&query, piece.clone()).await {
                Ok(state) => {
                    self.state = Some(state);
                    return Ok(());
                }
                Err(error) if may_pass(&error) || is_overtaken(&error) => error,
                Err(error) => return Err(error.into()),
            };
            // What moved the import on was no try in vain, however long the piece is.
            let Ok(moved) = self.has_moved_on().await else { return Err(error.into()) };
            tries = if moved { 0 } else { tries + 1 };
            if tries >= TRIES_MAX || is_overtaken(&error) && !moved {
                return Err(error.into());
            }
            tokio::time::sleep(Duration::from_secs(PAUSE_S)).await;
        }
    }

    /// Whether the server has taken parts that we did not know of: ours, or those of a client before us that was killed,
    /// whose last request is still at work.
    async fn has_moved_on(&mut self) -> Result<bool, client::Error> {
        let Some(id) = self.id.clone() else { return Ok(false) };
        let taken = self.known(&id).await?.map_or(0, |state| state.next_part.saturating_sub(1));
        let moved = taken > self.taken;
        self.taken = taken.max(self.taken);
        Ok(moved)
    }
}

/// Asks again when the server is gone for a moment.
async fn patiently<T>(mut ask: impl AsyncFnMut() -> Result<T, client::Error>) -> Result<T, client::Error> {
    for _ in 1..TRIES_MAX {
        match ask().await {
            Err(error) if may_pass(&error) => tokio::time::sleep(Duration::from_secs(PAUSE_S)).await,
            outcome => return outcome,
        }
    }
    ask().await
}

/// The name of an import that was given none: made of the stream and of what is asked for, so that the same command goes on
/// with it and another one begins anew.
fn own_id(checksum: &str, args: &Args) -> String {
    let mut id = checksum.get(..ID_DIGITS).unwrap_or_default().to_owned();
    if let Some(policy) = args.existing.as_ref().and_then(ValueEnum::to_possible_value) {
        id.push_str(&format!("-{}", policy.get_name()));
    }
    if let Some(prefix) = &args.prefix {
        let legal = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        id.push('-');
        id.extend(prefix.chars().map(legal));
    }
    id.truncate(ID_CHARS_MAX);
    id
}

/// Whether another request has moved the import on, or the stream does not fit it.
fn is_overtaken(error: &client::Error) -> bool {
    let code = error.refusal().and_then(|refusal| refusal.code);
    code == Some(Code::Ext(ErrorCode::ImportConflict))
}

/// Writes old and new hashes; the number of rows.
async fn table(path: &str, id: &str, session: &Session) -> Result<usize, Error> {
    let failed = |error: std::io::Error| Error::File { path: path.to_owned(), reason: error.to_string() };
    let mut file = std::io::BufWriter::new(File::create(path).map_err(failed)?);
    let mut query = page::Query::default();
    let mut rows = 0;
    loop {
        let path = || ListImportedCommits::path(id);
        let page =
            patiently(async || session.client.ask::<ListImportedCommits>(path(), &query).await).await?;
        for row in &page.commits {
            writeln!(file, "{}\t{}", row.old_hash, row.new_hash).map_err(failed)?;
        }
        rows += page.commits.len();
        match page.token.filter(|_| page.has_more) {
            Some(token) => query.page_token = Some(token),
            None => break,
        }
    }
    file.into_inner().map_err(|error| failed(error.into_error()))?.sync_all().map_err(failed)?;
    Ok(rows)
}

/// All imports.
async fn list(session: &Session) -> Result<Vec<ImportState>, client::Error> {
    let mut query = page::Query::default();
    let mut all = Vec::new();
    loop {
        let page = session.client.ask::<ListImports>(ListImports::path(), &query).await?;
        all.extend(page.imports);
        match page.token.filter(|_| page.has_more) {
            Some(token) => query.page_token = Some(token),
            None => return Ok(all),
        }
    }
}

struct Listed(Vec<ImportState>);

impl Report for Listed {
    fn json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(&self.0)
    }

    fn human(&self, page: &mut Page) {
        if self.0.is_empty() {
            page.line("No imports.");
        }
        for state in &self.0 {
            let begun = page.time(state.begun);
            page.line(&format!("{}  {}, begun {begun}", state.id, place(state)));
        }
    }
}

struct Dropped(ImportState);

impl Report for Dropped {
    fn json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(&self.0)
    }

    fn human(&self, page: &mut Page) {
        page.line(&format!("Gave up the import {}: {}", self.0.id, place(&self.0)));
    }
}

/// How far an import has come.
fn place(state: &ImportState) -> String {
    let commits = count(usize::try_from(state.commits).unwrap_or(usize::MAX), "commit", "commits");
    match state.status {
        ImportStatus::Done => format!("done, {commits}"),
        ImportStatus::Open => format!("not done, {commits} so far"),
    }
}

struct Imported {
    state: ImportState,
    /// Whether it was done before this command.
    already: bool,
    rows: Option<(String, usize)>,
}

impl Report for Imported {
    fn json(&self) -> Result<Value, serde_json::Error> {
        let mut document = serde_json::to_value(&self.state)?;
        if let Some(object) = document.as_object_mut() {
            object.insert("already".to_owned(), self.already.into());
        }
        Ok(document)
    }

    fn human(&self, page: &mut Page) {
        let state = &self.state;
        let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let verb = if self.already { "Imported before:" } else { "Imported" };
        page.line(&format!(
            "{verb} {} and {}  {}",
            count(number(state.commits), "commit", "commits"),
            count(state.imported.len(), "reference", "references"),
            page.paint(style::FAINT, &format!("(import {})", state.id))
        ));
        for reference in state.imported.iter().take(REFERENCES_SHOWN_MAX) {
            let (name, head) = (page.name(&reference.name), page.head(Some(&reference.hash)));
            page.line(&format!("  {:6} {name} at {head}", type_word(reference.kind)));
        }
        if state.imported.len() > REFERENCES_SHOWN_MAX {
            page.line(&format!("  … and {} more", state.imported.len() - REFERENCES_SHOWN_MAX));
        }
        if self.already {
            let begun = page.time(state.begun);
            page.line(&format!(
                "That was {begun}; nothing was done now. --id NAME takes the stream in anew."
            ));
        }
        if !state.kept.is_empty() {
            page.line(&format!("Left as they were: {}", state.kept.join(", ")));
        }
        if state.times_raised > 0 {
            let commits = count(number(state.times_raised), "commit", "commits");
            page.line(&format!("{commits} got a later time: it was not after the parent's"));
        }
        if state.hashes_kept {
            page.line("All commits keep their hashes.");
        } else if self.rows.is_none() {
            let text = "Commits have new hashes; --table FILE writes which is which.";
            let text = page.paint(style::FAINT, text);
            page.line(&text);
        }
        if let Some((path, rows)) = &self.rows {
            page.line(&format!("Wrote {} into {path}", count(*rows, "row", "rows")));
        }
    }
}

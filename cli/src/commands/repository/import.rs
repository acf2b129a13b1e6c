//! `import FILE`

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::time::Duration;

use clap::ValueEnum;
use lochan_api_spec::ext::import_repository::{Existing, Query};
use lochan_api_spec::ext::model::{ErrorCode, ImportState, ImportStatus};
use lochan_api_spec::ext::stream::{Event, Reader};
use lochan_api_spec::ext::{GetImport, ListImportedCommits, list_imported_commits};
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

/// References listed for people.
const REFERENCES_SHOWN_MAX: usize = 50;

/// Words and options; the command's help stands in [`crate::args::Command`].
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The stream that an export wrote; - is standard input
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Put this before the name of every reference, such as imported/
    #[arg(long, value_name = "TEXT")]
    pub prefix: Option<String>,
    /// What happens to references that exist
    #[arg(long, value_name = "WHAT", value_enum)]
    pub existing: Option<Policy>,
    /// The import's own name (without it: made of the stream's checksum)
    #[arg(long, value_name = "NAME")]
    pub id: Option<String>,
    /// Write old and new hashes of commits into this file, two columns
    #[arg(long, value_name = "FILE")]
    pub table: Option<String>,
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
    let (name, source): (&str, Box<dyn Read>) = match args.file.as_str() {
        STANDARD => ("standard input", session.stdin.replace(Box::new(std::io::empty()))),
        path => {
            let failed =
                |error: std::io::Error| Error::File { path: path.to_owned(), reason: error.to_string() };
            (path, Box::new(File::open(path).map_err(failed)?))
        }
    };
    let state = Sender { args, session, name, id: args.id.clone(), taken: 0, state: None }
        .send(&mut BufReader::new(source))
        .await?;
    let rows = match &args.table {
        Some(path) => Some((path.clone(), table(path, &state.id, session).await?)),
        None => None,
    };
    Ok(Imported { state, rows }.into())
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
    state: Option<ImportState>,
}

impl Sender<'_> {
    /// Checks the stream while sending it piece by piece. Parts taken earlier are checked and left out.
    async fn send(mut self, source: &mut impl BufRead) -> Result<ImportState, Error> {
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
                    let id = checksum.get(..ID_DIGITS).unwrap_or_default().to_owned();
                    let id = self.id.get_or_insert(id).clone();
                    if let Some(state) = self.known(&id).await? {
                        if state.status == ImportStatus::Done {
                            return Ok(state);
                        }
                        self.taken = state.next_part.saturating_sub(1);
                    }
                    // The header goes before whatever part comes first.
                    piece.append(&mut part);
                }
                Event::PartEnds(end) => {
                    if end.number > self.taken {
                        piece.append(&mut part);
                    }
                    part.clear();
                    if piece.len() >= PIECE_BYTES_WANTED {
                        self.post(std::mem::take(&mut piece)).await?;
                    }
                }
                Event::End(_) => {
                    piece.append(&mut part);
                    self.post(piece).await?;
                    return self.state.ok_or_else(|| wrong("it holds nothing".to_owned()));
                }
                _ => {}
            }
        }
    }

    /// Where an import of this name stands; none when nobody has begun it.
    async fn known(&self, id: &str) -> Result<Option<ImportState>, client::Error> {
        match self.session.client.ask::<GetImport>(GetImport::path(id), &()).await {
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
        let query = Query {
            id: self.id.clone(),
            prefix: self.args.prefix.clone(),
            existing: self.args.existing.map(|policy| match policy {
                Policy::Refuse => Existing::Refuse,
                Policy::Keep => Existing::Keep,
                Policy::Move => Existing::Move,
            }),
        };
        let mut tries = 0;
        loop {
            match self.session.client.import(&query, piece.clone()).await {
                Ok(state) => {
                    self.state = Some(state);
                    return Ok(());
                }
                Err(error) => {
                    tries += 1;
                    let again = may_pass(&error) || is_overtaken(&error) && self.has_moved_on().await?;
                    if tries >= TRIES_MAX || !again {
                        return Err(error.into());
                    }
                    tokio::time::sleep(Duration::from_secs(PAUSE_S)).await;
                }
            }
        }
    }

    /// Whether the server has taken parts that we did not know of: of a client before us that was killed, whose last
    /// request is still at work.
    async fn has_moved_on(&mut self) -> Result<bool, Error> {
        let Some(id) = self.id.clone() else { return Ok(false) };
        let state = match self.known(&id).await {
            // The server is gone: whether it has moved on is seen when it is back.
            Err(error) if may_pass(&error) => return Ok(true),
            state => state?,
        };
        let taken = state.map_or(0, |state| state.next_part.saturating_sub(1));
        let moved = taken > self.taken;
        self.taken = taken.max(self.taken);
        Ok(moved)
    }
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
    let mut query = list_imported_commits::Query::default();
    let mut rows = 0;
    loop {
        let page = session.client.ask::<ListImportedCommits>(ListImportedCommits::path(id), &query).await?;
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

struct Imported {
    state: ImportState,
    rows: Option<(String, usize)>,
}

impl Report for Imported {
    fn json(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(&self.state)
    }

    fn human(&self, page: &mut Page) {
        let state = &self.state;
        let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        page.line(&format!(
            "Imported {} and {}  {}",
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

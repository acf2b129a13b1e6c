//! `export FILE`

use std::rc::Rc;
use std::time::Duration;

use lochan_api_spec::ext::stream::{Event, Header, Progress, Reader, SourceKind};
use lochan_api_spec::ext::{GetInfo, export_repository};
use lochan_api_spec::syntax::Instant;
use serde_json::{Value, json};

use super::from_nessie;
use super::sink::{Begun, STANDARD, Sink};
use crate::client;
use crate::commands::{Done, Session};
use crate::error::{Error, count};
use crate::output::Report;
use crate::output::page::Page;

/// How often in a row a stream may break without a whole part in between.
pub const TRIES_MAX: usize = 5;

/// How long is waited before the next try, in seconds.
pub const PAUSE_S: u64 = 1;

/// Words and options; the command's help stands in [`crate::args::Command`].
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to write; - is standard output
    #[arg(value_name = "FILE")]
    pub file: String,
    /// Go on with a file that an earlier export began
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Replace a file that exists
    #[arg(short, long)]
    pub force: bool,
    /// Also write the changes of references (a Lochan server's)
    #[arg(long)]
    pub ref_log: bool,
}

pub async fn run(args: &Args, session: &Session) -> Result<Done, Error> {
    let (mut sink, begun) = match (args.file.as_str(), args.resume) {
        (STANDARD, true) => {
            return Err(Error::Usage("standard output cannot be gone on with".to_owned()));
        }
        (STANDARD, false) => (Sink::standard(Rc::clone(&session.stdout)), Begun::default()),
        (path, true) => match Sink::resume(path)? {
            (_, Begun { header: Some(header), progress, ended: true, .. }) => {
                let (file, source) = (path.to_owned(), header.source);
                return Ok(Exported { file, source, progress, whole_since: Some(header.taken_at) }.into());
            }
            (sink, begun) => (sink, begun),
        },
        // Made only now that the server has answered, so that no empty file stays behind.
        (path, false) => {
            ask_source(session).await?;
            (Sink::create(path, args.force)?, Begun::default())
        }
    };
    let source = ask_source(session).await?;
    if let Some(header) = &begun.header {
        may_go_on(&args.file, header, source, session).await?;
        sink.cut(&begun)?;
    }
    let progress = match source {
        SourceKind::Lochan => from_lochan(args, begun, &mut sink, session).await?,
        SourceKind::Nessie => from_nessie::export(&mut sink, session).await?,
    };
    sink.finish()?;
    let file = args.file.clone();
    Ok(Exported { file, source, progress: Some(progress), whole_since: None }.into())
}

/// Sees to it that a file is gone on with from the repository that it is of.
async fn may_go_on(path: &str, header: &Header, source: SourceKind, session: &Session) -> Result<(), Error> {
    if [header.source, source].contains(&SourceKind::Nessie) {
        let message = "only an export from a Lochan server can be gone on with; --force begins anew";
        return Err(Error::Usage(message.to_owned()));
    }
    // The first line of an export says what it is of.
    let query = export_repository::Query { max_parts: Some(1), ..Default::default() };
    let first = session.client.export(&query).await?.next().await?;
    let there = match first.map(|line| Reader::begin().line(&line)) {
        Some(Ok(Event::Header(header))) => header.repository,
        _ => None,
    };
    match (&header.repository, there) {
        (Some(here), Some(there)) if *here != there => Err(Error::Usage(format!(
            "{path} is an export of the repository {here}, and this server has {there}; --force replaces it"
        ))),
        _ => Ok(()),
    }
}

/// What answers at the endpoint: Lochan knows its own API, others do not.
async fn ask_source(session: &Session) -> Result<SourceKind, Error> {
    match session.client.ask::<GetInfo>(GetInfo::path(), &()).await {
        Ok(_) => Ok(SourceKind::Lochan),
        Err(client::Error::NotLochan { .. }) => Ok(SourceKind::Nessie),
        Err(error) => Err(error.into()),
    }
}

/// Takes the server's stream, checks it, and goes on where it breaks.
async fn from_lochan(
    args: &Args,
    begun: Begun,
    sink: &mut Sink,
    session: &Session,
) -> Result<Progress, Error> {
    let wrong = |error: lochan_api_spec::ext::stream::StreamError| Error::Stream {
        name: session.settings.endpoint.clone(),
        reason: error.to_string(),
    };
    let (mut progress, mut next) = (begun.progress, begun.next);
    let mut tries = 0;
    loop {
        let mut reader = progress.map_or_else(Reader::begin, Reader::resume);
        let (mut part, mut position) = (Vec::new(), None);
        let query = export_repository::Query { from: next.clone(), ref_log: args.ref_log, max_parts: None };
        let broke = match session.client.export(&query).await {
            Err(error) => error,
            Ok(mut lines) => loop {
                let line = match lines.next().await {
                    Ok(Some(line)) => line,
                    Ok(None) => break lines.ended_early(),
                    Err(error) => break error,
                };
                part.extend_from_slice(&line);
                part.push(b'\n');
                match reader.line(&line).map_err(wrong)? {
                    Event::PartBegins(begins) => position = begins.position,
                    Event::PartEnds(end) => {
                        sink.write(&part)?;
                        part.clear();
                        // Should the end alone get lost, it comes once more with this part.
                        (progress, next, tries) =
                            (reader.progress(), end.next.or_else(|| position.take()), 0);
                    }
                    Event::Passed => part.clear(),
                    Event::End(_) => {
                        sink.write(&part)?;
                        return reader
                            .progress()
                            .ok_or_else(|| Error::Usage("the stream is empty".to_owned()));
                    }
                    _ => {}
                }
            },
        };
        tries += 1;
        if tries >= TRIES_MAX || !may_pass(&broke) {
            return Err(broke.into());
        }
        tokio::time::sleep(Duration::from_secs(PAUSE_S)).await;
    }
}

/// Whether an error may be gone at the next try.
pub fn may_pass(error: &client::Error) -> bool {
    match error {
        client::Error::Unreachable { .. } | client::Error::Broken { .. } | client::Error::Unknown { .. } => {
            true
        }
        client::Error::Refused(refusal) => matches!(refusal.status, 429 | 503),
        _ => false,
    }
}

struct Exported {
    file: String,
    source: SourceKind,
    progress: Option<Progress>,
    /// When it was taken, for a file that was whole already.
    whole_since: Option<Instant>,
}

impl Report for Exported {
    fn json(&self) -> Result<Value, serde_json::Error> {
        Ok(json!({
            "file": self.file,
            "source": serde_json::to_value(self.source)?,
            "wholeSince": self.whole_since,
            "parts": self.progress.map(|p| p.parts),
            "references": self.progress.map(|p| p.references),
            "commits": self.progress.map(|p| p.commits),
            "logEntries": self.progress.map(|p| p.log_entries),
            "checksum": self.progress.map(|p| p.checksum.to_string()),
        }))
    }

    fn human(&self, page: &mut Page) {
        let Some(progress) = self.progress else { return };
        let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let commits = count(number(progress.commits), "commit", "commits");
        let references = count(number(progress.references), "reference", "references");
        match self.whole_since {
            None => page.line(&format!("Exported {commits} and {references} to {}", self.file)),
            Some(at) => {
                page.line(&format!("{} is whole already: {commits} and {references}", self.file));
                let at = page.time(at);
                page.field(9, "Taken", &at);
            }
        }
        page.field(9, "Checksum", &progress.checksum.to_string());
    }

    fn silent(&self) -> bool {
        // The stream itself is what standard output holds.
        self.file == STANDARD
    }
}

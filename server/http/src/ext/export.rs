//! `GET /ext/v1/export`

mod position;
mod units;

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use lochan_api_spec::ext::export_repository::Query;
use lochan_api_spec::ext::stream::{
    Checksum, FORMAT, Header, MEDIA_TYPE, Progress, SourceKind, VERSION, Writer,
};
use lochan_api_spec::syntax::Instant;
use lochan_server_catalog::Error;
use lochan_server_catalog::ext::export::{Export, Snapshot};
use tokio::sync::mpsc;

use self::position::{Position, Section};
use self::units::Units;
use crate::app::App;
use crate::error::log;
use crate::extract::Req;
use crate::failure::Failure;
use crate::handlers::Answer;
use crate::limits::STREAM_STALL_TIMEOUT;
use crate::nessie::bad;
use crate::reply::{BrokenOff, Feed, Piece, Reply};

/// `GET /ext/v1/export`
pub async fn export(app: Arc<App>, req: Req) -> Answer {
    let query: Query = req.query()?;
    let parts_max = match query.max_parts {
        None => u64::MAX,
        Some(most) => u64::try_from(most)
            .ok()
            .filter(|most| *most > 0)
            .ok_or_else(|| bad("query parameter 'max-parts' must be at least 1"))?,
    };
    let from = query.from.as_deref().map(Position::decode).transpose()?;
    let export = app.catalog.export(&req.principal(), from.as_ref().map(|from| from.at)).await?;
    let repository = app.catalog.repository_id().await?;
    let mut out = Vec::new();
    let (ref_log, section, shows, writer) = match from {
        Some(from) => {
            let here = repository.as_deref().unwrap_or_default();
            if from.repository != here {
                return Err(bad(format!(
                    "query parameter 'from' is a position in an export of repository {}; this is repository {here}",
                    from.repository
                )));
            }
            (from.log, from.section, Some(from.shows), Writer::resume(from.progress))
        }
        None => {
            let header = Header {
                format: FORMAT.to_owned(),
                version: VERSION,
                source: SourceKind::Lochan,
                repository: repository.clone(),
                server: Some(format!("lochan-server {}", app.site.version)),
                default_branch: app.catalog.settings().default_branch.to_string(),
                taken_at: Instant::from_micros(export.at()),
            };
            (query.ref_log, Section::References(0), None, Writer::begin(header, &mut out))
        }
    };
    let repository = repository.unwrap_or_default();
    let (pieces, feed) = mpsc::channel(1);
    let outlet = Outlet { pieces, out };
    tokio::spawn(async move {
        let gone = outlet.pieces.clone();
        let work = write(export, Begin { repository, ref_log, section, shows, writer }, parts_max, outlet);
        tokio::select! {
            // Whoever asked is gone, perhaps long before the first part was ready.
            () = gone.closed() => {}
            written = work => if let Err(failure) = written {
                match failure {
                    Stopped::Failed(error) => log(&error, req.op.name(), &req.id),
                    Stopped::TooLarge(error) => {
                        tracing::error!(request.id = %req.id, error = %error, "an export was broken off");
                    }
                    Stopped::Incomplete => {
                        tracing::error!(request.id = %req.id, "an export was broken off: it does not hold all that it shows");
                    }
                    Stopped::OtherState => {
                        tracing::warn!(request.id = %req.id, "an export cannot go on: the repository was put back to another state");
                    }
                    Stopped::Stalled => {
                        tracing::warn!(request.id = %req.id, "an export was broken off: nobody reads it");
                    }
                }
                let _ = gone.try_send(Err(BrokenOff));
            },
        }
    });
    Ok(Reply::fed(MEDIA_TYPE, Feed::new(feed)))
}

/// Where a stream begins, and how.
struct Begin {
    repository: String,
    /// Whether changes of references are wanted.
    ref_log: bool,
    section: Section,
    /// Sum of the references that the stream has shown so far, if it goes on.
    shows: Option<Checksum>,
    writer: Writer,
}

/// Why an export was broken off.
enum Stopped {
    Failed(Error),
    TooLarge(lochan_api_spec::ext::stream::TooLarge),
    /// The references of the moment are not those that the stream began with.
    OtherState,
    /// What was written is not everything that the references need.
    Incomplete,
    Stalled,
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Where the stream goes.
struct Outlet {
    pieces: mpsc::Sender<Piece>,
    out: Vec<u8>,
}

impl Outlet {
    /// Hands on what was written; waits until the client takes it.
    async fn flush(&mut self) -> Result<(), Stopped> {
        if self.out.is_empty() {
            return Ok(());
        }
        let piece = Bytes::from(std::mem::take(&mut self.out));
        let sent = tokio::time::timeout(STREAM_STALL_TIMEOUT, self.pieces.send(Ok(piece))).await;
        sent.map_err(|_elapsed| Stopped::Stalled)?.map_err(|_gone| Stopped::Stalled)
    }
}

/// Writes parts from a position on, and the end when nothing is left.
async fn write(export: Export, begin: Begin, parts_max: u64, mut outlet: Outlet) -> Result<(), Stopped> {
    outlet.flush().await?;
    let Begin { repository, ref_log, mut section, shows: shown, mut writer } = begin;
    let (at, shows) = (export.at(), sum_of(export.references().await?));
    // A repository may have been put back to an older state, under the same identity.
    if shown.is_some_and(|shown| shown != shows) {
        return Err(Stopped::OtherState);
    }
    let position = |section: &Section, progress| Position {
        repository: repository.clone(),
        shows,
        at,
        log: ref_log,
        section: section.clone(),
        progress,
    };
    let mut units = Units::new(&export, ref_log, section.clone());
    let mut parts = 0;
    while units.peek().await?.is_some() {
        if parts == parts_max {
            return Ok(());
        }
        writer.begin_part(Some(position(&section, writer.progress()).encode()), &mut outlet.out);
        while !writer.is_part_full() {
            let Some(unit) = units.next().await? else { break };
            for item in &unit.items {
                writer.item(item, &mut outlet.out).map_err(Stopped::TooLarge)?;
            }
            section = unit.after;
        }
        let more = units.peek().await?.is_some();
        let next = |progress: &_| more.then(|| position(&section, *progress).encode());
        writer.end_part(next, &mut outlet.out);
        outlet.flush().await?;
        parts += 1;
    }
    let Progress { references, commits, .. } = writer.progress();
    if (references, commits) != export.counts().await? {
        return Err(Stopped::Incomplete);
    }
    writer.end(&mut outlet.out);
    outlet.flush().await?;
    export.finish();
    Ok(())
}

/// The sum of references. Commits are named by what they hold, so it stands for everything that they reach.
fn sum_of(references: &[Snapshot]) -> Checksum {
    let mut text = String::new();
    for Snapshot { name, kind, target } in references {
        let _ = writeln!(text, "{kind:?} {target} {name}");
    }
    Checksum::of(text.as_bytes())
}

/// A position that no export has given.
fn no_position() -> Failure {
    bad("query parameter 'from' is no position of an export")
}

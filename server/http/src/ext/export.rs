//! `GET /ext/v1/export`

mod position;
mod units;

use std::sync::Arc;

use bytes::Bytes;
use lochan_api_spec::ext::export_repository::Query;
use lochan_api_spec::ext::stream::{FORMAT, Header, MEDIA_TYPE, SourceKind, VERSION, Writer};
use lochan_api_spec::syntax::Instant;
use lochan_server_catalog::Error;
use lochan_server_catalog::ext::export::Export;
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
    let mut out = Vec::new();
    let (position, writer) = match from {
        Some(position) => {
            let writer = Writer::resume(position.progress);
            (position, writer)
        }
        None => {
            let header = Header {
                format: FORMAT.to_owned(),
                version: VERSION,
                source: SourceKind::Lochan,
                repository: app.catalog.repository_id().await?,
                server: Some(format!("lochan-server {}", app.site.version)),
                default_branch: app.catalog.settings().default_branch.to_string(),
                taken_at: Instant::from_micros(export.at()),
            };
            let writer = Writer::begin(header, &mut out);
            let section = Section::References(0);
            (Position { at: export.at(), log: query.ref_log, section, progress: writer.progress() }, writer)
        }
    };
    let (pieces, feed) = mpsc::channel(1);
    let outlet = Outlet { pieces, out };
    tokio::spawn(async move {
        let gone = outlet.pieces.clone();
        let work = write(export, position, writer, parts_max, outlet);
        tokio::select! {
            // Whoever asked is gone, perhaps long before the first part was ready.
            () = gone.closed() => {}
            written = work => if let Err(failure) = written {
                match failure {
                    Stopped::Failed(error) => log(&error, req.op.name(), &req.id),
                    Stopped::TooLarge(error) => {
                        tracing::error!(request.id = %req.id, error = %error, "an export was broken off");
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

/// Why an export was broken off.
enum Stopped {
    Failed(Error),
    TooLarge(lochan_api_spec::ext::stream::TooLarge),
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
async fn write(
    export: Export,
    from: Position,
    mut writer: Writer,
    parts_max: u64,
    mut outlet: Outlet,
) -> Result<(), Stopped> {
    outlet.flush().await?;
    let (at, log) = (from.at, from.log);
    let position = |section: &Section, progress| Position { at, log, section: section.clone(), progress };
    let mut section = from.section;
    let mut units = Units::new(&export, log, section.clone());
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
    writer.end(&mut outlet.out);
    outlet.flush().await?;
    export.finish();
    Ok(())
}

/// A position that no export has given.
fn no_position() -> Failure {
    bad("query parameter 'from' is no position of an export")
}

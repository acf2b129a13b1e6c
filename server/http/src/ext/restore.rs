//! `POST /ext/v1/refs/{ref}:restore`

use std::sync::Arc;

use lochan_api_spec::ext::restore_reference::{RestoreRequest, RestoreResponse, Side as WireSide};
use lochan_server_catalog::ext::restore::{Restore, Side};

use super::convert::{log_entry_out, reference_out};
use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::reply::Reply;

/// `POST /ext/v1/refs/{ref}:restore`
pub async fn restore(app: Arc<App>, req: Req) -> Answer {
    let body: RestoreRequest = req.json()?;
    let restore = Restore {
        name: req.param(req.params.reference)?,
        entry: body.entry,
        side: match body.side {
            WireSide::Old => Side::Old,
            WireSide::New => Side::New,
        },
        expected: body.expected_number,
        dry_run: body.dry_run,
    };
    let restored = app.catalog.restore_reference(&req.principal(), &restore).await?;
    Ok(Reply::json(&RestoreResponse {
        changed: restored.changed,
        reference: restored.reference.as_ref().map(reference_out),
        entry: log_entry_out(&restored.entry),
    }))
}

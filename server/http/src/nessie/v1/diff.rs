//! `GET diffs/{from}...{to}`

use std::sync::Arc;

use lochan_api_spec::nessie::model::DiffResponseV1;
use lochan_server_catalog::nessie::Point;
use lochan_server_catalog::nessie::diff::Query;

use crate::app::App;
use crate::extract::Req;
use crate::failure::Failure;
use crate::handlers::Answer;
use crate::nessie::convert::point::{self, At};
use crate::nessie::v2;
use crate::reply::Reply;
use crate::router::Span;

/// `GET diffs/{from}...{to}`
pub async fn get(app: Arc<App>, req: Req) -> Answer {
    let from = side(&app, &req, req.params.reference)?;
    let to = side(&app, &req, req.params.to)?;
    let compared = app.catalog.diff(&req.principal(), &from, &to, &Query::default()).await?;
    Ok(Reply::json(&DiffResponseV1::from(v2::diff::out(compared))))
}

/// `NAME` or `NAME*HASH`, where a second star says nothing; without a name before the star the default branch is meant. Names are
/// only looked up, and hashes judged behind them.
fn side(app: &App, req: &Req, span: Span) -> Result<Point, Failure> {
    let text = req.param(span)?;
    let (name, at) = text.split_once('*').unwrap_or((&text, ""));
    let at = at.strip_prefix('*').unwrap_or(at);
    let name = if name.is_empty() { app.catalog.settings().default_branch.as_str() } else { name };
    Ok(point::named(name, At::judged_late(at)))
}

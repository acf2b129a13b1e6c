//! `GET trees/tree/{ref}/log`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{Fetch, LogResponseV1};
use lochan_api_spec::nessie::v1::trees::get_commit_log;
use lochan_api_spec::syntax::reference::check_name;
use lochan_server_catalog::nessie::Point;
use lochan_server_catalog::nessie::log::Query;

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::point::At;
use crate::nessie::convert::{commit, page, point};
use crate::nessie::refuse::Checks;
use crate::reply::Reply;

/// `GET trees/tree/{ref}/log`
pub async fn log(app: Arc<App>, req: Req) -> Answer {
    let query: get_commit_log::Query = req.query()?;
    let name = req.param(req.params.reference)?;
    let mut checks = Checks::default();
    checks.reference("getCommitLog.ref", check_name(&name));
    let youngest = At::parse(query.end_hash.as_deref().unwrap_or_default());
    let youngest = checks.reference("getCommitLog.params.endHash", youngest);
    let oldest = query
        .start_hash
        .as_deref()
        .and_then(|text| checks.reference("getCommitLog.params.startHash", At::plain(text)));
    let at = point::named(&name, checks.done(youngest)?);
    let oldest = oldest.map(|oldest| Point { name: at.name.clone(), ..point::named("", oldest) });
    let from = match query.page_token.as_deref() {
        Some(token) => Some(page::from_log_token(&app, &req, &at, token).await?),
        None => None,
    };
    let asked = Query {
        operations: query.fetch == Fetch::All,
        oldest,
        filter: query.filter,
        size: page::size(query.max_records),
        from,
    };
    let (_, found) = app.catalog.commit_log(&req.principal(), &at, &asked).await?;
    Ok(Reply::json(&LogResponseV1::from(commit::log_out(found))))
}

//! `GET trees/tree/{ref}/log`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{Fetch, LogResponseV1};
use lochan_api_spec::nessie::v1::trees::get_commit_log;
use lochan_api_spec::syntax::{HashSpec, reference::parse_hash};
use lochan_server_catalog::nessie::Point;
use lochan_server_catalog::nessie::log::Query;

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::{commit, page, point};
use crate::nessie::refuse;
use crate::reply::Reply;

/// `GET trees/tree/{ref}/log`
pub async fn log(app: Arc<App>, req: Req) -> Answer {
    let query: get_commit_log::Query = req.query()?;
    let name = req.param(req.params.reference)?;
    point::name_v1(&name, "getCommitLog.ref")?;
    let at = point::v1(&name, query.end_hash.as_deref(), "getCommitLog.params.endHash")?;
    let oldest = match &query.start_hash {
        Some(text) => {
            let hash = parse_hash(text)
                .map_err(|error| refuse::reference("getCommitLog.params.startHash", &error))?;
            Some(Point { name: at.name.clone(), ..point::named("", &HashSpec::of(hash)) })
        }
        None => None,
    };
    let from = query.page_token.as_deref().map(|token| page::from_log_token(&at, token)).transpose()?;
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

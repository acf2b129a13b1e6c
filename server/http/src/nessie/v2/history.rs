//! `GET trees/{ref}/history` and `GET trees/{ref}/recent-changes`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{
    CommitConsistency, Fetch, ReferenceHistoryElement, ReferenceHistoryResponse,
};
use lochan_api_spec::nessie::v2::trees::{get_commit_log, get_reference_history};
use lochan_api_spec::syntax::HashSpec;
use lochan_server_catalog::nessie::Point;
use lochan_server_catalog::nessie::history::{Consistency, Head};
use lochan_server_catalog::nessie::log::Query;

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::{commit, page, point, reference};
use crate::nessie::refuse;
use crate::reply::Reply;

/// `GET trees/{ref}/history`
pub async fn log(app: Arc<App>, req: Req) -> Answer {
    let query: get_commit_log::Query = req.query()?;
    let at = point::of_path(&app, &req, req.params.reference, "getCommitLog.ref")?;
    let oldest = match &query.limit_hash {
        Some(text) => {
            let spec = HashSpec::parse(text)
                .map_err(|error| refuse::reference("getCommitLog.params.startHash", &error))?;
            Some(Point { name: at.name.clone(), ..point::named("", &spec) })
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
    Ok(Reply::json(&commit::log_out(found)))
}

/// `GET trees/{ref}/recent-changes`
pub async fn recent_changes(app: Arc<App>, req: Req) -> Answer {
    let query: get_reference_history::Query = req.query()?;
    let name = point::of_path_without_hash(
        &app,
        &req,
        req.params.reference,
        "getReferenceHistory.params.ref",
        "Hashes are not allowed when fetching a reference history",
    )?;
    let scan = page::size(query.scan_commits).unwrap_or(0);
    let found = app.catalog.recent_changes(&req.principal(), &name, scan).await?;
    Ok(Reply::json(&ReferenceHistoryResponse {
        reference: reference::out(&found.reference),
        current: head_out(&found.current),
        previous: found.previous.iter().map(head_out).collect(),
        commit_log_consistency: consistency_out(found.scanned),
    }))
}

fn head_out(head: &Head) -> ReferenceHistoryElement {
    ReferenceHistoryElement {
        commit_hash: head.id.to_string(),
        commit_consistency: consistency_out(head.consistency),
        meta: head.commit.as_ref().map(commit::meta_out),
    }
}

const fn consistency_out(consistency: Consistency) -> CommitConsistency {
    match consistency {
        Consistency::NotChecked => CommitConsistency::NotChecked,
        Consistency::Consistent => CommitConsistency::CommitConsistent,
        Consistency::ContentMissing => CommitConsistency::CommitContentInconsistent,
        Consistency::Inconsistent => CommitConsistency::CommitInconsistent,
    }
}

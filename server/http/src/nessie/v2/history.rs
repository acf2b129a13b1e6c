//! `GET trees/{ref}/history` and `GET trees/{ref}/recent-changes`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{
    CommitConsistency, Fetch, ReferenceHistoryElement, ReferenceHistoryResponse,
};
use lochan_api_spec::nessie::v2::trees::{get_commit_log, get_reference_history};
use lochan_server_catalog::nessie::Point;
use lochan_server_catalog::nessie::history::{Consistency, Head};
use lochan_server_catalog::nessie::log::Query;

use crate::app::App;
use crate::error::Refusal;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::point::At;
use crate::nessie::convert::{commit, page, point, reference};
use crate::nessie::refuse::Checks;
use crate::reply::Reply;

/// `GET trees/{ref}/history`
pub async fn log(app: Arc<App>, req: Req) -> Answer {
    let query: get_commit_log::Query = req.query()?;
    let mut checks = Checks::default();
    let at = point::of_path_in(&app, &req, req.params.reference, "getCommitLog.ref", &mut checks)?;
    let oldest = query
        .limit_hash
        .as_deref()
        .and_then(|text| checks.reference("getCommitLog.params.startHash", At::parse(text)));
    let at = checks.done(at)?;
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
    Ok(Reply::json(&commit::log_out(found)))
}

/// `GET trees/{ref}/recent-changes`
pub async fn recent_changes(app: Arc<App>, req: Req) -> Answer {
    // As the reference server, alone among all numbers: its answers say so.
    let query: get_reference_history::Query = req.query().map_err(|_| Refusal::UnknownPath)?;
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

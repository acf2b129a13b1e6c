//! `POST trees/branch/{branch}/commit`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{Operations, ReferenceV1};
use lochan_api_spec::nessie::v1::trees::commit_multiple_operations::Query;

use crate::app::App;
use crate::extract::{CommitHeaders, Req};
use crate::handlers::Answer;
use crate::nessie::convert::{commit, point};
use crate::nessie::refuse::Checks;
use crate::reply::Reply;

/// `POST trees/branch/{branch}/commit`
pub async fn commit(app: Arc<App>, req: Arc<Req>) -> Answer {
    let query: Query = req.query()?;
    let body: Option<Operations> = req.json_or_null()?;
    let name = req.param(req.params.reference)?;
    let mut checks = Checks::default();
    let at = point::v1_expected(
        ("commitMultipleOperations.branchName", &name),
        ("commitMultipleOperations.expectedHash", query.expected_hash.as_deref()),
        &mut checks,
    );
    let body = commit::body_in(body, &mut checks);
    let (at, body) = checks.done(at.zip(body))?;
    let meta = commit::meta_in(body.commit_meta, CommitHeaders::default());
    let operations = body.operations.into_iter().map(commit::operation_in).collect::<Result<_, _>>()?;
    let landed = app.catalog.commit(&req.principal(), &at, operations, meta).await?;
    Ok(Reply::json(&ReferenceV1::branch(landed.branch.as_str(), landed.head.to_string())))
}

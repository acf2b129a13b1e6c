//! `POST trees/branch/{branch}/commit`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{Operations, ReferenceV1};
use lochan_api_spec::nessie::v1::trees::commit_multiple_operations::Query;

use crate::app::App;
use crate::extract::{CommitHeaders, Req};
use crate::handlers::Answer;
use crate::nessie::convert::{commit, point};
use crate::nessie::refuse::{self, SIZE, required, violation};
use crate::reply::Reply;

/// `POST trees/branch/{branch}/commit`
pub async fn commit(app: Arc<App>, req: Arc<Req>) -> Answer {
    let query: Query = req.query()?;
    let body: Option<Operations> = req.json_or_null()?;
    let name = req.param(req.params.reference)?;
    point::name_v1(&name, "commitMultipleOperations.branchName")?;
    refuse::all_required(&[
        ("commitMultipleOperations.operations", body.is_some()),
        ("commitMultipleOperations.expectedHash", query.expected_hash.is_some()),
    ])?;
    let expected = query.expected_hash.as_deref();
    let at = point::v1_expected(&name, expected, "commitMultipleOperations.expectedHash")?;
    let body = required("commitMultipleOperations.operations", body)?;
    if body.operations.is_empty() {
        return Err(violation("commitMultipleOperations.operations.operations", SIZE));
    }
    let meta = commit::meta_in(body.commit_meta, CommitHeaders::default());
    let operations = body.operations.into_iter().map(commit::operation_in).collect::<Result<_, _>>()?;
    let landed = app.catalog.commit(&req.principal(), &at, operations, meta).await?;
    Ok(Reply::json(&ReferenceV1::branch(landed.branch.as_str(), landed.head.to_string())))
}

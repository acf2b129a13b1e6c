//! `POST trees/{branch}/history/commit`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{AddedContent, CommitResponse, Operations, ReferenceV2};

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::{commit, key_out, point};
use crate::nessie::refuse::Checks;
use crate::reply::Reply;

/// `POST trees/{branch}/history/commit`
pub async fn commit(app: Arc<App>, req: Arc<Req>) -> Answer {
    let body: Option<Operations> = req.json_or_null()?;
    let mut checks = Checks::default();
    let at =
        point::of_path_in(&app, &req, req.params.reference, "commitMultipleOperations.branch", &mut checks)?;
    let body = commit::body_in(body, &mut checks);
    let (at, body) = checks.done(at.zip(body))?;
    let meta = commit::meta_in(body.commit_meta, req.commit_headers());
    let operations = body.operations.into_iter().map(commit::operation_in).collect::<Result<_, _>>()?;
    let landed = app.catalog.commit(&req.principal(), &at, operations, meta).await?;
    let added: Vec<AddedContent> = landed
        .added
        .iter()
        .map(|(key, id)| AddedContent { key: key_out(key), content_id: id.to_string() })
        .collect();
    Ok(Reply::json(&CommitResponse {
        target_branch: ReferenceV2::branch(landed.branch.as_str(), landed.head.to_string()),
        added_contents: (!added.is_empty()).then_some(added),
    }))
}

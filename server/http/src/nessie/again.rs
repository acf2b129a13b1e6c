//! Answers of writes told anew, from what the log of reference changes says they did.

use futures::FutureExt;
use futures::future::BoxFuture;
use lochan_api_spec::nessie::model::{
    AddedContent, CommitResponse, Content as WireContent, MergeBehavior, MergeKeyBehavior, MergeResponseV1,
    ReferenceV1, ReferenceV2,
};
use lochan_api_spec::nessie::v1::trees::merge_ref_into_branch;
use lochan_server_catalog::nessie::Point;
use lochan_server_catalog::nessie::merge::Merged;
use lochan_server_catalog::requests::Written;
use serde::Deserialize;

use super::convert::{key_out, merge, point, reference};
use super::refuse::Checks;
use super::{v1, v2};
use crate::app::App;
use crate::error::Refusal;
use crate::extract::Req;
use crate::failure::Failure;
use crate::handlers::Answer;
use crate::reply::Reply;
use crate::router::Op;

/// The answer to a write that was made before.
pub(super) fn retell<'a>(app: &'a App, req: &'a Req, written: &'a Written) -> BoxFuture<'a, Answer> {
    answer(app, req, written).boxed()
}

async fn answer(app: &App, req: &Req, written: &Written) -> Answer {
    let Written { reference: found, .. } = written;
    let branch = found.name.as_str();
    Ok(match req.op {
        Op::V2CreateReference | Op::V2AssignReference | Op::V2DeleteReference => v2::reference::single(found),
        Op::V1CreateReference => Reply::json(&v1::reference::view(reference::out(found))),
        Op::V1AssignReference | Op::V1DeleteReference | Op::V1UpdateProperties | Op::V1DeleteNamespace => {
            Reply::no_content()
        }
        Op::V1CreateNamespace => {
            let WireContent::Namespace(body) = req.json()? else { return Err(Refusal::NotOffered.into()) };
            let at = Point { hash: Some(point::hash(&found.target.to_string())), ..Point::default() };
            v1::namespaces::stood_at(app, req, &at, body.elements).await?
        }
        Op::V1CommitMultipleOperations => Reply::json(&ReferenceV1::branch(branch, found.target.to_string())),
        Op::V2CommitMultipleOperations => {
            let added = app.catalog.added_again(written).await?;
            let added: Vec<AddedContent> = added
                .iter()
                .map(|(key, id)| AddedContent { key: key_out(key), content_id: id.to_string() })
                .collect();
            Reply::json(&CommitResponse {
                target_branch: ReferenceV2::branch(branch, found.target.to_string()),
                added_contents: (!added.is_empty()).then_some(added),
            })
        }
        Op::V2MergeRefIntoBranch | Op::V2TransplantCommitsIntoBranch => {
            let target = point::of_path(app, req, req.params.reference, "branch")?;
            Reply::json(&merge::out(merged(app, req, written, &target).await?))
        }
        Op::V1MergeRefIntoBranch | Op::V1TransplantCommitsIntoBranch => {
            let query: merge_ref_into_branch::Query = req.query()?;
            let mut checks = Checks::default();
            let expected = ("expectedHash", query.expected_hash.as_deref());
            let target = point::v1_expected(("branch", branch), expected, &mut checks);
            let target = checks.done(target)?;
            Reply::json(&MergeResponseV1::from(merge::out(merged(app, req, written, &target).await?)))
        }
        _ => return Err(Refusal::NotOffered.into()),
    })
}

/// The part of a merge or transplant that says how keys are treated.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Modes {
    key_merge_modes: Option<Vec<MergeKeyBehavior>>,
    default_key_merge_mode: Option<MergeBehavior>,
}

async fn merged(app: &App, req: &Req, written: &Written, target: &Point) -> Result<Merged, Failure> {
    let modes: Modes = req.json()?;
    let (default, keys) = (modes.default_key_merge_mode, modes.key_merge_modes);
    let options = merge::options_in(default.unwrap_or_default(), keys.unwrap_or_default(), false)?;
    Ok(app.catalog.merged_again(written, target, &options).await?)
}

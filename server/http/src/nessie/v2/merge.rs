//! `POST trees/{branch}/history/merge`

use std::sync::Arc;

use lochan_api_spec::nessie::model::MergeRequestV2;
use lochan_api_spec::syntax::EitherSpelling;
use lochan_server_catalog::nessie::merge::Merge;

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::point::At;
use crate::nessie::convert::{commit, merge, point};
use crate::nessie::refuse::{Checks, SIZE};
use crate::reply::Reply;

/// `POST trees/{branch}/history/merge`
pub async fn merge(app: Arc<App>, req: Arc<Req>) -> Answer {
    let body: Option<EitherSpelling<MergeRequestV2>> = req.json_or_null()?;
    let body = body.map(|EitherSpelling(body)| body);
    let mut checks = Checks::default();
    let target =
        point::of_path_in(&app, &req, req.params.reference, "mergeRefIntoBranch.branch", &mut checks)?;
    let body = checks.present("mergeRefIntoBranch.merge", body);
    let mut from = None;
    if let Some(body) = &body {
        merge::check_source(&body.from_ref_name, "mergeRefIntoBranch.merge.fromRefName", &mut checks);
        checks.require("mergeRefIntoBranch.merge.message", body.message.as_deref() != Some(""), SIZE);
        let hash = At::parse(body.from_hash.as_deref().unwrap_or_default());
        from = checks.reference("mergeRefIntoBranch.merge.fromHash", hash);
    }
    let ((target, body), from) = checks.done(target.zip(body).zip(from))?;
    let mut given = body.commit_meta.unwrap_or_default();
    if given.message.is_empty() {
        given.message = body.message.unwrap_or_default();
    }
    let merged = app
        .catalog
        .merge(
            &req.principal(),
            Merge {
                target,
                from: point::named(&body.from_ref_name, from),
                options: merge::options_in(
                    body.default_key_merge_mode,
                    body.key_merge_modes,
                    body.is_dry_run,
                )?,
                meta: commit::meta_in(given, req.commit_headers()),
                return_conflicts: body.is_return_conflict_as_result,
            },
        )
        .await?;
    Ok(Reply::json(&merge::out(merged)))
}

//! `POST trees/branch/{branch}/merge`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{MergeRequestV1, MergeResponseV1};
use lochan_api_spec::nessie::v1::trees::merge_ref_into_branch::Query;
use lochan_api_spec::syntax::EitherSpelling;
use lochan_server_catalog::nessie::commits::GivenMeta;
use lochan_server_catalog::nessie::merge::Merge;

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::point::At;
use crate::nessie::convert::{merge, point};
use crate::nessie::refuse::{Checks, bad};
use crate::reply::Reply;

/// `POST trees/branch/{branch}/merge`
pub async fn merge(app: Arc<App>, req: Arc<Req>) -> Answer {
    let query: Query = req.query()?;
    let body: Option<EitherSpelling<MergeRequestV1>> = req.json_or_null()?;
    let body = body.map(|EitherSpelling(body)| body);
    let name = req.param(req.params.reference)?;
    let mut checks = Checks::default();
    let body = checks.present("mergeRefIntoBranch.merge", body);
    let target = point::v1_expected(
        ("mergeRefIntoBranch.branchName", &name),
        ("mergeRefIntoBranch.expectedHash", query.expected_hash.as_deref()),
        &mut checks,
    );
    let mut from = None;
    if let Some(body) = &body {
        merge::check_source(&body.from_ref_name, "mergeRefIntoBranch.merge.fromRefName", &mut checks);
        from = checks.reference("mergeRefIntoBranch.merge.fromHash", At::plain(&body.from_hash));
    }
    let ((target, body), from) = checks.done(target.zip(body).zip(from))?;
    if body.keep_individual_commits == Some(true) {
        return Err(bad(
            "The parameter 'keepIndividualCommits' is deprecated. Merge operations only support squashed now.",
        ));
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
                meta: GivenMeta::default(),
                return_conflicts: body.is_return_conflict_as_result,
            },
        )
        .await?;
    Ok(Reply::json(&MergeResponseV1::from(merge::out(merged))))
}

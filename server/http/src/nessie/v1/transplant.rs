//! `POST trees/branch/{branch}/transplant`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{MergeResponseV1, TransplantRequestV1};
use lochan_api_spec::nessie::v1::trees::transplant_commits_into_branch::Query;
use lochan_api_spec::syntax::EitherSpelling;
use lochan_api_spec::syntax::reference::DETACHED;
use lochan_server_catalog::nessie::transplant::{MetaOverrides, Transplant};

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::point::At;
use crate::nessie::convert::{merge, point};
use crate::nessie::refuse::{Checks, bad, required};
use crate::reply::Reply;

/// `POST trees/branch/{branch}/transplant`
pub async fn transplant(app: Arc<App>, req: Arc<Req>) -> Answer {
    let query: Query = req.query()?;
    let body: Option<EitherSpelling<TransplantRequestV1>> = req.json_or_null()?;
    let body = body.map(|EitherSpelling(body)| body);
    let name = req.param(req.params.reference)?;
    let mut checks = Checks::default();
    let target = point::v1_expected(
        ("transplantCommitsIntoBranch.branchName", &name),
        ("transplantCommitsIntoBranch.expectedHash", query.expected_hash.as_deref()),
        &mut checks,
    );
    let commits = body.as_ref().map(|body| {
        let given = (body.from_ref_name.as_str(), body.hashes_to_transplant.as_slice());
        merge::commits_in(given, At::plain, &mut checks)
    });
    let target = checks.done(target)?;
    // Alone among the three writes: that there is no body is told last.
    let body = required("transplantCommitsIntoBranch.transplant", body)?;
    if body.keep_individual_commits == Some(false) {
        return Err(bad(
            "The parameter 'keepIndividualCommits' is deprecated. Transplant operations only support unsquashed now.",
        ));
    }
    let merged = app
        .catalog
        .transplant(
            &req.principal(),
            Transplant {
                target,
                from: (body.from_ref_name != DETACHED).then_some(body.from_ref_name),
                commits: commits.unwrap_or_default(),
                options: merge::options_in(
                    body.default_key_merge_mode,
                    body.key_merge_modes,
                    body.is_dry_run,
                )?,
                overrides: MetaOverrides { message: query.message, ..MetaOverrides::default() },
                return_conflicts: body.is_return_conflict_as_result,
            },
        )
        .await?;
    Ok(Reply::json(&MergeResponseV1::from(merge::out(merged))))
}

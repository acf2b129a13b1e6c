//! `POST trees/branch/{branch}/transplant`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{MergeResponseV1, TransplantRequestV1};
use lochan_api_spec::nessie::v1::trees::transplant_commits_into_branch::Query;
use lochan_api_spec::syntax::reference::DETACHED;
use lochan_server_catalog::nessie::transplant::{MetaOverrides, Transplant};

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::point::At;
use crate::nessie::convert::{merge, point};
use crate::nessie::refuse::{Checks, SIZE, bad};
use crate::reply::Reply;

const HASHES: &str = "transplantCommitsIntoBranch.transplant.hashesToTransplant";

/// `POST trees/branch/{branch}/transplant`
pub async fn transplant(app: Arc<App>, req: Arc<Req>) -> Answer {
    let query: Query = req.query()?;
    let body: Option<TransplantRequestV1> = req.json_or_null()?;
    let name = req.param(req.params.reference)?;
    let mut checks = Checks::default();
    let target = point::v1_expected(
        ("transplantCommitsIntoBranch.branchName", &name),
        ("transplantCommitsIntoBranch.expectedHash", query.expected_hash.as_deref()),
        &mut checks,
    );
    let body = checks.present("transplantCommitsIntoBranch.transplant", body);
    let mut commits = Vec::new();
    if let Some(body) = &body {
        let name = &body.from_ref_name;
        merge::check_source(name, "transplantCommitsIntoBranch.transplant.fromRefName", &mut checks);
        checks.require(HASHES, !body.hashes_to_transplant.is_empty(), SIZE);
        for text in &body.hashes_to_transplant {
            commits.extend(checks.reference(HASHES, At::plain(text)).map(|at| point::named(name, at)));
        }
    }
    let (target, body) = checks.done(target.zip(body))?;
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
                commits,
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

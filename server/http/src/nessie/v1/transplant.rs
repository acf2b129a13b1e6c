//! `POST trees/branch/{branch}/transplant`

use std::sync::Arc;

use lochan_api_spec::nessie::model::{MergeResponseV1, TransplantRequestV1};
use lochan_api_spec::nessie::v1::trees::transplant_commits_into_branch::Query;
use lochan_api_spec::syntax::HashSpec;
use lochan_api_spec::syntax::reference::{DETACHED, parse_hash};
use lochan_server_catalog::nessie::transplant::{MetaOverrides, Transplant};

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::{merge, point};
use crate::nessie::refuse::{self, SIZE, bad, required, violation};
use crate::reply::Reply;

const HASHES: &str = "transplantCommitsIntoBranch.transplant.hashesToTransplant";

/// `POST trees/branch/{branch}/transplant`
pub async fn transplant(app: Arc<App>, req: Arc<Req>) -> Answer {
    let query: Query = req.query()?;
    let body: Option<TransplantRequestV1> = req.json_or_null()?;
    let name = req.param(req.params.reference)?;
    point::name_v1(&name, "transplantCommitsIntoBranch.branchName")?;
    refuse::all_required(&[
        ("transplantCommitsIntoBranch.transplant", body.is_some()),
        ("transplantCommitsIntoBranch.expectedHash", query.expected_hash.is_some()),
    ])?;
    let body = required("transplantCommitsIntoBranch.transplant", body)?;
    let expected = query.expected_hash.as_deref();
    let target = point::v1_expected(&name, expected, "transplantCommitsIntoBranch.expectedHash")?;
    merge::check_source(&body.from_ref_name, "transplantCommitsIntoBranch.transplant.fromRefName")?;
    if body.hashes_to_transplant.is_empty() {
        return Err(violation(HASHES, SIZE));
    }
    if body.keep_individual_commits == Some(false) {
        return Err(bad(
            "The parameter 'keepIndividualCommits' is deprecated. Transplant operations only support unsquashed now.",
        ));
    }
    let mut commits = Vec::with_capacity(body.hashes_to_transplant.len());
    for text in &body.hashes_to_transplant {
        let hash = parse_hash(text).map_err(|error| refuse::reference(HASHES, &error))?;
        commits.push(point::named(&body.from_ref_name, &HashSpec::of(hash)));
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

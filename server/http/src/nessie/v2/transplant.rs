//! `POST trees/{branch}/history/transplant`

use std::sync::Arc;

use lochan_api_spec::nessie::model::TransplantRequestV2;
use lochan_api_spec::syntax::HashSpec;
use lochan_api_spec::syntax::reference::DETACHED;
use lochan_server_catalog::nessie::transplant::{MetaOverrides, Transplant};

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::{merge, point};
use crate::nessie::refuse::{self, SIZE, required, violation};
use crate::reply::Reply;

const HASHES: &str = "transplantCommitsIntoBranch.transplant.hashesToTransplant";

/// `POST trees/{branch}/history/transplant`
pub async fn transplant(app: Arc<App>, req: Arc<Req>) -> Answer {
    let body: Option<TransplantRequestV2> = req.json_or_null()?;
    let target = point::of_path(&app, &req, req.params.reference, "transplantCommitsIntoBranch.branch")?;
    let body = required("transplantCommitsIntoBranch.transplant", body)?;
    merge::check_source(&body.from_ref_name, "transplantCommitsIntoBranch.transplant.fromRefName")?;
    if body.hashes_to_transplant.is_empty() {
        return Err(violation(HASHES, SIZE));
    }
    if body.message.as_deref() == Some("") {
        return Err(violation("transplantCommitsIntoBranch.transplant.message", SIZE));
    }
    let mut commits = Vec::with_capacity(body.hashes_to_transplant.len());
    for text in &body.hashes_to_transplant {
        let hash = HashSpec::parse(text).map_err(|error| refuse::reference(HASHES, &error))?;
        commits.push(point::named(&body.from_ref_name, &hash));
    }
    let headers = req.commit_headers();
    let overrides = MetaOverrides {
        message: headers.message.or(body.message),
        authors: headers.authors,
        signed_off_by: headers.signed_off_by,
        properties: headers.properties.into_iter().collect(),
    };
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
                overrides,
                return_conflicts: body.is_return_conflict_as_result,
            },
        )
        .await?;
    Ok(Reply::json(&merge::out(merged)))
}

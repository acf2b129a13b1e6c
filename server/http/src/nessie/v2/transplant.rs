//! `POST trees/{branch}/history/transplant`

use std::sync::Arc;

use lochan_api_spec::nessie::model::TransplantRequestV2;
use lochan_api_spec::syntax::EitherSpelling;
use lochan_api_spec::syntax::reference::DETACHED;
use lochan_server_catalog::nessie::transplant::{MetaOverrides, Transplant};

use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::point::At;
use crate::nessie::convert::{merge, point};
use crate::nessie::refuse::{Checks, SIZE};
use crate::reply::Reply;

/// `POST trees/{branch}/history/transplant`
pub async fn transplant(app: Arc<App>, req: Arc<Req>) -> Answer {
    let body: Option<EitherSpelling<TransplantRequestV2>> = req.json_or_null()?;
    let body = body.map(|EitherSpelling(body)| body);
    let mut checks = Checks::default();
    let target = point::of_path_in(
        &app,
        &req,
        req.params.reference,
        "transplantCommitsIntoBranch.branch",
        &mut checks,
    )?;
    let body = checks.present("transplantCommitsIntoBranch.transplant", body);
    let commits = body.as_ref().map(|body| {
        let given = (body.from_ref_name.as_str(), body.hashes_to_transplant.as_slice());
        merge::commits_in(given, At::parse, &mut checks)
    });
    let message = body.as_ref().and_then(|body| body.message.as_deref());
    checks.require("transplantCommitsIntoBranch.transplant.message", message != Some(""), SIZE);
    let (target, body) = checks.done(target.zip(body))?;
    let headers = req.commit_headers();
    let overrides = MetaOverrides {
        message: headers.message.or(body.message),
        authors: headers.authors,
        signed_off_by: headers.signed_off_by,
        // Only what has a value replaces what the commit says.
        properties: headers.properties.into_iter().filter(|(_, values)| !values.is_empty()).collect(),
    };
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
                overrides,
                return_conflicts: body.is_return_conflict_as_result,
            },
        )
        .await?;
    Ok(Reply::json(&merge::out(merged)))
}

//! `POST /ext/v1/refs/{ref}:rebase`

use std::sync::Arc;

use lochan_api_spec::ext::rebase_branch::{RebaseOutcome, RebaseRequest, RebaseResponse, RebasedCommit};
use lochan_server_catalog::ext::rebase::{Fate, Rebase};

use super::convert::hash_in;
use crate::app::App;
use crate::extract::Req;
use crate::handlers::Answer;
use crate::nessie::convert::merge::{detail_out, options_in};
use crate::reply::Reply;

/// `POST /ext/v1/refs/{ref}:rebase`
pub async fn rebase(app: Arc<App>, req: Req) -> Answer {
    let body: RebaseRequest = req.json()?;
    let branch = req.param(req.params.reference)?;
    let rebase = Rebase {
        branch: branch.clone(),
        expected: hash_in("expectedHash", &body.expected_hash)?,
        onto: body.onto,
        onto_expected: hash_in("ontoHash", &body.onto_hash)?,
        options: options_in(body.default_key_merge_mode, body.key_merge_modes, body.dry_run)?,
        // A dry run asks what would happen; conflicts are an answer to that.
        return_conflicts: body.return_conflict_as_result || body.dry_run,
    };
    let rebased = app.catalog.rebase(&req.principal(), rebase).await?;
    Ok(Reply::json(&RebaseResponse {
        was_applied: rebased.applied,
        was_successful: rebased.successful,
        branch,
        old_hash: rebased.old.to_string(),
        new_hash: rebased.new.map(|id| id.to_string()),
        common_ancestor: rebased.base.to_string(),
        commits: rebased
            .commits
            .iter()
            .map(|commit| RebasedCommit {
                old_hash: commit.old.to_string(),
                new_hash: commit.new.map(|id| id.to_string()),
                outcome: match commit.fate {
                    Fate::Picked => RebaseOutcome::Picked,
                    Fate::Contained => RebaseOutcome::Contained,
                    Fate::Conflict => RebaseOutcome::Conflict,
                },
            })
            .collect(),
        details: rebased.details.iter().map(detail_out).collect(),
    }))
}

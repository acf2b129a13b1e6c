//! The commits that a moved reference no longer shows.

use std::collections::HashSet;

use lochan_api_spec::nessie::model::CommitMetaV2;
use lochan_api_spec::nessie::v2::trees::get_commit_log;
use lochan_api_spec::syntax::RefSpec;
use lochan_api_spec::syntax::reference::NO_ANCESTOR_HASH;

use crate::client::Client;
use crate::error::Error;

/// How many commits are looked at on either side.
const COMMITS_SCANNED_MAX: usize = 1000;

/// Commits of the old log that are not in the new one, newest first.
pub struct LeftBehind {
    /// The commits found.
    pub commits: Vec<CommitMetaV2>,
    /// Whether these are all of them; otherwise the search ended at its bound.
    pub complete: bool,
}

/// Compares the logs of two commits along direct parents.
pub async fn between(client: &Client, old: &str, new: &str) -> Result<LeftBehind, Error> {
    if old == new || old == NO_ANCESTOR_HASH {
        return Ok(LeftBehind { commits: Vec::new(), complete: true });
    }
    let limit_hash = (new != NO_ANCESTOR_HASH).then(|| new.to_owned());
    let query = get_commit_log::Query { limit_hash, ..Default::default() };
    let old_log = client.log(&RefSpec::detached(old), query, COMMITS_SCANNED_MAX).await?;
    let commits: Vec<CommitMetaV2> = old_log.log_entries.into_iter().map(|entry| entry.commit_meta).collect();
    if let Some(found) = until(&commits, |hash| hash == new) {
        return Ok(LeftBehind { commits: found, complete: true });
    }
    if new == NO_ANCESTOR_HASH {
        return Ok(LeftBehind { commits, complete: !old_log.has_more });
    }
    // Not a step back along one line: look for the commit where the two lines meet.
    let new_log = client.log(&RefSpec::detached(new), Default::default(), COMMITS_SCANNED_MAX).await?;
    let kept: HashSet<&str> =
        new_log.log_entries.iter().filter_map(|entry| entry.commit_meta.hash.as_deref()).collect();
    match until(&commits, |hash| kept.contains(hash)) {
        Some(found) => Ok(LeftBehind { commits: found, complete: true }),
        None => Ok(LeftBehind { commits, complete: !old_log.has_more && !new_log.has_more }),
    }
}

/// The commits before the first whose hash is wanted; `None` when there is none.
fn until(commits: &[CommitMetaV2], wanted: impl Fn(&str) -> bool) -> Option<Vec<CommitMetaV2>> {
    let place = commits.iter().position(|meta| meta.hash.as_deref().is_some_and(&wanted))?;
    Some(commits.iter().take(place).cloned().collect())
}

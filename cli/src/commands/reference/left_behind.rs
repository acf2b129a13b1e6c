//! The commits that a moved reference no longer shows.

use std::collections::HashSet;

use lochan_api_spec::nessie::model::{CommitMetaV2, LogResponseV2};
use lochan_api_spec::nessie::v2::trees::get_commit_log;
use lochan_api_spec::syntax::RefSpec;
use lochan_api_spec::syntax::reference::{DEFAULT_BRANCH_ALIAS, NO_ANCESTOR_HASH};

use crate::client::{Client, Error};

/// How many commits are looked at on either side.
const COMMITS_SCANNED_MAX: usize = 1000;

/// Commits of the old log that are not in the new one, newest first.
#[derive(Default)]
pub struct LeftBehind {
    /// The commits found.
    pub commits: Vec<CommitMetaV2>,
    /// Whether these are all of them; otherwise the search ended at its bound.
    pub complete: bool,
    /// Another reference that has the oldest of them, and how many: as far as the heads of references show it.
    pub still_on: Option<(String, usize)>,
}

/// Compares the logs of two commits along direct parents. `base` is the newest commit that the old one shares with the
/// default branch, if that is known.
pub async fn between(
    client: &Client,
    old: &RefSpec,
    new: &RefSpec,
    base: Option<&str>,
) -> Result<LeftBehind, Error> {
    if old.hash == new.hash || is_beginning(old) {
        return Ok(LeftBehind { complete: true, ..Default::default() });
    }
    let limit_hash = new.hash.clone().filter(|_| !is_beginning(new));
    let query = get_commit_log::Query { limit_hash, ..Default::default() };
    let (log, references) =
        tokio::join!(client.log(old, query, COMMITS_SCANNED_MAX), client.some_references());
    let mut left = parted(client, log?, new).await?;
    let heads = references.map(|found| found.references).unwrap_or_default();
    let heads = heads.iter().filter(|reference| reference.name != old.name);
    let heads = heads.filter_map(|reference| Some((reference.hash.as_deref()?, reference.name.as_deref()?)));
    let known: Vec<(&str, &str)> =
        base.map(|base| (base, DEFAULT_BRANCH_ALIAS)).into_iter().chain(heads).collect();
    left.still_on = left.commits.iter().enumerate().find_map(|(place, meta)| {
        let (_, name) = known.iter().find(|(hash, _)| meta.hash.as_deref() == Some(hash))?;
        Some(((*name).to_owned(), left.commits.len() - place))
    });
    Ok(left)
}

/// The commits of the old log down to where the new one joins it.
async fn parted(client: &Client, old_log: LogResponseV2, new: &RefSpec) -> Result<LeftBehind, Error> {
    let commits: Vec<CommitMetaV2> = old_log.log_entries.into_iter().map(|entry| entry.commit_meta).collect();
    let all = |commits| LeftBehind { commits, complete: true, still_on: None };
    if let Some(found) = until(&commits, |hash| Some(hash) == new.hash.as_deref()) {
        return Ok(all(found));
    }
    if is_beginning(new) {
        return Ok(LeftBehind { complete: !old_log.has_more, ..all(commits) });
    }
    // Not a step back along one line: look for the commit where the two lines meet.
    let new_log = client.log(new, Default::default(), COMMITS_SCANNED_MAX).await?;
    let kept: HashSet<&str> =
        new_log.log_entries.iter().filter_map(|entry| entry.commit_meta.hash.as_deref()).collect();
    Ok(match until(&commits, |hash| kept.contains(hash)) {
        Some(found) => all(found),
        None => LeftBehind { complete: !old_log.has_more && !new_log.has_more, ..all(commits) },
    })
}

fn is_beginning(at: &RefSpec) -> bool {
    at.hash.as_deref() == Some(NO_ANCESTOR_HASH)
}

/// The commits before the first whose hash is wanted; `None` when there is none.
fn until(commits: &[CommitMetaV2], wanted: impl Fn(&str) -> bool) -> Option<Vec<CommitMetaV2>> {
    let place = commits.iter().position(|meta| meta.hash.as_deref().is_some_and(&wanted))?;
    Some(commits.iter().take(place).cloned().collect())
}

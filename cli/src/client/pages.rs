//! Listings read to their end, or to a limit, page by page.

use lochan_api_spec::nessie::model::{
    CommitMetaV2, DiffResponseV2, EntriesResponseV2, LogResponseV2, ReferencesResponse,
};
use lochan_api_spec::nessie::v2::trees::{
    GetAllReferences, GetCommitLog, GetDiff, GetEntries, get_all_references, get_commit_log, get_diff,
    get_entries,
};
use lochan_api_spec::syntax::RefSpec;

use super::{Client, Error};

/// Commits asked for at once; no server returns more.
const LOG_PAGE_MAX: usize = 250;

/// Keys or references asked for at once.
const LIST_PAGE_MAX: i32 = 1000;

impl Client {
    /// All references, branches before tags.
    pub async fn references(
        &self,
        mut query: get_all_references::Query,
    ) -> Result<ReferencesResponse<CommitMetaV2>, Error> {
        query.max_records = Some(LIST_PAGE_MAX);
        let mut all = self.ask::<GetAllReferences>(GetAllReferences::path(), &query).await?;
        while let Some(token) = next(all.has_more, &mut all.token) {
            query.page_token = Some(token);
            let page = self.ask::<GetAllReferences>(GetAllReferences::path(), &query).await?;
            (all.has_more, all.token) = (page.has_more, page.token);
            all.references.extend(page.references);
        }
        all.has_more = false;
        Ok(all)
    }

    /// The first references, as an ornament of something else: as many as one request brings.
    pub async fn some_references(&self) -> Result<ReferencesResponse<CommitMetaV2>, Error> {
        let query = get_all_references::Query { max_records: Some(LIST_PAGE_MAX), ..Default::default() };
        self.ask::<GetAllReferences>(GetAllReferences::path(), &query).await
    }

    /// The newest `most` commits; `has_more` says whether there are older ones.
    pub async fn log(
        &self,
        at: &RefSpec,
        mut query: get_commit_log::Query,
        most: usize,
    ) -> Result<LogResponseV2, Error> {
        let path = GetCommitLog::path(at);
        let size = |left: usize| i32::try_from(left.clamp(1, LOG_PAGE_MAX)).ok();
        query.max_records = size(most);
        let mut all = self.ask::<GetCommitLog>(path.clone(), &query).await?;
        while all.log_entries.len() < most
            && let Some(token) = next(all.has_more, &mut all.token)
        {
            query.page_token = Some(token);
            query.max_records = size(most - all.log_entries.len());
            let page = self.ask::<GetCommitLog>(path.clone(), &query).await?;
            (all.has_more, all.token) = (page.has_more, page.token);
            all.log_entries.extend(page.log_entries);
        }
        if all.log_entries.len() > most {
            all.log_entries.truncate(most);
            all.has_more = true;
        }
        Ok(all)
    }

    /// All keys of a state that the query lets through.
    pub async fn entries(
        &self,
        at: &RefSpec,
        mut query: get_entries::Query,
    ) -> Result<EntriesResponseV2, Error> {
        query.max_records = Some(LIST_PAGE_MAX);
        let mut all = self.ask::<GetEntries>(GetEntries::path(at), &query).await?;
        // Later pages read the state of the first one, whatever was committed since.
        let pinned = pin(at, all.effective_reference.hash.as_deref());
        while let Some(token) = next(all.has_more, &mut all.token) {
            query.page_token = Some(token);
            let page = self.ask::<GetEntries>(GetEntries::path(&pinned), &query).await?;
            (all.has_more, all.token) = (page.has_more, page.token);
            all.entries.extend(page.entries);
        }
        all.has_more = false;
        Ok(all)
    }

    /// All keys that differ between two states.
    pub async fn diff(
        &self,
        from: &RefSpec,
        to: &RefSpec,
        mut query: get_diff::Query,
    ) -> Result<DiffResponseV2, Error> {
        query.max_records = Some(LIST_PAGE_MAX);
        let mut all = self.ask::<GetDiff>(GetDiff::path(from, to), &query).await?;
        let pinned_from = pin(from, all.effective_from_reference.hash.as_deref());
        let pinned_to = pin(to, all.effective_to_reference.hash.as_deref());
        while let Some(token) = next(all.has_more, &mut all.token) {
            query.page_token = Some(token);
            let page = self.ask::<GetDiff>(GetDiff::path(&pinned_from, &pinned_to), &query).await?;
            (all.has_more, all.token) = (page.has_more, page.token);
            all.diffs.extend(page.diffs);
        }
        all.has_more = false;
        Ok(all)
    }
}

/// The token of the next page. It is taken out, so that a server that forgets to send a new one ends the listing.
fn next(has_more: bool, token: &mut Option<String>) -> Option<String> {
    let token = token.take();
    if has_more { token } else { None }
}

fn pin(at: &RefSpec, hash: Option<&str>) -> RefSpec {
    match (&at.name, hash) {
        (Some(name), Some(hash)) => RefSpec::at(name.clone(), hash),
        (None, Some(hash)) => RefSpec::detached(hash),
        (_, None) => at.clone(),
    }
}

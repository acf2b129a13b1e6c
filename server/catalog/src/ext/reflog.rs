//! Changes of references, newest first.

pub use lochan_storage_engine::history::Place;
use lochan_storage_model::{Micros, RefName};
pub use lochan_storage_odb::{RefLogEntry, RefOperation};

use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
};

/// Most entries of one page.
pub const PAGE_ENTRIES_MAX: usize = 1_000;
/// Most entries looked at for one page: one whose filters let little through ends early, and says where to go on.
pub const SCAN_ENTRIES_MAX: usize = 50_000;
/// Names asked about at once.
const CHUNK_NAMES: usize = 256;

/// A page asked for. Filters are joined by "and".
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Changes of this reference only.
    pub name: Option<String>,
    /// Changes of these kinds only; empty for all.
    pub operations: Vec<RefOperation>,
    /// Changes by this principal only.
    pub principal: Option<String>,
    /// Changes at or after this time only.
    pub since: Option<Micros>,
    /// Changes at or before this time only.
    pub until: Option<Micros>,
    /// Most entries; never more than [`PAGE_ENTRIES_MAX`].
    pub size: usize,
    /// The last entry of the page before.
    pub after: Option<Place>,
}

/// A page of changes.
#[derive(Debug, Clone)]
pub struct Page {
    /// The changes, newest first.
    pub entries: Vec<RefLogEntry>,
    /// The last entry looked at, where there may be more.
    pub next: Option<Place>,
}

impl Catalog {
    /// A page of the ref log: of one reference, or of all that the principal may view. Deleted ones keep their logs.
    pub async fn reflog(&self, who: &Principal, query: &Query) -> Result<Page, Error> {
        let names = match &query.name {
            Some(name) => vec![self.logged_reference(who, name).await?],
            None => self.logged_references(who).await?,
        };
        let mut log = self.engine().reflog(names, query.after.as_ref(), query.until).await?;
        let size = query.size.clamp(1, PAGE_ENTRIES_MAX);
        let mut page = Page { entries: Vec::new(), next: None };
        let mut last: Option<Place> = None;
        for _ in 0..SCAN_ENTRIES_MAX {
            tokio::task::consume_budget().await;
            let Some(entry) = log.next().await? else { return Ok(page) };
            if query.since.is_some_and(|since| entry.time < since) {
                return Ok(page);
            }
            // Only where a further entry exists does a page say that there is more.
            if page.entries.len() == size {
                page.next = last;
                return Ok(page);
            }
            last = Some(Place::of(&entry));
            let fits = (query.operations.is_empty() || query.operations.contains(&entry.operation))
                && query.principal.as_ref().is_none_or(|principal| *principal == entry.principal);
            if fits {
                page.entries.push(entry);
            }
        }
        page.next = last;
        Ok(page)
    }

    /// The name of a reference that has a log, existing or not.
    pub(super) async fn logged_reference(&self, who: &Principal, name: &str) -> Result<RefName, Error> {
        let asked = RefName::new(name).ok();
        self.authorize(who, &Check::on(Access::ViewReference, asked.as_ref())).await?;
        let not_found = || Error::ReferenceNotFound(format!("Named reference '{name}' not found"));
        let asked = asked.ok_or_else(not_found)?;
        if self.engine().ref_log(&asked, None, 1).await?.is_empty() { Err(not_found()) } else { Ok(asked) }
    }

    /// The names of all references that have a log and may be viewed.
    async fn logged_references(&self, who: &Principal) -> Result<Vec<RefName>, Error> {
        let mut all = Vec::new();
        let mut after: Option<RefName> = None;
        loop {
            let names = self.engine().store().ref_log_names(after.as_ref(), CHUNK_NAMES).await?;
            let Some(last) = names.last().cloned() else { break };
            let check = names
                .iter()
                .fold(Check::default(), |check, name| check.and(Access::ViewReference, Some(name)));
            let visible = self.visible(who, &check).await?;
            all.extend(names.into_iter().zip(visible).filter(|(_, visible)| *visible).map(|(name, _)| name));
            after = Some(last);
        }
        if after.is_none() {
            // An empty list is an answer too, to those who may see references at all.
            self.authorize(who, &Check::on(Access::ViewReference, None)).await?;
        }
        Ok(all)
    }
}

//! The commit log.

pub use lochan_storage_engine::history::LogEntry;
use lochan_storage_model::{Content, ContentId, ContentKey, Operation as Stored, RefName};

use super::{
    Hash, Page, Point,
    filter::{Kind, values},
    page::Filling,
};
use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
    point::Effective,
};

/// Most commits of one page, whatever is asked.
pub const PAGE_COMMITS_MAX: usize = 250;

/// A log asked for.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// Whether operations are filled in.
    pub operations: bool,
    /// The last commit to show; relative parts count from the head.
    pub oldest: Option<Point>,
    /// A filter expression.
    pub filter: Option<String>,
    /// Most commits of a page; never more than [`PAGE_COMMITS_MAX`].
    pub size: Option<usize>,
    /// Where to begin, instead of at the point itself.
    pub from: Option<Point>,
}

/// A commit of the log.
#[derive(Debug, Clone)]
pub struct Logged {
    /// The commit.
    pub entry: LogEntry,
    /// Deletes, then puts, each in key order; `None` when not asked for or when there are none.
    pub operations: Option<Vec<Operation>>,
}

/// What a commit did to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// The key holds this from then on.
    Put {
        /// The key.
        key: ContentKey,
        /// Id of the content.
        id: ContentId,
        /// The content.
        content: Content,
    },
    /// The key holds nothing from then on.
    Delete(ContentKey),
}

impl Operation {
    /// The key.
    #[must_use]
    pub const fn key(&self) -> &ContentKey {
        match self {
            Self::Put { key, .. } | Self::Delete(key) => key,
        }
    }
}

impl Catalog {
    /// A page of the log, newest first, along first parents.
    pub async fn commit_log(
        &self,
        who: &Principal,
        point: &Point,
        query: &Query,
    ) -> Result<(Effective, Page<Logged, lochan_storage_model::CommitId>), Error> {
        let mut rights = self.rights_on(point, None).await?;
        if let Some(from) = &query.from
            && self.rights_on(from, None).await? != rights
        {
            // A token can be made by anybody, and name any commit.
            rights = None;
        }
        self.authorize(who, &Check::on(Access::ListCommitLog, rights.as_ref())).await?;
        // Where a page goes on stands for where the log begins.
        let effective = match &query.from {
            Some(from) => self.resolve_point(from, "Token pagination hash").await?,
            None => self.resolve_point(point, "Youngest hash").await?,
        };
        let oldest = match &query.oldest {
            // A plain commit only ends the walk; whether it exists matters to nobody.
            Some(Point { hash: Some(Hash::Id(id)), parts, .. }) if parts.is_empty() => Some(*id),
            Some(Point { hash: Some(short @ Hash::Short(_)), parts, .. }) if parts.is_empty() => {
                short.check()?;
                None
            }
            Some(oldest) => Some(self.resolve_point(oldest, "Oldest hash").await?.commit),
            None => None,
        };
        let start = self.existing(&Hash::Id(effective.commit)).await?;
        let filter = self.filters().compile(Kind::Commits, query.filter.as_deref())?;
        let size = query.size.map_or(PAGE_COMMITS_MAX, |size| size.min(PAGE_COMMITS_MAX));
        let mut page = Filling::new(Some(size));
        let mut log = self.engine().log(start);
        while !page.is_done() {
            tokio::task::consume_budget().await;
            let Some(entry) = log.next().await? else { break };
            let id = entry.id;
            if Some(id) == oldest && page.is_full() {
                // As the reference server: the last commit to show never stands alone on a page.
                break;
            }
            let operations =
                if query.operations { self.operations(who, rights.as_ref(), &entry).await? } else { None };
            let logged = Logged { entry, operations };
            let accepted = match &filter {
                Some(filter) => filter.accepts(&values::Logged(&logged))?,
                None => true,
            };
            if accepted {
                page.push(logged);
            }
            if Some(id) == oldest {
                break;
            }
        }
        let (items, next) = page.finish();
        Ok((effective, Page { items, next: next.map(|logged| logged.entry.id) }))
    }

    /// The operations of a commit on contents that the principal may see.
    async fn operations(
        &self,
        who: &Principal,
        rights: Option<&RefName>,
        entry: &LogEntry,
    ) -> Result<Option<Vec<Operation>>, Error> {
        let mut operations = Vec::with_capacity(entry.commit.operations.len());
        for stored in &entry.commit.operations {
            if let (Stored::Delete(_), Some(key)) = (stored, stored.key().content()) {
                operations.push(Operation::Delete(key));
            }
        }
        for stored in &entry.commit.operations {
            if let (Some(entry), Some(key)) = (stored.entry(), stored.key().content()) {
                let content = self.engine().content_of(entry).await?;
                operations.push(Operation::Put { key, id: entry.content_id, content });
            }
        }
        if operations.is_empty() {
            return Ok(None);
        }
        let check = operations.iter().fold(Check::default(), |check, operation| {
            let content_type = match operation {
                Operation::Put { content, .. } => Some(content.content_type()),
                Operation::Delete(_) => None,
            };
            check.and_key(Access::ReadContentKey, rights, operation.key(), content_type)
        });
        let visible = self.visible(who, &check).await?;
        let seen: Vec<Operation> = operations
            .into_iter()
            .zip(visible)
            .filter(|(_, visible)| *visible)
            .map(|(seen, _)| seen)
            .collect();
        Ok(if seen.is_empty() { None } else { Some(seen) })
    }
}

//! The whole repository as it stood at one moment, read piece by piece.

use std::sync::Arc;

pub use lochan_storage_engine::transfer::Snapshot;
use lochan_storage_engine::{history::LogEntry, transfer::Inventory};
use lochan_storage_model::{
    CommitId, Content, ContentId, ContentKey, Micros, ObjectId, ObjectKind, Operation as Stored, RefName,
    SystemPath, key::DomainKey,
};
use lochan_storage_odb::{RefLogEntry, StoreError};
use tokio::sync::{OnceCell, OwnedSemaphorePermit};

use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
};

/// Log entries read at once.
const CHUNK_ENTRIES: usize = 256;

/// An export at work. It shows one moment, whatever is written meanwhile, and goes on from any place of it.
pub struct Export {
    catalog: Catalog,
    at: Micros,
    inventory: OnceCell<Arc<Inventory>>,
    _permit: OwnedSemaphorePermit,
}

/// A commit with everything that it brought.
#[derive(Debug, Clone)]
pub struct Exported {
    /// The commit.
    pub entry: LogEntry,
    /// Its operations, in its own order.
    pub operations: Vec<Operation>,
    /// Its attachments.
    pub attachments: Vec<(ObjectId, bytes::Bytes)>,
}

/// What a commit did to a key of either domain.
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
    /// A value of the system map, canonical JSON; `None` removes it.
    System(SystemPath, Option<String>),
}

impl Catalog {
    /// Begins an export of this moment, or goes on with one of the moment `at`.
    pub async fn export(&self, who: &Principal, at: Option<Micros>) -> Result<Export, Error> {
        self.authorize(who, &Check::on(Access::ExportRepository, None)).await?;
        let permit = self.transfers().begin_export()?;
        let at = match at {
            Some(at) if at > self.engine().now() => {
                return Err(Error::BadRequest("the position to go on from lies in the future".into()));
            }
            Some(at) => at,
            None => self.engine().moment().await?,
        };
        Ok(Export { catalog: self.clone(), at, inventory: OnceCell::new(), _permit: permit })
    }

    /// Identity of the repository, once it is prepared.
    pub async fn repository_id(&self) -> Result<Option<String>, Error> {
        Ok(self.about().await?.map(|about| about.id))
    }
}

impl Export {
    /// The moment that it shows.
    #[must_use]
    pub const fn at(&self) -> Micros {
        self.at
    }

    /// The references, by name. The first call finds out what stood at the moment, which takes a walk over all commits.
    pub async fn references(&self) -> Result<&[Snapshot], Error> {
        Ok(self.inventory().await?.references())
    }

    /// How many references and commits there are.
    pub async fn counts(&self) -> Result<(u64, u64), Error> {
        let inventory = self.inventory().await?;
        Ok((inventory.references().len() as u64, inventory.commits()))
    }

    /// At most `limit` commits from the place `from` on, parents before children; none at the end.
    pub async fn commits(&self, from: u64, limit: usize) -> Result<Vec<Exported>, Error> {
        let found = self.inventory().await?.read(self.catalog.engine(), from, limit).await?;
        let mut exported = Vec::with_capacity(found.len());
        for entry in found {
            exported.push(self.fill(entry).await?);
        }
        Ok(exported)
    }

    /// Changes of references up to the moment, by name and number, behind the place `after`: a few at a time, none at the end.
    pub async fn log_entries(&self, after: Option<(&RefName, u64)>) -> Result<Vec<RefLogEntry>, Error> {
        let engine = self.catalog.engine();
        if let Some((name, number)) = after {
            let more = engine.ref_log_up_to(name, self.at, number, CHUNK_ENTRIES).await?;
            if !more.is_empty() {
                return Ok(more);
            }
        }
        let mut last = after.map(|(name, _)| name.clone());
        loop {
            let names = engine.store().ref_log_names(last.as_ref(), 1).await?;
            let Some(name) = names.into_iter().next() else { return Ok(Vec::new()) };
            // A log whose old entries were let go of begins later than with 1.
            let mut first = 0;
            if let Some(newest) = engine.ref_log(&name, None, 1).await?.pop() {
                while first < newest.number {
                    let found = engine.ref_log_up_to(&name, self.at, first, CHUNK_ENTRIES).await?;
                    if !found.is_empty() {
                        return Ok(found);
                    }
                    first += CHUNK_ENTRIES as u64;
                }
            }
            last = Some(name);
        }
    }

    /// Told that everything was read: what was kept for going on is let go of.
    pub fn finish(&self) {
        self.catalog.transfers().let_go(self.at);
    }

    async fn inventory(&self) -> Result<&Arc<Inventory>, Error> {
        let make = || async {
            if let Some(kept) = self.catalog.transfers().kept(self.at) {
                return Ok(kept);
            }
            let made = Arc::new(self.catalog.engine().inventory(self.at).await?);
            self.catalog.transfers().keep(made.clone());
            Ok(made)
        };
        self.inventory.get_or_try_init(make).await
    }

    async fn fill(&self, entry: LogEntry) -> Result<Exported, Error> {
        let engine = self.catalog.engine();
        let mut operations = Vec::with_capacity(entry.commit.operations.len());
        for stored in &entry.commit.operations {
            let key = stored.key().decode();
            let key = key.map_err(|error| StoreError::undecodable(format!("commit {}", entry.id), &error))?;
            operations.push(match (key, stored) {
                (DomainKey::Content(key), Stored::Delete(_)) => Operation::Delete(key),
                (DomainKey::Content(key), Stored::Put(put)) => {
                    let content = engine.content_of(&put.entry).await?;
                    Operation::Put { key, id: put.entry.content_id, content }
                }
                (DomainKey::System(path), Stored::Delete(_)) => Operation::System(path, None),
                (DomainKey::System(path), Stored::Put(put)) => {
                    Operation::System(path, Some(json_of(engine.content_of(&put.entry).await?, entry.id)?))
                }
            });
        }
        let mut attachments = Vec::with_capacity(entry.commit.attachments.len());
        for id in &entry.commit.attachments {
            let missing = || StoreError::Corrupt {
                what: format!("attachment {id}"),
                detail: format!("it is missing, though commit {} names it", entry.id),
            };
            let bytes = engine.store().object(ObjectKind::Attachment, *id).await?.ok_or_else(missing)?;
            attachments.push((*id, bytes));
        }
        Ok(Exported { entry, operations, attachments })
    }
}

fn json_of(content: Content, commit: CommitId) -> Result<String, Error> {
    let text = match content {
        Content::System(json) => String::from_utf8(json).ok(),
        _ => None,
    };
    let detail = "a value of the system map is no JSON".to_owned();
    text.ok_or_else(|| StoreError::Corrupt { what: format!("commit {commit}"), detail }.into())
}

//! From new metadata to a commit: the files first, each written once, then one commit with everything.

use std::sync::Arc;

use bytes::Bytes;
use futures::{FutureExt, StreamExt, future::join_all, stream};
use lochan_storage_engine::{
    Error as EngineError,
    commit::{Committed, GivenId, Operation, Request},
};
use lochan_storage_files::{Location, Warehouse};
use lochan_storage_iceberg::{
    naming::{is_gzip_name, next_metadata_location},
    parts::PartId,
    table,
};
use lochan_storage_model::{CommitId, Content, ContentId, ContentKey, Entry, RefName};
use lochan_storage_odb::NewObject;
use uuid::Uuid;

use super::{
    Iceberg,
    author::Author,
    documents::{Body, Document, gzip, row, split},
};
use crate::error::Error;

/// Rounds against commits of native clients and other servers; our own writers wait in line.
pub(super) const ROUNDS_MAX: usize = 6;
/// Files written at once by one request.
const WRITES_AT_ONCE: usize = 16;

/// A new state of a table or view, not yet written.
pub(super) struct Draft {
    pub(super) key: ContentKey,
    /// The content id kept; `None` for something new.
    pub(super) id: Option<ContentId>,
    pub(super) document: Arc<Document>,
    pub(super) location: Location,
    warehouse: Warehouse,
    file: Bytes,
    root: PartId,
    objects: Vec<NewObject>,
}

impl Draft {
    /// The word of the change for a commit message.
    pub(super) fn message(&self) -> String {
        let verb = if self.id.is_some() { "Update" } else { "Create" };
        let kind = match self.document.body {
            Body::Table(_) => "ICEBERG_TABLE",
            Body::View(_) => "ICEBERG_VIEW",
        };
        format!("{verb} {kind} {}", self.key)
    }

    /// The content id once it has landed.
    pub(super) fn content_id(&self, committed: &Committed) -> ContentId {
        let added = committed.added.iter().find(|(key, _)| *key == self.key).map(|(_, id)| *id);
        self.id.or(added).unwrap_or(ContentId::NONE)
    }
}

/// What one commit shall do.
pub(super) struct Publication {
    pub(super) branch: RefName,
    /// The state that everything was decided on.
    pub(super) expected: CommitId,
    pub(super) drafts: Vec<Draft>,
    /// Operations beside those of the drafts.
    pub(super) operations: Vec<Operation>,
    pub(super) message: String,
}

impl Publication {
    /// One document on the state at `expected`, with the message that tells of it.
    pub(super) fn of(branch: &RefName, expected: CommitId, draft: Draft) -> Self {
        let message = draft.message();
        Self { branch: branch.clone(), expected, drafts: vec![draft], operations: Vec::new(), message }
    }
}

/// What became of it.
pub(super) enum Published {
    /// It is in history.
    Landed(Committed, Vec<Draft>),
    /// Somebody else was faster; nothing was applied and no file is left. What that would be answered with.
    Lost(Error),
}

impl Iceberg<'_> {
    /// A draft of `body` for a key that holds `entry`, whose document is `base` at its location.
    pub(super) fn draft(
        &self,
        key: ContentKey,
        entry: Option<&Entry>,
        base: Option<(&str, &Document)>,
        body: Body,
    ) -> Result<Draft, Error> {
        let (own_location, properties) = match &body {
            Body::Table(table) => (table.location(), table.properties()),
            Body::View(view) => (view.location(), view.properties()),
        };
        let previous = base.map(|(location, _)| location);
        let name = next_metadata_location(own_location, previous, self.new_uuid(), properties);
        let (location, warehouse) = self.allowed_location(&name)?;
        let json = Bytes::from(body.to_json());
        let split = split(&json, base.map(|(_, document)| document))?;
        let file = if is_gzip_name(&name) { gzip(&json)? } else { json.clone() };
        Ok(Draft {
            key,
            id: entry.map(|entry| entry.content_id),
            document: Arc::new(Document { body, json_bytes: json.len() as u64, parts: split.parts }),
            location,
            warehouse,
            file,
            root: split.root,
            objects: split.objects,
        })
    }

    /// Writes the files and makes the commit.
    ///
    /// On any certain failure the files are deleted again. [`Error::Unknown`] leaves them, for the commit may name them.
    pub(super) async fn publish(
        &self,
        author: &Author,
        publication: Publication,
    ) -> Result<Published, Error> {
        let Publication { branch, expected, drafts, operations, message } = publication;
        // The engine asks both again before it admits the commit.
        author.principal.admission.check()?;
        self.engine().check_writes()?;
        self.write_files(&drafts).await?;
        let mut request = Request::new(branch.clone(), expected, author.meta(message), author.who());
        request.operations = operations;
        for draft in &drafts {
            request.operations.push(Operation::Put {
                key: draft.key.clone(),
                content: content(&draft.document.body, draft.location.as_str()),
                id: draft.id.map_or(GivenId::New, GivenId::Id),
            });
            request.objects.extend(draft.objects.iter().cloned());
            request.derived.push(row(draft.location.as_str(), &draft.root));
        }
        match self.engine().commit(request).await {
            Ok(committed) => {
                for draft in &drafts {
                    let location = draft.location.as_str();
                    self.documents().parsed.insert(location.to_owned(), draft.document.clone());
                    self.note_change(&branch, &draft.key, location, committed.head);
                }
                Ok(Published::Landed(committed, drafts))
            }
            Err(error) if error.is_unknown() => Err(error.into()),
            Err(error) => {
                delete_files(&drafts).await;
                match error {
                    EngineError::Conflicts(_)
                    | EngineError::NotOnBranch { .. }
                    | EngineError::UnexpectedHash { .. }
                    | EngineError::ReferenceMoved(_) => Ok(Published::Lost(error.into())),
                    error => Err(error.into()),
                }
            }
        }
    }

    async fn write_files(&self, drafts: &[Draft]) -> Result<(), Error> {
        let writes: Vec<_> = drafts
            .iter()
            .map(|draft| {
                let (warehouse, location, file) =
                    (draft.warehouse.clone(), draft.location.clone(), draft.file.clone());
                async move { warehouse.create(&location, file).await }.boxed()
            })
            .collect();
        let written: Vec<_> = stream::iter(writes).buffered(WRITES_AT_ONCE).collect().await;
        match written.into_iter().find_map(Result::err) {
            None => Ok(()),
            Some(error) => {
                delete_files(drafts).await;
                Err(error.into())
            }
        }
    }

    /// A random uuid from the server's source of chance.
    pub(super) fn new_uuid(&self) -> Uuid {
        Uuid::from_bytes(*self.engine().rng().content_id().as_bytes())
    }

    /// Now, in milliseconds.
    pub(super) fn now_ms(&self) -> i64 {
        self.engine().now().div_euclid(1_000)
    }
}

/// Deletes files that no commit names. What cannot be deleted is left to the collector.
async fn delete_files(drafts: &[Draft]) {
    let deletes: Vec<_> = drafts
        .iter()
        .map(|draft| {
            let (warehouse, location) = (draft.warehouse.clone(), draft.location.clone());
            async move {
                if let Err(error) = warehouse.delete(&location).await {
                    let location = location.as_str();
                    tracing::warn!(location, %error, "a superfluous metadata file could not be deleted");
                }
            }
            .boxed()
        })
        .collect();
    join_all(deletes).await;
}

/// The content that stands for a document.
pub(super) fn content(body: &Body, location: &str) -> Content {
    match body {
        Body::Table(metadata) => {
            let summary = table::summary(metadata);
            Content::IcebergTable {
                metadata_location: location.to_owned(),
                snapshot_id: summary.snapshot_id,
                schema_id: summary.schema_id,
                spec_id: summary.spec_id,
                sort_order_id: summary.sort_order_id,
            }
        }
        Body::View(metadata) => Content::IcebergView {
            metadata_location: location.to_owned(),
            version_id: metadata.current_version_id().into(),
            schema_id: metadata.current_schema_id(),
            sql_text: None,
            dialect: None,
        },
    }
}

//! Registering tables and views whose metadata files exist already; the files stay as they are.

use std::sync::Arc;

use lochan_storage_engine::commit::{Committed, GivenId, Operation};
use lochan_storage_model::{ContentId, ContentKey, RefName};

use super::{
    Iceberg, Snapshots, TableAnswer, ViewAnswer, actions,
    author::Author,
    documents::{Document, Kind},
    place::{Place, Target, content_type, require_parent, taken},
    publish::{Publication, Published, ROUNDS_MAX, content},
    seen::Seen,
    tables::given_up,
    views::view_answer,
};
use crate::error::{Error, ObjectKind};

/// What was registered.
struct Registered {
    branch: RefName,
    document: Arc<Document>,
    committed: Committed,
    content_id: ContentId,
}

impl Iceberg<'_> {
    /// Adds a table whose metadata lies at `location`; with `overwrite`, in place of a table of that name.
    pub async fn register_table(
        &self,
        author: &Author,
        place: &Place,
        target: &Target,
        location: &str,
        overwrite: bool,
    ) -> Result<TableAnswer, Error> {
        let done = self.register(author, place, target, location, overwrite, ObjectKind::Table).await?;
        let seen = Seen {
            location,
            content_id: done.content_id,
            reference: Some(&done.branch),
            commit: done.committed.head,
            snapshots: Snapshots::All,
        };
        self.table_answer(&seen, &done.document)
    }

    /// Adds a view whose metadata lies at `location`.
    pub async fn register_view(
        &self,
        author: &Author,
        place: &Place,
        target: &Target,
        location: &str,
    ) -> Result<ViewAnswer, Error> {
        let done = self.register(author, place, target, location, false, ObjectKind::View).await?;
        view_answer(location, &done.document)
    }

    async fn register(
        &self,
        author: &Author,
        place: &Place,
        target: &Target,
        location: &str,
        overwrite: bool,
        kind: ObjectKind,
    ) -> Result<Registered, Error> {
        let warehouse = self.warehouse_of(place)?;
        let wanted = content_type(kind);
        let (branch, key) = self.admit_new(author, &warehouse, target, wanted, &[actions::REGISTER]).await?;
        let _turns = self.documents().lines.wait(&branch, std::slice::from_ref(&key)).await?;
        let mut lost = None;
        for _ in 0..ROUNDS_MAX {
            let (_, state) = self.branch_head(&branch).await?;
            require_parent(&state, &key).await?;
            let entry = state.entry(&key.index_key()).await?;
            if let Some(entry) = &entry
                && !(overwrite && entry.content_type == wanted)
            {
                return Err(taken(kind, entry.content_type, &key));
            }
            let document = self.document_to_register(location, kind).await?;
            let id = entry.as_ref().map(|entry| entry.content_id);
            let publication = Publication {
                branch: branch.clone(),
                expected: state.commit(),
                drafts: Vec::new(),
                operations: vec![Operation::Put {
                    key: key.clone(),
                    content: content(&document.body, location),
                    id: id.map_or(GivenId::New, GivenId::Id),
                }],
                message: message(kind, &key, location),
            };
            match self.publish(author, publication).await? {
                Published::Landed(committed, _) => {
                    let added = committed.added.first().map(|(_, id)| *id);
                    let content_id = id.or(added).unwrap_or(ContentId::NONE);
                    self.note_change(&branch, &key, location, committed.head);
                    return Ok(Registered { branch, document, committed, content_id });
                }
                Published::Lost(error) => lost = Some(error),
            }
        }
        Err(given_up(lost))
    }

    /// A file that cannot be read is the request's mistake here, not something missing from the catalog.
    async fn document_to_register(&self, location: &str, kind: ObjectKind) -> Result<Arc<Document>, Error> {
        let kind = if kind == ObjectKind::View { Kind::View } else { Kind::Table };
        match self.document(location, kind).await {
            Err(error @ Error::MetadataMissing(_)) => Err(Error::BadRequest(error.to_string())),
            document => document,
        }
    }
}

fn message(kind: ObjectKind, key: &ContentKey, location: &str) -> String {
    let word = if kind == ObjectKind::View { "view" } else { "table" };
    format!("Register Iceberg {word} '{key}' from '{location}'")
}

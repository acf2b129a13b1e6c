//! Tables as clients see them: the document with its derived properties, settings, entity tag.

use bytes::Bytes;
use lochan_storage_files::Location;
use lochan_storage_iceberg::{
    properties::{COMMIT_ID, COMMIT_REF, CONTENT_ID, GC_ENABLED},
    table::{TableMetadata, refs_only},
};
use lochan_storage_model::{CommitId, ContentId, ObjectId, ObjectKind, RefName};

use super::{Iceberg, Snapshots, TableAnswer, answer::Config, documents::Document};
use crate::error::Error;

/// Characters of a tag's hash.
const TAG_CHARS: usize = 32;

/// A table at a state: everything its answer depends on.
pub(crate) struct Seen<'a> {
    pub(crate) location: &'a str,
    pub(crate) content_id: ContentId,
    pub(crate) reference: Option<&'a RefName>,
    /// The commit that last changed the table.
    pub(crate) commit: CommitId,
    pub(crate) snapshots: Snapshots,
}

impl Seen<'_> {
    /// Names the answer: whatever changes it, changes this.
    fn id(&self) -> ObjectId {
        let text = format!(
            "{}\n{}\n{}\n{}\n{}",
            self.location,
            self.content_id,
            self.reference.map_or("", RefName::as_str),
            self.commit,
            self.snapshots.word(),
        );
        ObjectId::of(ObjectKind::Attachment, text.as_bytes())
    }

    /// The entity tag, with its quotes. Equal tags mean equal answers of a server whose settings did not change.
    pub(crate) fn etag(&self) -> String {
        format!("\"{:.TAG_CHARS$}.{}\"", self.id(), self.snapshots.word())
    }
}

impl Iceberg<'_> {
    /// The answer for a table. Ready documents are kept, so that a big one is not written again for every load.
    pub(crate) fn table_answer(&self, seen: &Seen<'_>, document: &Document) -> Result<TableAnswer, Error> {
        let table = document.table()?;
        let id = *seen.id().as_bytes();
        let ready = &self.documents().rendered;
        let metadata = ready.get(&id).unwrap_or_else(|| {
            let metadata = Bytes::from(shown(table, seen).to_json());
            ready.insert(id, metadata.clone());
            metadata
        });
        Ok(TableAnswer {
            metadata_location: Some(seen.location.to_owned()),
            metadata,
            config: self.client_config(table.location()),
            etag: Some(seen.etag()),
        })
    }

    /// Settings for reaching files below a location: nothing where no warehouse of ours holds it.
    pub(crate) fn client_config(&self, location: &str) -> Config {
        let Ok(location) = Location::parse(location) else { return Config::new() };
        let owner = self.warehouses().owner_of(&location);
        owner.map_or_else(Config::new, |warehouse| warehouse.client_properties().into_iter().collect())
    }
}

fn shown(table: &TableMetadata, seen: &Seen<'_>) -> TableMetadata {
    let mut shown = match seen.snapshots {
        Snapshots::All => table.clone(),
        Snapshots::Refs => refs_only(table),
    };
    let properties = shown.properties_mut();
    properties.insert(CONTENT_ID.to_owned(), seen.content_id.to_string());
    properties.insert(COMMIT_ID.to_owned(), seen.commit.to_string());
    if let Some(reference) = seen.reference {
        properties.insert(COMMIT_REF.to_owned(), reference.to_string());
    }
    properties.entry(GC_ENABLED.to_owned()).or_insert_with(|| "false".to_owned());
    shown
}

//! Creating tables directly, or staging their creation.

use bytes::Bytes;
use lochan_storage_engine::state::State;
use lochan_storage_files::{Location, Warehouse};
use lochan_storage_iceberg::{
    properties::{CREATED_AT, GC_ENABLED, STAGED},
    table::{CreateTable, TableMetadata, create},
};
use lochan_storage_model::{ContentKey, ContentType, RefName};

use super::{
    Iceberg, Snapshots, TableAnswer, actions,
    author::Author,
    documents::Body,
    place::{Place, Target, name_key, require_parent, taken},
    publish::{Publication, Published, ROUNDS_MAX},
    seen::Seen,
    tables::given_up,
};
use crate::{
    access::{Access, Check},
    error::{Error, ObjectKind},
};

/// Folders that some engines expect of a table on disk.
const FOLDERS: [&str; 2] = ["metadata", "data"];

impl Iceberg<'_> {
    /// Creates a table, or only prepares its metadata when the request says so.
    pub async fn create_table(
        &self,
        author: &Author,
        place: &Place,
        target: &Target,
        request: &CreateTable,
    ) -> Result<TableAnswer, Error> {
        let warehouse = self.warehouse_of(place)?;
        let kind = ContentType::IcebergTable;
        let (branch, key) = self.admit_new(author, &warehouse, target, kind, &[actions::CREATE]).await?;
        let _turns = self.documents().lines.wait(&branch, std::slice::from_ref(&key)).await?;
        let uuid = self.new_uuid();
        let mut lost = None;
        for _ in 0..ROUNDS_MAX {
            let (_, state) = self.branch_head(&branch).await?;
            require_free(&state, &key, ObjectKind::Table).await?;
            let wanted = request.location.as_deref();
            let (location, owner) = self.new_location(&state, &warehouse, &key, wanted, uuid).await?;
            let mut metadata = create(request, uuid, location.as_str(), self.now_ms())?;
            self.complete(&mut metadata);
            owner.make_folders(&location, &FOLDERS).await?;
            if request.stage_create {
                return Ok(self.staged(metadata, &location));
            }
            let draft = self.draft(key.clone(), None, None, Body::Table(Box::new(metadata)))?;
            let publication = Publication::of(&branch, state.commit(), draft);
            match self.publish(author, publication).await? {
                Published::Landed(committed, drafts) => {
                    let Some(draft) = drafts.first() else { break };
                    let seen = Seen {
                        location: draft.location.as_str(),
                        content_id: draft.content_id(&committed),
                        reference: Some(&branch),
                        commit: committed.head,
                        snapshots: Snapshots::All,
                    };
                    return self.table_answer(&seen, &draft.document);
                }
                Published::Lost(error) => lost = Some(error),
            }
        }
        Err(given_up(lost))
    }

    /// Resolves the name of something new and asks whether it may be made.
    pub(super) async fn admit_new(
        &self,
        author: &Author,
        warehouse: &Warehouse,
        target: &Target,
        content_type: ContentType,
        actions: &[&'static str],
    ) -> Result<(RefName, ContentKey), Error> {
        let branch = self.writing(&target.point)?;
        let state = self.branch_of(&author.principal, &branch).await?;
        let key = name_key(&state, &target.name).await?;
        // Something may stand there that is to be replaced.
        let is_there = state.entry(&key.index_key()).await?.is_some();
        let access = if is_there { Access::UpdateContent } else { Access::CreateContent };
        let check = Check::on(Access::Commit, Some(&branch))
            .and_key(access, Some(&branch), &key, Some(content_type))
            .during(actions.iter().copied())
            .writing(warehouse.name(), author.bytes);
        self.authorize(&author.principal, &check).await?;
        Ok((branch, key))
    }

    /// What the catalog adds to the properties of a new table.
    fn complete(&self, metadata: &mut TableMetadata) {
        let created = chrono::DateTime::from_timestamp_millis(self.now_ms()).unwrap_or_default();
        let properties = metadata.properties_mut();
        let created = || created.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true);
        properties.entry(CREATED_AT.to_owned()).or_insert_with(created);
        properties.entry(GC_ENABLED.to_owned()).or_insert_with(|| "false".to_owned());
    }

    fn staged(&self, mut metadata: TableMetadata, location: &Location) -> TableAnswer {
        metadata.properties_mut().insert(STAGED.to_owned(), "true".to_owned());
        TableAnswer {
            metadata_location: None,
            metadata: Bytes::from(metadata.to_json()),
            config: self.client_config(location.as_str()),
            etag: None,
        }
    }
}

/// Refuses a name that is taken, or whose namespace is missing.
pub(super) async fn require_free(state: &State, key: &ContentKey, kind: ObjectKind) -> Result<(), Error> {
    require_parent(state, key).await?;
    match state.entry(&key.index_key()).await? {
        None => Ok(()),
        Some(entry) => Err(taken(kind, entry.content_type, key)),
    }
}

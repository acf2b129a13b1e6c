//! Taking a part: its references are kept for the end, its commits made again, all in one batch with the place reached.

use std::collections::{BTreeMap, HashMap};

use lochan_storage_engine::{
    Error as EngineError,
    index::Edit,
    transfer::{Graft, Grafting},
};
use lochan_storage_model::{CommitId, Content, ContentId, Entry, IndexKey, ObjectId, ObjectKind};
use lochan_storage_odb::NewObject;

use super::{
    Commit, Import, Operation, Part, Progress, REFERENCES_MAX, Refusal, SOURCE_HASH_PROPERTY, SourceId,
    State, wrong,
};
use crate::error::Error;

impl Import {
    /// Takes a part whose checks were good; `progress` is what the stream has come to with it. It is durable on return, or
    /// nothing of it was written.
    pub async fn take(&mut self, part: Part, progress: Progress) -> Result<(), Error> {
        let kept = self.kept()?.clone();
        if progress.references > REFERENCES_MAX {
            return Err(wrong(format!("the stream has more than {REFERENCES_MAX} references")));
        }
        if progress.parts != kept.state.progress.parts + 1 {
            return Err(wrong(format!("part {} is not the next one", progress.parts)));
        }
        let mut state = State { progress, ..kept.state.clone() };
        let mut records = self.keep_references(&state, &part.references).await?;
        let mut grafting = self.catalog.engine().graft();
        for (id, bytes) in part.attachments {
            if ObjectId::of(ObjectKind::Attachment, &bytes) != id {
                return Err(wrong(format!("attachment {id} is damaged: its bytes have another hash")));
            }
            grafting.add_object(NewObject { kind: ObjectKind::Attachment, id, bytes });
        }
        let mut made: HashMap<SourceId, CommitId> = HashMap::with_capacity(part.commits.len());
        for commit in part.commits {
            let old = commit.id.clone();
            let (new, raised) = self.make(&state, &mut grafting, &made, commit).await?;
            state.times_raised += u64::from(raised);
            if made.insert(old.clone(), new).is_some() {
                return Err(wrong(format!("commit {old} stands in the stream twice")));
            }
            if !state.keeps_hashes() {
                records.push(self.add_commit(&old, new));
            }
            tokio::task::consume_budget().await;
        }
        records.push(kept.change_to(&self.id, &state)?);
        grafting.store(records).await.map_err(|error| match error {
            EngineError::RecordChanged => self.overtaken(),
            error => error.into(),
        })?;
        self.kept = Some(kept.changed_to(state));
        Ok(())
    }

    /// Somebody else has moved this import on, or the stream holds a reference or commit a second time.
    fn overtaken(&self) -> Error {
        let message = format!(
            "the import '{}' was moved on by another request, or the stream holds a reference or commit twice",
            self.id
        );
        Refusal::ImportConflict { message }.into()
    }

    /// Makes a commit on the ones that stand here for its parents.
    async fn make(
        &self,
        state: &State,
        grafting: &mut Grafting,
        made: &HashMap<SourceId, CommitId>,
        commit: Commit,
    ) -> Result<(CommitId, bool), Error> {
        let Commit { id: old, parents: old_parents, time, mut meta, attachments, operations } = commit;
        let mut parents = Vec::with_capacity(old_parents.len().max(1));
        for parent in &old_parents {
            let found = match made.get(parent) {
                Some(found) => Some(*found),
                None => self.find_commit(state, parent).await?,
            };
            parents.push(found.ok_or_else(|| {
                wrong(format!("commit {old} has the parent {parent}, which did not come before it"))
            })?);
        }
        if parents.is_empty() {
            parents.push(CommitId::NO_ANCESTOR);
        }
        let most = lochan_storage_model::commit::PARENTS_MAX;
        if parents.len() > most {
            return Err(wrong(format!("commit {old} has more than {most} parents")));
        }
        if !state.keeps_hashes() {
            let hashes = meta.properties.entry(SOURCE_HASH_PROPERTY.to_owned()).or_default();
            hashes.insert(0, old.to_string());
        }
        let (edits, objects) = edits(state, &old, operations)?;
        let graft = Graft { parents, time, meta, attachments, edits, objects };
        let grafted = grafting.add(graft).await?;
        if state.keeps_hashes() && old.own() != Some(grafted.id) {
            return Err(wrong(format!(
                "commit {old} is damaged: made again from the stream it has the hash {}",
                grafted.id
            )));
        }
        Ok((grafted.id, grafted.raised))
    }
}

/// The changes of the index that a commit's operations come to, and the objects they need.
fn edits(
    state: &State,
    commit: &SourceId,
    operations: Vec<Operation>,
) -> Result<(Vec<Edit>, Vec<NewObject>), Error> {
    let mut edits: BTreeMap<IndexKey, Option<Entry>> = BTreeMap::new();
    let mut objects = Vec::new();
    for operation in operations {
        let (key, held) = match operation {
            Operation::Put { key, id, content } => {
                let id = content_id(state, commit, &id)?;
                (key.index_key(), Some(Entry::of(id, &content)))
            }
            Operation::Delete(key) => (key.index_key(), None),
            Operation::System(path, json) => {
                let held = json.map(|json| Entry::of(ContentId::NONE, &Content::System(json.into_bytes())));
                (path.index_key(), held)
            }
        };
        let entry = held.map(|(entry, object)| {
            objects.extend(object.map(|(id, bytes)| NewObject {
                kind: ObjectKind::Value,
                id,
                bytes: bytes.into(),
            }));
            entry
        });
        if edits.insert(key, entry).is_some() {
            return Err(wrong(format!("commit {commit} has two operations on one key")));
        }
    }
    Ok((edits.into_iter().map(|(key, entry)| Edit { key, entry }).collect(), objects))
}

/// The id of a content. Where another server gave one that is no UUID, a UUID is made of it, always the same.
fn content_id(state: &State, commit: &SourceId, text: &str) -> Result<ContentId, Error> {
    match text.parse::<ContentId>() {
        Ok(id) if id != ContentId::NONE && (!state.keeps_hashes() || id.to_string() == text) => Ok(id),
        _ if state.keeps_hashes() || text.is_empty() => {
            Err(wrong(format!("commit {commit} puts a content whose id is '{text}'")))
        }
        _ => {
            let hash = *ObjectId::of(ObjectKind::Value, text.as_bytes()).as_bytes();
            let (half, _) = hash.split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
            Ok(ContentId::from_bytes(uuid::Builder::from_custom_bytes(*half).into_uuid().into_bytes()))
        }
    }
}

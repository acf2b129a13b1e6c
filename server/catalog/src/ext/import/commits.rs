//! The table of old and new hashes: a record for each commit, `import/<id>/commit/` and its id at the source.

use bytes::Bytes;
use lochan_storage_model::{CommitId, ObjectId};
use lochan_storage_odb::{ExpectedRecord, RecordChange, RecordSpace, StoreError};

use super::{
    Import, Refusal, SourceId, State,
    state::{self, Kept},
};
use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
};

/// Most rows of one page.
pub const PAGE_ROWS_MAX: usize = 10_000;

/// A row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedCommit {
    /// The id at the source.
    pub old: SourceId,
    /// The id here.
    pub new: CommitId,
}

impl Catalog {
    /// Rows of an import's table by old id, at most `limit` behind `after`; empty where commits keep their hashes.
    pub async fn imported_commits(
        &self,
        who: &Principal,
        id: &str,
        after: Option<&SourceId>,
        limit: usize,
    ) -> Result<Vec<ImportedCommit>, Error> {
        self.authorize(who, &Check::on(Access::ImportRepository, None)).await?;
        super::check_id(id)?;
        if Kept::load(self, id).await?.is_none() {
            return Err(Refusal::ImportNotFound(id.to_owned()).into());
        }
        let prefix = prefix(id);
        let after = match after {
            Some(old) => row_key(id, old),
            None => prefix.clone(),
        };
        let limit = limit.min(PAGE_ROWS_MAX + 1);
        let rows = self.engine().store().records(RecordSpace::Cursor, Some(&after), limit).await?;
        let mut found = Vec::with_capacity(rows.len());
        for (key, record) in rows {
            let Some(old) = key.strip_prefix(prefix.as_ref()) else { break };
            let old = SourceId::new(old.to_vec()).ok_or_else(|| damaged(&key))?;
            found.push(ImportedCommit { old, new: commit_id(&key, &record.value)? });
        }
        Ok(found)
    }
}

impl Import {
    /// The commit that stands here for one of the source; `None` when it was not taken.
    pub(super) async fn find_commit(&self, state: &State, old: &SourceId) -> Result<Option<CommitId>, Error> {
        if old.is_no_ancestor() {
            return Ok(Some(CommitId::NO_ANCESTOR));
        }
        let engine = self.catalog.engine();
        if state.keeps_hashes() {
            let Some(own) = old.own() else { return Ok(None) };
            return Ok(engine.commits().find(own).await?.map(|_| own));
        }
        let key = row_key(&self.id, old);
        let Some(record) = engine.store().record(RecordSpace::Cursor, &key).await? else { return Ok(None) };
        commit_id(&key, &record.value).map(Some)
    }

    /// The change that adds a row.
    pub(super) fn add_commit(&self, old: &SourceId, new: CommitId) -> RecordChange {
        RecordChange {
            space: RecordSpace::Cursor,
            key: row_key(&self.id, old),
            expected: ExpectedRecord::Absent,
            value: Some(Bytes::copy_from_slice(new.as_bytes())),
        }
    }
}

fn prefix(id: &str) -> Bytes {
    state::rows(id, "commit/")
}

fn row_key(id: &str, old: &SourceId) -> Bytes {
    [prefix(id).as_ref(), old.as_bytes()].concat().into()
}

fn commit_id(key: &[u8], value: &[u8]) -> Result<CommitId, Error> {
    let bytes = <[u8; 32]>::try_from(value).map_err(|_| damaged(key))?;
    Ok(CommitId::new(ObjectId::from_bytes(bytes)))
}

fn damaged(key: &[u8]) -> Error {
    let what = format!("record {}", String::from_utf8_lossy(key));
    StoreError::Corrupt { what, detail: "it is no row of old and new hashes".to_owned() }.into()
}

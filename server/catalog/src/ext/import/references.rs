//! References of an import, kept until its end: a record for each, `import/<id>/ref/` and its name here.

use bytes::Bytes;
use lochan_storage_model::{CommitId, RefName};
use lochan_storage_odb::{ExpectedRecord, ExpectedReference, RecordChange, RecordSpace, RefKind, StoreError};
use serde::{Deserialize, Serialize};

use super::{Existing, Import, Reference, Refusal, SourceId, State, state, wrong};
use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
};

/// Records read at once.
const CHUNK_RECORDS: usize = 1_000;

/// A reference of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedReference {
    /// Its name here.
    pub name: RefName,
    /// Branch or tag.
    pub kind: RefKind,
    /// Where it was set; `None` where it was left as it was, and before the import is done.
    pub target: Option<CommitId>,
    /// The commit it points at, at the source.
    pub(super) source: SourceId,
}

#[derive(Serialize, Deserialize)]
struct Row {
    tag: bool,
    source: Vec<u8>,
    target: Option<[u8; 32]>,
}

/// What an import does with a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is set, from this state.
    Set(ExpectedReference),
    /// It is left as it is.
    Keep,
    /// It stands in the way.
    Refuse,
}

impl Catalog {
    /// The references of an import, by name.
    pub async fn imported_references(
        &self,
        who: &Principal,
        id: &str,
    ) -> Result<Vec<ImportedReference>, Error> {
        self.authorize(who, &Check::on(Access::ImportRepository, None)).await?;
        super::check_id(id)?;
        self.kept_references(id).await
    }

    pub(super) async fn kept_references(&self, id: &str) -> Result<Vec<ImportedReference>, Error> {
        let prefix = prefix(id);
        let mut after = prefix.clone();
        let mut all = Vec::new();
        loop {
            let rows =
                self.engine().store().records(RecordSpace::Cursor, Some(&after), CHUNK_RECORDS).await?;
            let full = rows.len() == CHUNK_RECORDS;
            for (key, record) in rows {
                let Some(name) = key.strip_prefix(prefix.as_ref()) else { return Ok(all) };
                all.push(decode(name, &record.value).ok_or_else(|| damaged(&key))?);
                after = key;
            }
            if !full {
                return Ok(all);
            }
        }
    }
}

impl Import {
    /// Checks the references of a part, and gives the changes that keep them until the end.
    pub(super) async fn keep_references(
        &self,
        state: &State,
        references: &[Reference],
    ) -> Result<Vec<RecordChange>, Error> {
        let mut changes = Vec::with_capacity(references.len());
        let mut check = Check::default();
        let mut in_the_way = Vec::new();
        for Reference { kind, name, target } in references {
            let name = format!("{}{name}", state.prefix);
            let name = RefName::for_creation(&name)
                .map_err(|error| wrong(format!("'{name}' cannot be the name of a reference: {error}")))?;
            match self.fate(state, &name, *kind).await? {
                Fate::Set(ExpectedReference::Absent) => {
                    check = check.and(Access::CreateReference, Some(&name));
                }
                Fate::Set(_) => check = check.and(Access::AssignReference, Some(&name)),
                Fate::Keep => {}
                Fate::Refuse => in_the_way.push(name.to_string()),
            }
            let reference = ImportedReference { name, kind: *kind, target: None, source: target.clone() };
            changes.push(self.reference_change(&reference, ExpectedRecord::Absent)?);
        }
        if !in_the_way.is_empty() {
            return Err(Refusal::ReferencesExist(in_the_way).into());
        }
        if !check.subjects.is_empty() {
            self.catalog.authorize(&self.who, &check).await?;
        }
        Ok(changes)
    }

    /// What becomes of a reference, as things stand.
    pub(super) async fn fate(&self, state: &State, name: &RefName, kind: RefKind) -> Result<Fate, Error> {
        let Some(found) = self.catalog.engine().find_reference(name).await? else {
            return Ok(Fate::Set(ExpectedReference::Absent));
        };
        let now = ExpectedReference::At(found.kind, found.target);
        // A branch at the empty state holds nothing that could be lost: a new server has its default branch there.
        let is_empty =
            found.target.is_no_ancestor() && found.kind == RefKind::Branch && kind == RefKind::Branch;
        Ok(match state.existing {
            _ if is_empty => Fate::Set(now),
            Existing::Refuse => Fate::Refuse,
            Existing::Keep => Fate::Keep,
            Existing::Move if found.kind == kind => Fate::Set(now),
            Existing::Move => Fate::Refuse,
        })
    }

    /// The change that keeps a reference.
    pub(super) fn reference_change(
        &self,
        reference: &ImportedReference,
        expected: ExpectedRecord,
    ) -> Result<RecordChange, Error> {
        let row = Row {
            tag: reference.kind == RefKind::Tag,
            source: reference.source.as_bytes().to_vec(),
            target: reference.target.map(|target| *target.as_bytes()),
        };
        let value = serde_json::to_vec(&row).map_err(|error| Error::Internal(error.into()))?;
        let key = [prefix(&self.id).as_ref(), reference.name.as_str().as_bytes()].concat().into();
        Ok(RecordChange { space: RecordSpace::Cursor, key, expected, value: Some(value.into()) })
    }
}

fn decode(name: &[u8], value: &[u8]) -> Option<ImportedReference> {
    let name = RefName::new(std::str::from_utf8(name).ok()?).ok()?;
    let row: Row = serde_json::from_slice(value).ok()?;
    let target = row.target.map(|bytes| CommitId::new(lochan_storage_model::ObjectId::from_bytes(bytes)));
    let kind = if row.tag { RefKind::Tag } else { RefKind::Branch };
    Some(ImportedReference { name, kind, target, source: SourceId::new(row.source)? })
}

fn prefix(id: &str) -> Bytes {
    state::rows(id, "ref/")
}

fn damaged(key: &[u8]) -> Error {
    let what = format!("record {}", String::from_utf8_lossy(key));
    StoreError::Corrupt { what, detail: "it is no reference of an import".to_owned() }.into()
}

//! Where an import stands, kept in a record: `import/<id>` among the runs.

use bytes::Bytes;
use lochan_storage_model::Micros;
use lochan_storage_odb::{ExpectedRecord, Record, RecordChange, RecordSpace};
use serde::{Deserialize, Serialize};

use super::{Import, Options, Refusal};
use crate::{catalog::Catalog, error::Error};

/// Format version of the record.
const FORMAT: u8 = 1;

/// Where a stream comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SourceKind {
    /// A Lochan server: commits keep their hashes.
    Lochan,
    /// Any other: commits get new ones.
    Nessie,
}

/// What happens to references that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Existing {
    /// The import fails.
    #[default]
    Refuse,
    /// They stay as they are.
    Keep,
    /// They are set to the imported commit.
    Move,
}

/// Whole parts taken, and what they held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Parts.
    pub parts: u64,
    /// Checksum of the last one; of the header line before the first.
    pub checksum: [u8; 32],
    /// References.
    pub references: u64,
    /// Commits.
    pub commits: u64,
    /// Log entries.
    pub log_entries: u64,
}

/// Where an import stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub(super) format: u8,
    /// Where the stream comes from.
    pub source: SourceKind,
    /// Who began it.
    pub principal: String,
    /// When it was begun.
    pub begun: Micros,
    /// Put in front of every reference's name.
    pub prefix: String,
    /// What happens to references that exist.
    pub existing: Existing,
    /// Parts taken.
    pub progress: Progress,
    /// Commits whose time was raised.
    pub times_raised: u64,
    /// Whether the stream has ended and its references are there.
    pub done: bool,
    /// Whether somebody has begun to drop it.
    #[serde(default)]
    pub(super) dropped: bool,
}

impl State {
    /// Whether commits keep their hashes.
    #[must_use]
    pub fn keeps_hashes(&self) -> bool {
        self.source == SourceKind::Lochan
    }

    /// What is being dropped does not go on.
    pub(super) fn check_not_dropped(&self, id: &str) -> Result<(), Error> {
        if self.dropped {
            let message = format!("the import '{id}' is being dropped; drop it again if that broke off");
            return Err(Refusal::ImportConflict { message }.into());
        }
        Ok(())
    }

    /// Options may be repeated, not changed.
    pub(super) fn check_options(&self, options: &Options) -> Result<(), Error> {
        let other_prefix = options.prefix.as_ref().is_some_and(|prefix| *prefix != self.prefix);
        let other_policy = options.existing.is_some_and(|existing| existing != self.existing);
        if other_prefix || other_policy {
            let message = "the import was begun with another prefix or policy".to_owned();
            return Err(Refusal::ImportConflict { message }.into());
        }
        Ok(())
    }
}

/// The state as it is stored.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) state: State,
    pub(super) version: u64,
}

impl Kept {
    pub(super) async fn load(catalog: &Catalog, id: &str) -> Result<Option<Self>, Error> {
        let record = catalog.engine().store().record(RecordSpace::Run, &key(id)).await?;
        record.as_ref().map(Self::read).transpose()
    }

    pub(super) fn read(record: &Record) -> Result<Self, Error> {
        let state: State = serde_json::from_slice(&record.value).map_err(|e| Error::Internal(e.into()))?;
        if state.format != FORMAT {
            return Err(Error::Unavailable(format!(
                "the import was begun by another version of this program (format {})",
                state.format
            )));
        }
        Ok(Self { state, version: record.version })
    }

    /// The change that stores `state` in place of this one.
    pub(super) fn change_to(&self, id: &str, state: &State) -> Result<RecordChange, Error> {
        change(id, ExpectedRecord::Version(self.version), state)
    }

    /// What is stored once that change has landed.
    pub(super) const fn changed_to(&self, state: State) -> Self {
        Self { state, version: self.version + 1 }
    }
}

impl Import {
    /// Tells it the header of its stream, once; for an import that goes on nothing is changed.
    pub async fn begin(&mut self, source: SourceKind, checksum: [u8; 32]) -> Result<(), Error> {
        if self.kept.is_some() {
            return Ok(());
        }
        let state = State {
            format: FORMAT,
            source,
            principal: self.who.name.clone(),
            begun: self.catalog.engine().now(),
            prefix: self.options.prefix.clone().unwrap_or_default(),
            existing: self.options.existing.unwrap_or_default(),
            progress: Progress { parts: 0, checksum, references: 0, commits: 0, log_entries: 0 },
            times_raised: 0,
            done: false,
            dropped: false,
        };
        if !self.catalog.change_record(change(&self.id, ExpectedRecord::Absent, &state)?).await? {
            let message = "another request has begun an import of this id meanwhile".to_owned();
            return Err(Refusal::ImportConflict { message }.into());
        }
        self.kept = Kept::load(&self.catalog, &self.id).await?;
        Ok(())
    }
}

fn change(id: &str, expected: ExpectedRecord, state: &State) -> Result<RecordChange, Error> {
    let value = serde_json::to_vec(state).map_err(|error| Error::Internal(error.into()))?;
    Ok(RecordChange { space: RecordSpace::Run, key: key(id), expected, value: Some(value.into()) })
}

const PREFIX: &str = "import/";

/// Key of the record of an import.
pub(super) fn key(id: &str) -> Bytes {
    format!("{PREFIX}{id}").into()
}

/// What the keys of the rows of an import begin with, beside its record; those of one `kind`, or all where that is empty.
pub(super) fn rows(id: &str, kind: &str) -> Bytes {
    format!("{PREFIX}{id}/{kind}").into()
}

/// The import whose record has this key.
pub(super) fn id_of(key: &[u8]) -> Option<String> {
    let id = key.strip_prefix(PREFIX.as_bytes())?;
    Some(String::from_utf8_lossy(id).into_owned())
}

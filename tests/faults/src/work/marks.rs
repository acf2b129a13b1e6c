//! What a program under test says, in order with what it does to the disk.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
};

use anyhow::{Context, Result};
use lochan_storage::Sweep;
use lochan_storage_odb::{RecordSpace, StoreError};
use serde::{Deserialize, Serialize};

use crate::disk::{Event, EventKind};

/// Most references and records of the work.
pub(super) const ROWS_MAX: usize = 1000;
/// Space of the records that the work writes.
pub(super) const SPACE: RecordSpace = RecordSpace::Run;

/// All references and records of a store. References lead to commits, commits to everything else, by hash.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Name to kind, target and number.
    pub references: BTreeMap<String, (String, String, u64)>,
    /// Key to version and value.
    pub records: BTreeMap<String, (u64, String)>,
}

impl State {
    /// Reads it.
    pub async fn read(store: &dyn Sweep) -> Result<Self, StoreError> {
        let references = store.references(None, ROWS_MAX).await?.into_iter();
        let references = references.map(|found| {
            (found.name.to_string(), (format!("{:?}", found.kind), found.target.to_string(), found.number))
        });
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let records = store.records(SPACE, None, ROWS_MAX).await?.into_iter();
        let records = records.map(|(key, record)| (text(&key), (record.version, text(&record.value))));
        Ok(Self { references: references.collect(), records: records.collect() })
    }

    /// The same without what `names` names.
    #[must_use]
    pub fn without(&self, names: &BTreeSet<String>) -> Self {
        let mut rest = self.clone();
        rest.references.retain(|name, _| !names.contains(name));
        rest.records.retain(|key, _| !names.contains(key));
        rest
    }
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Acknowledged.
    Done,
    /// Refused; nothing was applied.
    Refused,
    /// The answer was that nobody knows.
    Unknown,
}

/// One thing said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mark {
    /// The script begins an operation that may change these references and records.
    Begin {
        /// Names and keys.
        touches: BTreeSet<String>,
    },
    /// The script knows the state of the store.
    Known {
        /// How the operation before ended.
        outcome: Outcome,
        /// The state.
        state: State,
    },
    /// A writer of the crowd asks for its commit of this number.
    Ask {
        /// Which writer.
        writer: u64,
        /// Counts from 1.
        number: u64,
    },
    /// It was acknowledged.
    Acknowledged {
        /// Which writer.
        writer: u64,
        /// Counts from 1.
        number: u64,
    },
}

/// Says things.
#[derive(Debug)]
pub(super) struct Speaker(File);

impl Speaker {
    pub(super) fn open(path: &Path) -> Result<Self> {
        Ok(Self(OpenOptions::new().append(true).create(true).open(path)?))
    }

    pub(super) fn say(&self, mark: &Mark) -> Result<()> {
        let mut line = serde_json::to_vec(mark)?;
        line.push(b'\n');
        // One write, so that it is one event.
        Ok((&self.0).write_all(&line)?)
    }
}

/// The marks of a record, each with the place of its event.
pub fn marks(events: &[Event]) -> Result<Vec<(usize, Mark)>> {
    let mut found = Vec::new();
    for event in events {
        if let EventKind::Mark(text) = &event.kind {
            let mark = serde_json::from_str(text).with_context(|| format!("no mark: {text}"))?;
            found.push((event.at, mark));
        }
    }
    Ok(found)
}

//! The journal: batches are durable here first, and the engine takes them in later, many at once.
//!
//! The engine needs several writes, a dozen wake-ups and a sync for a batch, whatever its size. Here a batch is one write
//! and one sync of blocks that are already there. Two files are written in turn, each from its beginning once everything
//! in it has arrived in the engine.
//!
//! What is read back is believed only as a chain: each record names the sum of the one in front of it and a number that
//! nobody but its session knew. Rows hold what clients have made up, and files are written anew over old rows, so that
//! anything may stand behind the last record.

mod record;
mod turn;

#[cfg(test)]
mod tests;

use std::{
    fs::{File, OpenOptions},
    io,
    path::Path,
    sync::Arc,
};

pub(crate) use record::Record;

use crate::batch::Rows;
use record::Head;
use turn::Turn;

/// Names of the files in the folder of the store.
pub(crate) const NAMES: [&str; 2] = ["JOURNAL-0", "JOURNAL-1"];

/// The two files, opened before the first write and kept: only such descriptors surely report a failure.
#[derive(Debug)]
pub(crate) struct Files([Arc<File>; NAMES.len()]);

impl Files {
    /// Makes the files in `folder`, empty and synced, where they are absent. Their names are not durable yet.
    pub(crate) fn create(folder: &Path) -> io::Result<()> {
        for name in NAMES {
            how().create(true).open(folder.join(name))?.sync_all()?;
        }
        Ok(())
    }

    /// Opens the files of the store in `folder`.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let open = |name: &str| how().open(folder.join(name)).map(Arc::new);
        let [first, second] = NAMES;
        Ok(Self([open(first)?, open(second)?]))
    }

    /// Makes durable what the files show, and has the next reader ask the disk.
    pub(crate) fn settle(&self) -> io::Result<()> {
        self.sync()?;
        for file in &self.0 {
            rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed).map_err(io::Error::from)?;
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.0.iter().try_for_each(|file| file.sync_all())
    }
}

fn how() -> OpenOptions {
    let mut how = OpenOptions::new();
    how.read(true).write(true).truncate(false);
    how
}

/// What is known before a journal is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known {
    /// The last batch in the engine.
    pub stored: u64,
    /// Beginning of the identity of the store's folder.
    pub store: [u8; 8],
    /// The nonce of the session before, if it is known: it tells records from what only looks like one.
    pub nonce: Option<[u8; 16]>,
    /// Everything that can be read is wanted, whether it follows or not, and whatever store wrote it.
    pub all: bool,
}

/// What was read of a journal.
#[derive(Debug)]
pub(crate) struct Found {
    /// Batches that the engine may not have taken in, in order.
    pub records: Vec<Record>,
    /// Where the next one would stand, for people.
    pub end: String,
    /// A batch that was once written behind the end, though nothing leads there: what was in between is damaged. Only where
    /// each batch was synced before the next one was written.
    pub beyond: Option<u64>,
    /// Batches missing in between, first and last, where all are wanted.
    pub gaps: Vec<(u64, u64)>,
}

/// Where the next batch goes.
pub(crate) struct Journal {
    current: Turn,
    other: Turn,
    /// Number of the last batch.
    previous: u64,
    store: [u8; 8],
    nonce: [u8; 16],
}

impl Journal {
    /// Reads what follows the last batch in the engine. What is returned is durable.
    pub(crate) fn open(files: &Files, known: Known) -> io::Result<(Self, Found)> {
        let Known { stored, store, all, .. } = known;
        // Where nothing is believed, the last batch in the engine may not be whole there.
        let wanted = if all { stored } else { stored + 1 };
        let known = Known { stored: wanted.saturating_sub(1), ..known };
        let [first, second] = &files.0;
        let [name, other_name] = NAMES;
        let (mut current, begun) = Turn::open(name, first, known);
        let (mut other, others) = Turn::open(other_name, second, known);
        let mut nonces: Vec<_> = known.nonce.into_iter().collect();
        nonces.extend(begun.iter().chain(&others).map(|(_, record)| record.head.nonce));
        let mut read: Vec<_> = begun.into_iter().chain(others).collect();
        read.retain(|(_, record)| record.head.batch >= wanted);
        read.sort_unstable_by_key(|(_, record)| record.head.batch);
        let mut found = Found { records: Vec::new(), end: String::new(), beyond: None, gaps: Vec::new() };
        let mut previous = stored;
        for (name, record) in read {
            let Head { batch, previous: before, .. } = record.head;
            if before != previous {
                if !all {
                    found.beyond = Some(batch);
                    break;
                }
                if before > previous {
                    found.gaps.push((previous + 1, before));
                }
            }
            if name != current.name {
                std::mem::swap(&mut current, &mut other);
            }
            current.goes_on_behind(&record);
            previous = batch;
            found.records.push(record);
        }
        if !all && found.beyond.is_none() {
            found.beyond = current.beyond(previous, &nonces).or_else(|| other.beyond(previous, &nonces));
        }
        if !found.records.is_empty() {
            // The last one may have been written and not synced by a process that was killed.
            files.sync()?;
        }
        found.end = current.place();
        let nonce = uuid::Uuid::new_v4().into_bytes();
        Ok((Self { current, other, previous, store, nonce }, found))
    }

    /// Appends a batch; not durable before the file returned is synced. `stored` is the last batch that is durable in the
    /// engine: what stands up to it may be overwritten.
    pub(crate) fn append(&mut self, batch: u64, rows: &Rows, stored: u64) -> io::Result<&File> {
        if self.current.last > stored && self.current.is_full() && self.other.last <= stored {
            std::mem::swap(&mut self.current, &mut self.other);
        }
        if self.current.last <= stored {
            self.current.begin()?;
        }
        let (previous, store, nonce) = (self.previous, self.store, self.nonce);
        self.current.append(|prior| Head { batch, previous, store, nonce, prior }, rows)?;
        self.previous = batch;
        Ok(self.current.file())
    }

    /// Number of the last batch written or found.
    pub(crate) const fn last(&self) -> u64 {
        self.previous
    }

    /// What marks the records of this session.
    pub(crate) const fn nonce(&self) -> [u8; 16] {
        self.nonce
    }
}

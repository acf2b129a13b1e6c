//! The journal: batches are durable here first, and the engine takes them in later, many at once.
//!
//! The engine needs several writes, a dozen wake-ups and a sync for a batch, whatever its size. Here a batch is one write
//! and one sync of blocks that are already there. Two files are written in turn, each from its beginning once everything
//! in it has arrived in the engine.

mod record;
#[cfg(test)]
mod tests;

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::FileExt as _,
    path::Path,
    sync::Arc,
};

pub(crate) use record::Record;

use crate::batch::Rows;

/// Names of the files in the folder of the store.
pub(crate) const NAMES: [&str; 2] = ["JOURNAL-0", "JOURNAL-1"];
/// From this length on the other file is used if it is free, in bytes.
const FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Step in which a file grows, written with zeros ahead of use: a sync of blocks that exist is one write to the disk.
const GROWTH_BYTES: u64 = 512 * 1024;
/// A file longer than this is cut to [`FILE_BYTES`] when it is begun anew, in bytes.
const KEPT_BYTES_MAX: u64 = 4 * FILE_BYTES;

/// The two files, opened before the first write and kept: only such descriptors surely report a failure.
#[derive(Debug)]
pub(crate) struct Files([Arc<File>; NAMES.len()]);

impl Files {
    /// Opens the files of the store in `folder`; makes them, with durable names, if they are absent.
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        let open = |name: &str| {
            let mut how = OpenOptions::new();
            how.read(true).write(true).create(true).truncate(false).open(folder.join(name)).map(Arc::new)
        };
        let is_absent = NAMES.iter().any(|name| !folder.join(name).exists());
        let [first, second] = NAMES;
        let files = Self([open(first)?, open(second)?]);
        if is_absent {
            File::open(folder)?.sync_all()?;
        }
        Ok(files)
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

/// What was read of a journal.
pub(crate) struct Found {
    /// Batches that the engine may not have taken in, in order.
    pub records: Vec<Record>,
    /// Where the next one would stand, for people.
    pub end: String,
}

/// Where the next batch goes.
pub(crate) struct Journal {
    current: Turn,
    other: Turn,
    /// Number of the last batch.
    previous: u64,
}

/// One file and what is known of it.
struct Turn {
    name: &'static str,
    file: Arc<File>,
    /// Where the next record goes.
    at: u64,
    /// Length of the file, in bytes.
    length: u64,
    /// Number of the last batch in it.
    last: u64,
}

/// A record, where it ends, and in which file.
struct Placed {
    record: Record,
    end: u64,
    name: &'static str,
}

impl Journal {
    /// Reads what follows batch `stored`, the last one in the engine. What is returned is durable.
    ///
    /// Batches are followed from each one to the next, unless `all` that can be read are wanted.
    pub(crate) fn open(files: &Files, stored: u64, all: bool) -> io::Result<(Self, Found)> {
        let [first, second] = &files.0;
        let [name, other_name] = NAMES;
        let (mut current, begun) = Turn::open(name, first, stored)?;
        let (mut other, others) = Turn::open(other_name, second, stored)?;
        let mut read: Vec<_> = begun.into_iter().chain(others).collect();
        read.sort_unstable_by_key(|placed| placed.record.batch);
        let (mut previous, mut records) = (stored, Vec::new());
        for Placed { record, end, name } in read {
            if !all && record.previous != previous {
                tracing::warn!(batch = record.batch, "the journal has a gap; what follows is left out");
                break;
            }
            if name != current.name {
                std::mem::swap(&mut current, &mut other);
            }
            (current.at, current.last, previous) = (end, record.batch, record.batch);
            records.push(record);
        }
        if !records.is_empty() {
            // The last one may have been written and not synced by a process that was killed.
            files.sync()?;
        }
        let end = format!("{} at offset {}", current.name, current.at);
        Ok((Self { current, other, previous }, Found { records, end }))
    }

    /// Appends a batch; not durable before the file returned is synced. `stored` is the last batch that is durable in the
    /// engine: what stands up to it may be overwritten.
    pub(crate) fn append(&mut self, batch: u64, rows: &Rows, stored: u64) -> io::Result<&File> {
        if self.current.last > stored && self.current.at >= FILE_BYTES && self.other.last <= stored {
            std::mem::swap(&mut self.current, &mut self.other);
        }
        if self.current.last <= stored {
            self.current.begin()?;
        }
        self.current.write(&record::write(batch, self.previous, rows))?;
        (self.current.last, self.previous) = (batch, batch);
        Ok(&self.current.file)
    }

    /// Number of the last batch written or found.
    pub(crate) const fn last(&self) -> u64 {
        self.previous
    }
}

impl Turn {
    /// The file and its batches above `stored`, each with its end and the name of the file.
    fn open(name: &'static str, file: &Arc<File>, stored: u64) -> io::Result<(Self, Vec<Placed>)> {
        let length = file.metadata()?.len();
        let (mut at, mut last, mut found) = (0, 0, Vec::new());
        while let Some((record, end)) = record::read(file, at, stored)? {
            // What stands behind is left from an earlier turn.
            if record.batch <= last {
                break;
            }
            (at, last) = (end, record.batch);
            if record.batch > stored {
                found.push(Placed { record, end, name });
            }
        }
        Ok((Self { name, file: Arc::clone(file), at: 0, length, last: 0 }, found))
    }

    /// Begins the file anew.
    fn begin(&mut self) -> io::Result<()> {
        if self.length > KEPT_BYTES_MAX {
            self.file.set_len(FILE_BYTES)?;
            self.length = FILE_BYTES;
        }
        self.at = 0;
        Ok(())
    }

    fn write(&mut self, record: &[u8]) -> io::Result<()> {
        let end = self.at + record.len() as u64;
        if end > self.length {
            let length = end.next_multiple_of(GROWTH_BYTES);
            let zeros = vec![0; usize::try_from(length - self.length).map_err(io::Error::other)?];
            self.file.write_all_at(&zeros, self.length)?;
            self.length = length;
        }
        self.file.write_all_at(record, self.at)?;
        self.at = end;
        Ok(())
    }
}

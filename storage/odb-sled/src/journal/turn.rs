//! One file of the journal.

use std::{fs::File, io, os::unix::fs::FileExt as _, sync::Arc};

use super::{
    Known,
    record::{self, Head, MAGIC, Record, Sum},
};
use crate::batch::Rows;

/// From this length on the other file is used if it is free, in bytes.
pub(super) const FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Step in which a file grows, with zeros ahead of use: a sync of blocks that exist is one write to the disk.
pub(super) const GROWTH_BYTES: u64 = 512 * 1024;
/// A file longer than this is cut to [`FILE_BYTES`] when it is begun anew, in bytes.
pub(super) const KEPT_BYTES_MAX: u64 = 4 * FILE_BYTES;

/// A file and what is known of it.
pub(super) struct Turn {
    pub name: &'static str,
    file: Arc<File>,
    /// Where the next record goes.
    at: u64,
    /// Length of the file, in bytes.
    length: u64,
    /// Number of the last batch in it.
    pub last: u64,
    /// Sum of the last record in it.
    sum: Sum,
}

impl Turn {
    /// The file and its records, with its name; none where the file cannot be read.
    pub(super) fn open(
        name: &'static str,
        file: &Arc<File>,
        known: Known,
    ) -> (Self, Vec<(&'static str, Record)>) {
        let length = file.metadata().map_or(0, |found| found.len());
        let mut turn = Self { name, file: Arc::clone(file), at: 0, length, last: 0, sum: Sum::default() };
        let mut found = Vec::new();
        let (mut at, mut last, mut prior) = (0, 0, Sum::default());
        loop {
            let record = match record::read(file, at, length, known.stored) {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(error) => {
                    // If it is needed, that is found out: what follows is missing.
                    tracing::warn!(name, at, %error, "a part of the journal cannot be read");
                    break;
                }
            };
            let Head { batch, prior: before, store, .. } = record.head;
            // What stands behind the last record is left from an earlier turn, or made up by a client.
            if batch <= last || before != prior || (store != known.store && !known.all) {
                break;
            }
            (at, last, prior) = (record.end, batch, record.sum);
            found.push((name, record));
        }
        turn.at = at;
        (turn, found)
    }

    /// The next record goes behind this one.
    pub(super) fn goes_on_behind(&mut self, record: &Record) {
        (self.at, self.last, self.sum) = (record.end, record.head.batch, record.sum);
    }

    /// A batch above `last` that a session with one of the `nonces` has written behind the end.
    pub(super) fn beyond(&self, last: u64, nonces: &[[u8; 16]]) -> Option<u64> {
        let mut rest = vec![0; usize::try_from(self.length.saturating_sub(self.at)).ok()?];
        self.file.read_exact_at(&mut rest, self.at).ok()?;
        let places = rest.windows(MAGIC.len()).enumerate().filter(|(_, window)| *window == MAGIC);
        places.map(|(place, _)| self.at + place as u64).find_map(|at| {
            let (head, ..) = record::read_head(&self.file, at).ok()??;
            if head.batch <= last || !nonces.contains(&head.nonce) {
                return None;
            }
            record::read(&self.file, at, self.length, u64::MAX).ok()?.map(|record| record.head.batch)
        })
    }

    /// Where the next record goes, for people.
    pub(super) fn place(&self) -> String {
        format!("{} at offset {}", self.name, self.at)
    }

    pub(super) const fn is_full(&self) -> bool {
        self.at >= FILE_BYTES
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Begins the file anew.
    pub(super) fn begin(&mut self) -> io::Result<()> {
        if self.length > KEPT_BYTES_MAX {
            self.file.set_len(FILE_BYTES)?;
            self.length = FILE_BYTES;
        }
        (self.at, self.sum) = (0, Sum::default());
        Ok(())
    }

    /// Writes a record whose head follows from the sum of the one in front of it.
    pub(super) fn append(&mut self, head: impl FnOnce(Sum) -> Head, rows: &Rows) -> io::Result<()> {
        let head = head(self.sum);
        let (record, sum) = record::write(&head, rows);
        let end = self.at + record.len() as u64;
        self.file.write_all_at(&record, self.at)?;
        if end > self.length {
            let length = end.next_multiple_of(GROWTH_BYTES);
            let zeros = vec![0; usize::try_from(length - end).map_err(io::Error::other)?];
            self.file.write_all_at(&zeros, end)?;
            self.length = length;
        }
        (self.at, self.last, self.sum) = (end, head.batch, sum);
        Ok(())
    }
}

//! What is written in a snapshot of sled 0.34.7: of every page, where its parts stand in the log.
//!
//! ```text
//! position + 1, i64 · active segment: offset + 1, varint (0: none)
//! of each page, in the order of their numbers, from 0 on:
//!     0 · position i64 · place                          it is free
//!     n · n times: position i64 · place · size varint   its beginning, then its changes
//! place: 0 · offset varint  |  1 · offset varint · position i64   in the main file, or in a file of its own
//! length of all that, u64 · CRC-32 of all that
//! ```
//!
//! Numbers of fixed width are little-endian, `varint` is sled's own. A snapshot is read and written as a stream: of a large store it
//! has more than belongs into memory for it.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    path::Path,
};

use crate::engine_log;

/// Behind the pages: length and sum.
const END_BYTES: u64 = 12;
/// Bytes that are written and synced at once, at most: whoever syncs something else on the same disk meanwhile, as commits do,
/// waits for all of them.
const SYNCED_AT_ONCE_BYTES: usize = 256 * 1024;
/// Parts of a page, at most: their number is one byte.
const PARTS_MAX: usize = 255;

/// A part of a page in the log, in the main file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    /// Position in the log.
    pub position: i64,
    /// Where in the main file.
    pub offset: u64,
    /// Bytes of its message.
    pub size: u64,
}

/// A page as a snapshot has it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Page {
    /// Number of its parts; 0 if it is free.
    parts: u8,
    /// Position of the last one.
    last: i64,
    /// What stands behind their number.
    bytes: Vec<u8>,
}

impl Page {
    pub(super) fn free(position: i64, offset: u64) -> Self {
        let mut page = Self { last: position, ..Self::default() };
        page.bytes.extend(position.to_le_bytes());
        page.place(offset);
        page
    }

    /// Of its beginning alone.
    pub(super) fn begun(beginning: Part) -> Self {
        let mut page = Self::default();
        page.push(beginning);
        page
    }

    pub(super) fn is_free(&self) -> bool {
        self.parts == 0
    }

    /// Adds changes that are newer than all it has; the others it has already.
    pub(super) fn add(&mut self, changes: &[Part]) -> io::Result<()> {
        for change in changes {
            if change.position > self.last {
                if usize::from(self.parts) == PARTS_MAX {
                    return Err(odd("a page has more changes than a snapshot can tell"));
                }
                self.push(*change);
            }
        }
        Ok(())
    }

    fn push(&mut self, part: Part) {
        self.parts += 1;
        self.last = part.position;
        self.bytes.extend(part.position.to_le_bytes());
        self.place(part.offset);
        engine_log::write_varint(part.size, &mut self.bytes);
    }

    fn place(&mut self, offset: u64) {
        self.bytes.push(0);
        engine_log::write_varint(offset, &mut self.bytes);
    }
}

/// The pages of a snapshot, one after the other.
pub(super) struct Pages {
    from: BufReader<io::Take<File>>,
    sum: crc32fast::Hasher,
    length: u64,
}

impl Pages {
    /// Those of the snapshot in `file`.
    pub(super) fn open(file: &Path) -> io::Result<Self> {
        let file = File::open(file)?;
        let length =
            file.metadata()?.len().checked_sub(END_BYTES).ok_or_else(|| odd("a snapshot is cut off"))?;
        let mut pages =
            Self { from: BufReader::new(file.take(length)), sum: crc32fast::Hasher::new(), length };
        let mut head = Vec::new();
        pages.fixed(8, &mut head)?;
        pages.varint(&mut head)?;
        pages.sum.update(&head);
        Ok(pages)
    }

    /// Reads the next page into `page`; whether there was one. At the end the sum must fit.
    pub(super) fn next(&mut self, page: &mut Page) -> io::Result<bool> {
        if self.from.fill_buf()?.is_empty() {
            return self.end().map(|()| false);
        }
        page.bytes.clear();
        let [parts, ..] = self.fixed(1, &mut page.bytes)?.to_le_bytes();
        self.sum.update(&page.bytes);
        page.bytes.clear();
        page.parts = parts;
        for _ in 0..parts.max(1) {
            page.last = self.fixed(8, &mut page.bytes)?;
            let kind = self.fixed(1, &mut page.bytes)?;
            self.varint(&mut page.bytes)?;
            if kind == 1 {
                self.fixed(8, &mut page.bytes)?;
            }
            if parts > 0 {
                self.varint(&mut page.bytes)?;
            }
        }
        self.sum.update(&page.bytes);
        Ok(true)
    }

    /// So many bytes, to `bytes`; the number that they are.
    fn fixed(&mut self, count: usize, bytes: &mut Vec<u8>) -> io::Result<i64> {
        let mut read = [0; 8];
        let taken = read.get_mut(..count).unwrap_or_default();
        self.from.read_exact(taken)?;
        bytes.extend_from_slice(taken);
        Ok(i64::from_le_bytes(read))
    }

    fn varint(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let [first, ..] = self.fixed(1, bytes)?.to_le_bytes();
        self.fixed(engine_log::varint_bytes(first) - 1, bytes).map(drop)
    }

    fn end(&mut self) -> io::Result<()> {
        let mut end = [0; END_BYTES as usize];
        self.from.get_mut().set_limit(END_BYTES);
        self.from.read_exact(&mut end)?;
        let fits = end == *ending(self.length, std::mem::take(&mut self.sum));
        if fits { Ok(()) } else { Err(odd("a snapshot does not fit its check sum")) }
    }
}

/// A snapshot that is being written.
pub(super) struct Writing {
    file: File,
    sum: crc32fast::Hasher,
    length: u64,
    waiting: Vec<u8>,
}

impl Writing {
    /// Of the log up to `position`, where a segment begins; into the file `path`, which is begun anew.
    pub(super) fn begin(path: &Path, position: i64) -> io::Result<Self> {
        let file = File::create(path)?;
        let mut waiting = Vec::with_capacity(2 * SYNCED_AT_ONCE_BYTES);
        waiting.extend((position + 1).to_le_bytes());
        // No segment is active between two of them.
        waiting.push(0);
        Ok(Self { file, sum: crc32fast::Hasher::new(), length: 0, waiting })
    }

    pub(super) fn put(&mut self, page: &Page) -> io::Result<()> {
        self.waiting.push(page.parts);
        self.waiting.extend_from_slice(&page.bytes);
        if self.waiting.len() < SYNCED_AT_ONCE_BYTES {
            return Ok(());
        }
        self.write()?;
        self.file.sync_data()
    }

    /// Ends it; how long it is, in bytes. It is durable then, its name is not.
    pub(super) fn end(mut self) -> io::Result<u64> {
        self.write()?;
        self.file.write_all(&ending(self.length, std::mem::take(&mut self.sum)))?;
        self.file.sync_all()?;
        Ok(self.length + END_BYTES)
    }

    fn write(&mut self) -> io::Result<()> {
        self.sum.update(&self.waiting);
        self.length += self.waiting.len() as u64;
        self.file.write_all(&self.waiting)?;
        self.waiting.clear();
        Ok(())
    }
}

/// What stands behind the pages.
fn ending(length: u64, sum: crc32fast::Hasher) -> Vec<u8> {
    length.to_le_bytes().into_iter().chain(sum.finalize().to_le_bytes()).collect()
}

pub(super) fn odd(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

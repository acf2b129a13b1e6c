//! Writing a stream.

use serde::Serialize;

use super::{
    Checksum, Control, End, Header, Item, LINE_BYTES_MAX, PART_BYTES_MAX, PART_BYTES_WANTED, PartEnd,
    PartStart,
};

/// A line or part that is larger than the format allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what} of the stream would have {bytes} bytes, more than {limit}")]
pub struct TooLarge {
    /// `a line` or `a part`.
    pub what: &'static str,
    /// Its size.
    pub bytes: usize,
    /// The limit.
    pub limit: usize,
}

/// How far a stream has come, between two parts: enough to go on in another process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Parts ended.
    pub parts: u64,
    /// Checksum of the last one; of the header line before the first.
    pub checksum: Checksum,
    /// References written.
    pub references: u64,
    /// Commits written.
    pub commits: u64,
    /// Log entries written.
    pub log_entries: u64,
}

impl Progress {
    /// A stream of which only the header line is known.
    pub const fn behind_header(checksum: Checksum) -> Self {
        Self { parts: 0, checksum, references: 0, commits: 0, log_entries: 0 }
    }

    /// Counts an item.
    pub(super) fn count(&mut self, item: &Item) {
        match item {
            Item::Reference(_) => self.references += 1,
            Item::Commit(_) => self.commits += 1,
            Item::LogEntry(_) => self.log_entries += 1,
            Item::Attachment(_) | Item::Operations(_) => {}
        }
    }

    /// The `end` line of a stream that ends here.
    pub(super) fn end(&self) -> End {
        End {
            parts: self.parts,
            references: self.references,
            commits: self.commits,
            log_entries: self.log_entries,
            checksum: self.checksum,
        }
    }
}

/// Writes lines into a buffer of the caller, and keeps counts and checksums.
///
/// Call [`Writer::begin_part`], any number of [`Writer::item`]s, [`Writer::end_part`], over and over, then
/// [`Writer::end`].
#[derive(Debug)]
pub struct Writer {
    progress: Progress,
    hasher: blake3::Hasher,
    lines: u64,
    bytes: usize,
}

impl Writer {
    /// Begins a stream: writes its header.
    pub fn begin(header: Header, out: &mut Vec<u8>) -> Self {
        let from = out.len();
        line(&Control::Header(header), out);
        let checksum = Checksum::of(out.get(from..).unwrap_or_default());
        Self::resume(Progress::behind_header(checksum))
    }

    /// Goes on with a stream between two parts.
    pub fn resume(progress: Progress) -> Self {
        Self { progress, hasher: blake3::Hasher::new(), lines: 0, bytes: 0 }
    }

    /// How far the stream has come; the part at work does not count but for its items.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Bytes of the part at work.
    pub fn part_bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the part at work is large enough to be ended.
    pub fn is_part_full(&self) -> bool {
        self.bytes >= PART_BYTES_WANTED
    }

    /// Begins a part. `position` is where an export goes on with it.
    pub fn begin_part(&mut self, position: Option<String>, out: &mut Vec<u8>) {
        self.hasher.reset();
        (self.lines, self.bytes) = (0, 0);
        let from = out.len();
        let start = PartStart { number: self.progress.parts + 1, after: self.progress.checksum, position };
        line(&Control::Part(start), out);
        self.take(out.get(from..).unwrap_or_default());
    }

    /// Writes an item. What is too large is not written, and the part is spoilt.
    pub fn item(&mut self, item: &Item, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        let from = out.len();
        line(item, out);
        let bytes = out.len() - from;
        for (what, bytes, limit) in
            [("a line", bytes, LINE_BYTES_MAX), ("a part", self.bytes + bytes, PART_BYTES_MAX)]
        {
            if bytes > limit {
                out.truncate(from);
                return Err(TooLarge { what, bytes, limit });
            }
        }
        self.take(out.get(from..).unwrap_or_default());
        self.progress.count(item);
        Ok(())
    }

    /// Ends the part. `next` is where an export goes on with the next one.
    pub fn end_part(&mut self, next: impl FnOnce(&Progress) -> Option<String>, out: &mut Vec<u8>) {
        self.progress.parts += 1;
        self.progress.checksum = Checksum::from_bytes(*self.hasher.finalize().as_bytes());
        let Progress { parts: number, checksum, .. } = self.progress;
        let end = PartEnd { number, lines: self.lines, checksum, next: next(&self.progress) };
        line(&Control::PartEnd(end), out);
    }

    /// Ends the stream.
    pub fn end(self, out: &mut Vec<u8>) {
        line(&Control::End(self.progress.end()), out);
    }

    fn take(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.bytes += bytes.len();
        self.lines += 1;
    }
}

fn line(value: &impl Serialize, out: &mut Vec<u8>) {
    // Writing to memory does not fail, and nothing in a line has keys that are no text.
    if serde_json::to_writer(&mut *out, value).is_ok() {
        out.push(b'\n');
    }
}

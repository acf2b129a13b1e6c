//! The record that the preloaded library writes; `preload/faults.c` draws it.

use std::{path::Path, sync::Arc};

use anyhow::{Context, Result, bail};

/// Length of what stands in front of each event, in bytes.
const HEAD_BYTES: usize = 32;

/// Something the program did to the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are named for what they are")]
pub enum EventKind {
    /// Opened, and perhaps made or emptied, a file.
    Open { path: String, inode: u64, is_made: bool, is_emptied: bool },
    /// Wrote.
    Write { inode: u64, offset: u64, data: Arc<[u8]> },
    /// Set the length.
    Truncate { inode: u64, size: u64 },
    /// Renamed.
    Rename { from: String, to: String },
    /// Removed a file.
    Unlink { path: String },
    /// Made a folder.
    MakeFolder { path: String, inode: u64 },
    /// Removed a folder.
    RemoveFolder { path: String },
    /// Began a sync.
    SyncBegin { inode: u64, number: u64 },
    /// A sync returned.
    SyncEnd { inode: u64, number: u64, is_ok: bool },
    /// Called `sync_file_range`.
    Range,
    /// The program said something.
    Mark(String),
    /// A call was struck.
    Struck,
}

/// An event with its place in the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Counts from 0.
    pub at: usize,
    /// What.
    pub kind: EventKind,
}

/// Reads a whole record. A last event that a kill has cut off is left out.
pub fn read_record(path: &Path) -> Result<Vec<Event>> {
    let bytes = std::fs::read(path).with_context(|| format!("no record at {}", path.display()))?;
    let mut rest = bytes.as_slice();
    let mut events = Vec::new();
    while let Some((head, behind)) = rest.split_at_checked(HEAD_BYTES) {
        let word = |from: usize| -> u64 {
            let bytes = head.get(from..from + 8).and_then(|bytes| bytes.try_into().ok());
            u64::from_le_bytes(bytes.unwrap_or_default())
        };
        let first = word(0);
        let (kind, flags) = (first & 0xff, first >> 8 & 0xff);
        let (path_len, data_len) = ((first >> 16 & 0xffff) as usize, (first >> 32) as usize);
        let (inode, offset, result) = (word(8), word(16), word(24));
        let Some((path, behind)) = behind.split_at_checked(path_len) else { break };
        let Some((data, behind)) = behind.split_at_checked(data_len) else { break };
        rest = behind;
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).context("a name that is no text");
        let kind = match kind {
            1 => EventKind::Open {
                path: text(path)?,
                inode,
                is_made: flags & 1 != 0,
                is_emptied: flags & 2 != 0,
            },
            2 => EventKind::Write { inode, offset, data: data.into() },
            3 => EventKind::Truncate { inode, size: offset },
            4 => EventKind::Rename { from: text(path)?, to: text(data)? },
            5 => EventKind::Unlink { path: text(path)? },
            6 => EventKind::MakeFolder { path: text(path)?, inode },
            7 => EventKind::RemoveFolder { path: text(path)? },
            8 => EventKind::SyncBegin { inode, number: offset },
            9 => EventKind::SyncEnd { inode, number: offset, is_ok: result == 0 },
            10 => EventKind::Range,
            11 => EventKind::Mark(text(data)?),
            12 => EventKind::Struck,
            13 => bail!("the program called {}, which the model does not know", text(path)?),
            other => bail!("the record holds an event of kind {other}"),
        };
        events.push(Event { at: events.len(), kind });
    }
    Ok(events)
}

//! How much of the engine's log was not synced when a segment of it was used anew.
//!
//! The engine frees a segment once what replaces its pages is written, synced or not. If it wrote over a freed one before that
//! sync, a power cut could take both. A cut at the wrong call shows it only with luck; the record shows it for certain.

use std::collections::{HashMap, HashSet};

use super::record::{Event, EventKind};

/// The engine's log, as paths end.
const LOG: &str = "/sled/db";
/// Length of a segment of it, in bytes.
const SEGMENT_BYTES: u64 = 512 * 1024;
/// Bytes that lie between what frees a segment and its next use, at least.
pub const REUSE_BYTES: u64 = 2 * SEGMENT_BYTES;

#[derive(Default)]
struct Log {
    written: u64,
    synced: u64,
    /// Syncs under way, and what was written when they began.
    syncing: HashMap<u64, u64>,
    used: HashSet<u64>,
}

/// The most bytes that had been written to the log since its last sync when a segment was used anew.
#[must_use]
pub fn unsynced_at_reuse(events: &[Event]) -> u64 {
    let mut logs: HashMap<u64, Log> = HashMap::new();
    let mut most = 0;
    for event in events {
        match &event.kind {
            EventKind::Open { path, inode, is_made: true, .. } if path.ends_with(LOG) => {
                logs.insert(*inode, Log::default());
            }
            EventKind::Write { inode, offset, data } => {
                let Some(log) = logs.get_mut(inode) else { continue };
                if offset % SEGMENT_BYTES == 0 && !log.used.insert(offset / SEGMENT_BYTES) {
                    most = most.max(log.written - log.synced);
                }
                log.written += data.len() as u64;
            }
            EventKind::SyncBegin { inode, number } => {
                if let Some(log) = logs.get_mut(inode) {
                    log.syncing.insert(*number, log.written);
                }
            }
            EventKind::SyncEnd { inode, number, is_ok } => {
                let Some(log) = logs.get_mut(inode) else { continue };
                if let Some(written) = log.syncing.remove(number).filter(|_| *is_ok) {
                    log.synced = log.synced.max(written);
                }
            }
            _ => {}
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    const INODE: u64 = 7;

    fn most(kinds: Vec<EventKind>) -> u64 {
        let path = "/data/store/sled/db".into();
        let made = EventKind::Open { path, inode: INODE, is_made: true, is_emptied: false };
        let kinds = std::iter::once(made).chain(kinds);
        unsynced_at_reuse(&kinds.enumerate().map(|(at, kind)| Event { at, kind }).collect::<Vec<_>>())
    }

    fn write(segment: u64, bytes: usize) -> EventKind {
        EventKind::Write { inode: INODE, offset: segment * SEGMENT_BYTES, data: vec![0; bytes].into() }
    }

    fn sync(number: u64, is_ok: bool) -> [EventKind; 2] {
        [EventKind::SyncBegin { inode: INODE, number }, EventKind::SyncEnd { inode: INODE, number, is_ok }]
    }

    #[test]
    fn only_what_was_written_since_a_sync_that_succeeded_counts() {
        assert_eq!(most(vec![write(0, 10), write(1, 20)]), 0, "nothing is used anew");
        assert_eq!(most(vec![write(0, 10), write(1, 20), write(0, 5)]), 30);
        let [begin, end] = sync(1, true);
        assert_eq!(most(vec![write(0, 10), begin, write(1, 20), end, write(0, 5)]), 20);
        let [begin, end] = sync(1, false);
        assert_eq!(most(vec![write(0, 10), begin, end, write(0, 5)]), 10);
    }
}

//! A way over damaged places of the log, for saving what a damaged store still holds.
//!
//! Where a message of the log does not fit its check sum, sled 0.34.7 takes it for the end of its segment, and may then not
//! be able to open its files at all: a page whose beginning is missing is one that it never wrote. Behind a snapshot it does
//! not read the log, and only the rows on that one page cannot be read. So the place is given a check sum that fits, the engine is
//! opened once, which writes a snapshot, and closed; then what stood there is put back. Nothing that is damaged is
//! taken for sound by this: each of these pages still fails when it is read.
//!
//! Only a copy of a store is opened so.

use std::{fs::File, io, os::unix::fs::FileExt, path::Path};

use lochan_storage_odb::StoreError;

use crate::engine_log::{
    HEADER_BYTES, MESSAGE_HEADER_BYTES_MAX, SEGMENT_BYTES, base, claimed, encode_header, header, is_last,
    mended, message_of, read, snapshot_end, sum, valid_until,
};

/// Bytes of the log, as they are and as they shall be for a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Patch {
    offset: u64,
    old: Vec<u8>,
    new: Vec<u8>,
    /// Whether it may stay: what it must have been is known, from its check sum or from what stands behind it.
    stays: bool,
}

/// Opens the engine over what is damaged in its log. If that is of no use, nothing is changed.
pub(crate) fn cross<T>(engine: &Path, open: impl Fn() -> Result<T, StoreError>) -> io::Result<()> {
    let file = File::options().read(true).write(true).open(engine.join("db"))?;
    let patches = patches(&file, engine)?;
    if patches.is_empty() {
        return Ok(());
    }
    for patch in &patches {
        file.write_all_at(&patch.new, patch.offset)?;
    }
    let opened = open();
    let is_open = opened.is_ok();
    drop(opened);
    tracing::info!(places = patches.len(), is_open, "damaged places of the log are passed over");
    for patch in patches.iter().filter(|patch| !(is_open && patch.stays)) {
        // The engine may have used the segment anew.
        let mut now = vec![0; patch.new.len()];
        if read(&file, patch.offset, &mut now)? == patch.new {
            file.write_all_at(&patch.old, patch.offset)?;
        }
    }
    Ok(())
}

/// What has to be changed for the engine to read on behind each damaged place that has not been overwritten on purpose.
fn patches(file: &File, engine: &Path) -> io::Result<Vec<Patch>> {
    let length = file.metadata()?.len();
    let lowest = base(snapshot_end(engine)?);
    let mut segment = vec![0; SEGMENT_BYTES];
    let mut found = Vec::new();
    for offset in (0..length).step_by(SEGMENT_BYTES) {
        let bytes = read(file, offset, &mut segment)?;
        let Some(first) = bytes.first_chunk::<HEADER_BYTES>() else { break };
        let lsn = match header(first) {
            Some((lsn, _)) => lsn,
            None => {
                let Some(message) = bytes.get(HEADER_BYTES..).and_then(|bytes| message_of(bytes, |_| true))
                else {
                    continue;
                };
                let lsn = message.lsn();
                // What the log was stable at is told by later segments anyway.
                let new = encode_header(lsn, lsn - 1).to_vec();
                found.push(Patch { offset, old: first.to_vec(), new, stays: true });
                lsn
            }
        };
        if lsn >= lowest {
            let number = lsn.cast_unsigned() / SEGMENT_BYTES as u64;
            found.extend(within(bytes, number).into_iter().map(|(at, new, stays)| Patch {
                offset: offset + at as u64,
                old: bytes.get(at..at + new.len()).unwrap_or_default().to_vec(),
                new,
                stays,
            }));
        }
    }
    Ok(found)
}

/// Places in a segment with the bytes that are to be written there, and whether they may stay: for each damaged message the
/// bit that makes it whole again, if there is one near its beginning, or else a check sum that fits. Ends where the header
/// of a message does not lead to another one.
fn within(segment: &[u8], number: u64) -> Vec<(usize, Vec<u8>, bool)> {
    let mut found = Vec::new();
    let mut at = valid_until(segment, number);
    while at <= SEGMENT_BYTES - MESSAGE_HEADER_BYTES_MAX {
        let Some(bytes) = segment.get(at..) else { break };
        if let Some(sound) = message_of(bytes, |of| of == number) {
            at += sound.length;
            continue;
        }
        if let Some((place, byte, length)) = mended(bytes, number) {
            found.push((at + place, vec![byte], true));
            at += length;
            continue;
        }
        let Some(message) = claimed(bytes).filter(|message| message.segment == number) else { break };
        let behind = at + message.length;
        let leads_on = segment.get(behind..).is_some_and(|bytes| {
            // Another damaged one may follow.
            claimed(bytes).is_some_and(|next| next.segment == number)
        });
        let Some(sum) = sum(bytes, &message).filter(|_| leads_on || is_last(at, &message)) else { break };
        found.push((at, sum.to_vec(), false));
        at = behind;
    }
    found
}

//! The last segments of the engine's log: what it would take for an empty log, since it counts as durable what is not.
//!
//! **A copy of them, without which a start that a power cut interrupts can lose everything.**
//! When sled 0.34.7 opens, it writes a snapshot under a name that it does not sync, and then overwrites with zeros every
//! segment that the snapshot does not need. The last segment but one may be among them. If the power is cut before the
//! name is durable, the next start finds an older snapshot or none, looks for the segments that the newest one's header
//! says were stable before it, misses the one with zeros, takes that for the end of the log, and drops all that follows.
//!
//! So the segments from there on are copied to a file beside the engine before each opening. Once the engine is open and the
//! name of its snapshot durable, the copy is removed. A start that finds one comes after one that was cut off: what has
//! become zeros since, or lies behind the end of the file, is put back, and everything is as it was before.
//!
//! **The message that closes a segment.** sled overwrites what stands behind the end that it finds in the last segment. Where that
//! is full and no other has been begun, this is the message that closes it, and what is written next stands in its place, while
//! the mark says that the log was synced beyond: the next start would take that for damage. That message holds nothing, so the mark
//! is first taken back to what stands before it ([`content_synced`]).
//!
//! **A gap in what was never synced.** The header of a segment says how far the log was stable when it was begun, and sled
//! calls stable what it has handed to `sync_file_range`. Where two segments were begun between two syncs of ours, a power cut may
//! keep the later one and lose the one that its header calls stable. sled misses it, reads nothing behind it and nothing before
//! it, and drops the whole log. What follows such a gap lies behind the mark: nobody was told of it, and it is taken out.

use std::{collections::BTreeSet, fs::File, io, os::unix::fs::FileExt, path::Path};

use crate::{
    copies,
    engine_log::{self, HEADER_BYTES, SEGMENT_BYTES, read},
    mark::{self, Mark},
};

/// Segments copied, at most; there are two as a rule.
const SEGMENTS_MAX: usize = 8;
/// Segments in doubt that are copied beside them, at most.
const DOUBTED_MAX: usize = 64;
pub(crate) const TAIL: &str = "TAIL";
const MAGIC: &[u8; 8] = b"lochant1";

/// Puts back what an interrupted start has taken, then copies what the next one may take. `engine` is the folder of the
/// engine, which is not open.
pub(crate) fn guard(engine: &Path) -> io::Result<()> {
    let main = engine.join("db");
    let file = match File::options().read(true).write(true).open(&main) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened?,
    };
    let copy = engine.with_file_name(TAIL);
    let saved = copies::kept(&copy)?;
    put_back(&file, &saved)?;
    close_gap(&file, engine)?;
    let tail = encode(&file, &newest(&file)?)?;
    if tail.is_empty() || tail == saved {
        return Ok(());
    }
    copies::keep(&copy, &tail)
}

/// Up to where the log may be called synced if it was synced up to `synced`: before what closes a segment, which the engine may
/// overwrite.
pub(crate) fn content_synced(engine: &Path, synced: i64) -> io::Result<i64> {
    let Ok(position) = u64::try_from(synced) else { return Ok(synced) };
    let file = File::open(engine.join("db"))?;
    let all = segments(&file)?;
    let Some(last) = all.iter().find(|segment| segment.position == begin(position)) else {
        return Ok(synced);
    };
    let end = engine_log::end_at(&file, last.offset, last.position)?;
    let content = (last.position + end.at as u64).cast_signed() - 1;
    Ok(if end.is_filled { synced.min(content) } else { synced })
}

/// The mark of the store that the engine in this folder belongs to.
pub(crate) fn mark_of(engine: &Path) -> io::Result<Option<Mark>> {
    Ok(engine.parent().map(mark::read).transpose()?.flatten())
}

/// A segment that the engine would read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    pub offset: u64,
    /// Position of its first byte in the log.
    pub position: u64,
    /// Position up to which the log was written when it was begun.
    stable: u64,
}

/// The segments from the one in which the log was stable, as the newest headers say, to the end.
fn newest(file: &File) -> io::Result<Vec<Segment>> {
    Ok(end_of(segments(file)?))
}

/// Of these segments those from the one in which the log was stable, as the newest headers say, to the end.
pub(crate) fn end_of(mut found: Vec<Segment>) -> Vec<Segment> {
    let stable = found.iter().map(|segment| segment.stable).max().unwrap_or_default();
    let lowest = begin(stable);
    found.retain(|segment| segment.position >= lowest);
    found.sort_by_key(|segment| segment.position);
    found.truncate(SEGMENTS_MAX);
    found
}

/// All segments with a sound header.
pub(crate) fn segments(file: &File) -> io::Result<Vec<Segment>> {
    let mut found = Vec::new();
    let mut header = [0; HEADER_BYTES];
    let mut offset = 0;
    while read(file, offset, &mut header)?.len() == HEADER_BYTES {
        found.extend(decode_header(&header, offset));
        offset += SEGMENT_BYTES as u64;
    }
    Ok(found)
}

fn decode_header(bytes: &[u8; HEADER_BYTES], offset: u64) -> Option<Segment> {
    let (position, stable) = engine_log::header(bytes)?;
    // The first segment of all says that the log was stable before its beginning, at -1.
    let stable = u64::try_from(stable).unwrap_or(0);
    Some(Segment { offset, position: position.cast_unsigned(), stable })
}

/// Magic · for each segment: offset u64, big-endian · bytes, zeros behind the end of the file · BLAKE3 of all before.
pub(crate) fn encode(file: &File, segments: &[Segment]) -> io::Result<Vec<u8>> {
    if segments.is_empty() {
        return Ok(Vec::new());
    }
    let mut bytes = MAGIC.to_vec();
    let mut segment_bytes = vec![0; SEGMENT_BYTES];
    for segment in segments {
        segment_bytes.fill(0);
        read(file, segment.offset, &mut segment_bytes)?;
        bytes.extend_from_slice(&segment.offset.to_be_bytes());
        bytes.extend_from_slice(&segment_bytes);
    }
    Ok(copies::seal(bytes))
}

/// The segments of a copy with their offsets; none if it is not whole.
fn decode(copy: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let segments = copies::unseal(copy, MAGIC).unwrap_or_default();
    segments.chunks_exact(8 + SEGMENT_BYTES).filter_map(|part| {
        let (offset, bytes) = part.split_first_chunk::<8>()?;
        Some((u64::from_be_bytes(*offset), bytes))
    })
}

/// Which segment a part of a copy is.
fn copied((offset, bytes): (u64, &[u8])) -> Option<Segment> {
    decode_header(bytes.first_chunk()?, offset)
}

/// Adds the segments in which these places lie to the copy: they may be damaged, and the engine may take them for free ones.
pub(crate) fn guard_also(engine: &Path, places: &[u64]) -> io::Result<()> {
    let doubted: BTreeSet<u64> = places.iter().map(|place| begin(*place)).take(DOUBTED_MAX).collect();
    if doubted.is_empty() {
        return Ok(());
    }
    let file = File::open(engine.join("db"))?;
    let mut all = segments(&file)?;
    let newest = end_of(all.clone());
    all.retain(|segment| doubted.contains(&segment.offset) && !newest.contains(segment));
    copies::keep(&engine.with_file_name(TAIL), &encode(&file, &[newest, all].concat())?)
}

/// Puts back what an interrupted start has taken.
pub(crate) fn bring_back(file: &File, engine: &Path) -> io::Result<()> {
    put_back(file, &copies::kept(&engine.with_file_name(TAIL))?)
}

/// Told that the engine has opened and that no older snapshot will be put back: its names become durable and the copy is
/// removed.
pub(crate) fn release(engine: &Path) -> io::Result<()> {
    File::open(engine)?.sync_all()?;
    copies::remove(&engine.with_file_name(TAIL))
}

/// Takes out the segments behind one that is missing and that their headers call stable, if none of them was ever synced.
fn close_gap(file: &File, engine: &Path) -> io::Result<()> {
    // Without a mark nobody knows what was synced; sled would drop the whole log then.
    let synced = mark_of(engine)?.map_or(-1, |mark| mark.log);
    let snapshot = engine_log::snapshot_end(engine)?;
    let lowest = begin(u64::try_from(snapshot).unwrap_or(0));
    let mut present = segments(file)?;
    present.retain(|segment| segment.position >= lowest);
    take_out(file, &behind_gaps(present, lowest, synced))
}

/// Overwrites segments with zeros, durably.
pub(crate) fn take_out(file: &File, segments: &[Segment]) -> io::Result<()> {
    for Segment { offset, position, .. } in segments {
        tracing::info!(
            offset,
            position,
            "a segment of the log follows what a power cut has taken, and is left out"
        );
        file.write_all_at(&vec![0; SEGMENT_BYTES], *offset)?;
    }
    if segments.is_empty() { Ok(()) } else { file.sync_all() }
}

/// Where the segment that holds `position` begins.
pub(crate) const fn begin(position: u64) -> u64 {
    position - position % SEGMENT_BYTES as u64
}

/// Splits off the segments behind each gap that begins behind `synced`.
fn behind_gaps(mut present: Vec<Segment>, lowest: u64, synced: i64) -> Vec<Segment> {
    let mut gone = Vec::new();
    loop {
        let stable = present.iter().map(|segment| segment.stable).max().unwrap_or(0).max(lowest);
        let missing = begin(stable);
        let was_synced = i64::try_from(missing).is_ok_and(|missing| missing <= synced);
        if was_synced || present.iter().any(|segment| segment.position == missing) {
            return gone;
        }
        let (before, behind): (Vec<_>, Vec<_>) =
            present.into_iter().partition(|segment| segment.position < missing);
        present = before;
        if behind.is_empty() {
            return gone;
        }
        gone.extend(behind);
    }
}

/// Puts back what has become zeros of the segments of a copy.
fn put_back(file: &File, copy: &[u8]) -> io::Result<()> {
    if copy.is_empty() {
        return Ok(());
    }
    let present = segments(file)?;
    let all: Vec<Segment> = decode(copy).filter_map(copied).collect();
    // Behind a segment that was begun since, this one may have been written to.
    let is_last = |segment: &Segment| {
        present.iter().all(|other| other.position <= segment.position || all.contains(other))
    };
    let mut found = vec![0; SEGMENT_BYTES];
    let mut has_changed = false;
    for (offset, bytes) in decode(copy) {
        found.fill(0);
        read(file, offset, &mut found)?;
        let saved = copied((offset, bytes));
        let is_there = |other: &&Segment| saved.is_some_and(|saved| saved.position == other.position);
        // A power cut may keep zeros in parts. The engine cannot read a log in which a position stands twice.
        let is_taken = found != bytes
            && found.iter().zip(bytes).all(|(now, then)| now == then || *now == 0)
            && present.iter().filter(is_there).all(|other| other.offset == offset && is_last(other));
        if is_taken {
            file.write_all_at(bytes, offset)?;
            has_changed = true;
        }
    }
    if has_changed { file.sync_all() } else { Ok(()) }
}

/// Makes the end of the log what it was when it was copied, whatever has been written since.
pub(crate) fn restore(file: &File, copy: &[u8]) -> io::Result<()> {
    let all: Vec<Segment> = decode(copy).filter_map(copied).collect();
    let Some(lowest) = all.iter().map(|segment| segment.position).min() else { return Ok(()) };
    let mut new = segments(file)?;
    new.retain(|found| found.position >= lowest && !all.iter().any(|copied| copied.offset == found.offset));
    take_out(file, &new)?;
    for (offset, bytes) in decode(copy) {
        file.write_all_at(bytes, offset)?;
    }
    file.sync_all()
}

/// Segments as tests need them.
#[cfg(test)]
pub(crate) mod testing {
    use super::SEGMENT_BYTES;

    /// So long that a segment is full of them.
    pub(crate) const MESSAGE_BYTES: usize = 220;

    /// A segment of the log, filled, that was begun when it was stable up to `stable`.
    pub(crate) fn segment(position: i64, stable: i64) -> Vec<u8> {
        let mut bytes = header(position, stable);
        while bytes.len() + MESSAGE_BYTES <= SEGMENT_BYTES {
            bytes.extend(message(position / SEGMENT_BYTES as i64));
        }
        bytes.resize(SEGMENT_BYTES, 0);
        bytes
    }

    /// A segment of these messages, each with its kind, page, and body, and what closes it.
    pub(crate) fn segment_of(position: i64, messages: &[(u8, u8, &[u8])]) -> Vec<u8> {
        let number = position / SEGMENT_BYTES as i64;
        let mut bytes = header(position, position - 1);
        for (kind, page, body) in messages {
            bytes.extend(message_of(*kind, number, *page, body));
        }
        bytes.extend(closing(number));
        bytes.resize(SEGMENT_BYTES, 0);
        bytes
    }

    fn header(position: i64, stable: i64) -> Vec<u8> {
        let flip = |number: i64| (number ^ i64::MAX).to_le_bytes();
        let fields = [flip(position), flip(stable)].concat();
        let mut bytes = (crc32fast::hash(&fields) ^ u32::MAX).to_le_bytes().to_vec();
        bytes.extend(fields);
        bytes
    }

    /// A change of a row in segment `number`.
    fn message(number: i64) -> Vec<u8> {
        message_of(10, number, 0, &[7; MESSAGE_BYTES - 8])
    }

    /// What closes segment `number`.
    pub(crate) fn closing(number: i64) -> Vec<u8> {
        message_of(2, number, 0, &[7; MESSAGE_BYTES - 8])
    }

    /// Check sum · kind · length of the body · number of the segment · page · body.
    fn message_of(kind: u8, number: i64, page: u8, body: &[u8]) -> Vec<u8> {
        let fields = [kind, u8::try_from(body.len()).unwrap(), u8::try_from(number).unwrap(), page];
        let sum = crc32fast::hash(&[body, &fields].concat()) ^ u32::MAX;
        [&sum.to_le_bytes()[..], &fields, body].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::{
        testing::{MESSAGE_BYTES, segment},
        *,
    };
    use crate::mark::{Mark, MarkFile};

    /// Guards a log of these segments, `None` for zeros, synced up to `log`; which of them are there afterwards.
    fn guarded(segments: &[Option<(i64, i64)>], log: Option<i64>) -> Vec<bool> {
        let folder = tempfile::tempdir().unwrap();
        let engine = folder.path().join("sled");
        std::fs::create_dir(&engine).unwrap();
        let segments = segments.iter().map(|segment_of| {
            segment_of.map_or_else(|| vec![0; SEGMENT_BYTES], |(position, stable)| segment(position, stable))
        });
        let bytes: Vec<u8> = segments.flatten().collect();
        std::fs::write(engine.join("db"), &bytes).unwrap();
        if let Some(log) = log {
            let mut mark = MarkFile::open(folder.path()).unwrap();
            mark.write(Mark { log, ..Mark::NOTHING }).unwrap();
        }
        guard(&engine).unwrap();
        let left = std::fs::read(engine.join("db")).unwrap();
        left.chunks(SEGMENT_BYTES).map(|segment| segment.iter().any(|byte| *byte != 0)).collect()
    }

    const SEGMENT: i64 = SEGMENT_BYTES as i64;

    #[test]
    fn what_a_start_has_overwritten_with_zeros_is_put_back_unless_more_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let engine = folder.path().join("sled");
        std::fs::create_dir(&engine).unwrap();
        let main = engine.join("db");
        let log: Vec<u8> =
            (0..3).flat_map(|number| segment(number * SEGMENT, number * SEGMENT - 1)).collect();
        for (from, to, written) in [
            // The last segment but one; a part of it, with its header or without; the end of the last one; both.
            (SEGMENT_BYTES, 2 * SEGMENT_BYTES, None),
            (SEGMENT_BYTES, SEGMENT_BYTES + 4096, None),
            (SEGMENT_BYTES + 4096, 2 * SEGMENT_BYTES, None),
            (log.len() - 900, log.len(), None),
            (SEGMENT_BYTES, log.len(), None),
            (log.len() - 900, log.len(), Some(log.len() - 900)),
        ] {
            std::fs::write(&main, &log).unwrap();
            guard(&engine).unwrap();
            let mut taken = log.clone();
            taken[from..to].fill(0);
            if let Some(at) = written {
                taken[at..at + 100].fill(9);
            }
            std::fs::write(&main, &taken).unwrap();
            guard(&engine).unwrap();
            let expected = if written.is_some() { &taken } else { &log };
            assert!(std::fs::read(&main).unwrap() == *expected, "{from} to {to}");
            release(&engine).unwrap();
        }
        // A segment that was begun since.
        std::fs::write(&main, &log).unwrap();
        guard(&engine).unwrap();
        let mut taken = log.clone();
        taken[log.len() - 900..].fill(0);
        taken.extend(segment(3 * SEGMENT, 3 * SEGMENT - 1));
        std::fs::write(&main, &taken).unwrap();
        guard(&engine).unwrap();
        assert!(std::fs::read(&main).unwrap() == taken);
    }

    #[test]
    fn what_closes_a_segment_does_not_count_as_synced() {
        let full = segment(SEGMENT, SEGMENT - 1);
        let content = HEADER_BYTES + (SEGMENT_BYTES - HEADER_BYTES) / MESSAGE_BYTES * MESSAGE_BYTES;
        let early = content - MESSAGE_BYTES;
        let mut closed = full.clone();
        closed[early..content].copy_from_slice(&testing::closing(1));
        let mut open = full.clone();
        open[early..].fill(0);
        let later = segment(2 * SEGMENT, 2 * SEGMENT - 1);
        let beyond = segment(3 * SEGMENT, 2 * SEGMENT - 1);
        let (last, end) = (SEGMENT + content as i64 - 1, 2 * SEGMENT - 1);
        let before = last - MESSAGE_BYTES as i64;
        for (segments, synced, expected) in [
            // No message fits any more; one says that the segment is closed; neither.
            (vec![&full], end, last),
            (vec![&full], last, last),
            (vec![&closed], end, before),
            (vec![&closed], before + 1, before),
            (vec![&closed], before, before),
            (vec![&closed], 9, 9),
            (vec![&closed], -1, -1),
            (vec![&open], end, end),
            // Others were begun behind, of which a power cut may have taken the first.
            (vec![&closed, &later], end, before),
            (vec![&closed, &later], end + 1, end + 1),
            (vec![&beyond, &closed], end, before),
            (vec![&closed], end + 1, end + 1),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let bytes: Vec<u8> = segments.into_iter().flatten().copied().collect();
            std::fs::write(folder.path().join("db"), bytes).unwrap();
            assert_eq!(content_synced(folder.path(), synced).unwrap(), expected, "{synced}");
        }
    }

    #[test]
    fn what_follows_a_gap_in_the_unsynced_part_is_taken_out() {
        let log = [Some((0, -1)), Some((SEGMENT, SEGMENT - 1)), None, Some((3 * SEGMENT, 3 * SEGMENT - 1))];
        assert_eq!(guarded(&log, None), [true, true, false, false]);
        assert_eq!(guarded(&log, Some(SEGMENT + 9)), [true, true, false, false]);
        assert_eq!(
            guarded(&log, Some(2 * SEGMENT + 9)),
            [true, true, false, true],
            "it was synced: that is damage"
        );
    }

    #[test]
    fn a_second_gap_behind_the_first_is_closed_too() {
        let far = [
            Some((0, -1)),
            None,
            Some((2 * SEGMENT, 2 * SEGMENT - 1)),
            None,
            Some((4 * SEGMENT, 4 * SEGMENT - 1)),
        ];
        assert_eq!(guarded(&far, Some(9)), [true, false, false, false, false]);
    }

    #[test]
    fn a_log_without_a_gap_and_one_used_anew_are_left_alone() {
        let whole = [Some((0, -1)), Some((SEGMENT, SEGMENT - 1)), Some((2 * SEGMENT, SEGMENT + 5))];
        assert_eq!(guarded(&whole, Some(9)), [true; 3]);
        let anew = [Some((3 * SEGMENT, 3 * SEGMENT - 1)), None, Some((2 * SEGMENT, 2 * SEGMENT - 1))];
        assert_eq!(guarded(&anew, Some(9)), [true, false, true]);
    }
}

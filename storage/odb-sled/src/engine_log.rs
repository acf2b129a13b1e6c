//! A look at sled's log before sled opens it.
//!
//! sled 0.34.7 takes whatever does not fit its check sum for the end of what was written, and overwrites what follows.
//! That is right for what was never synced, and wrong below the mark. So the segments that it is about to replay are
//! read first, and nothing is touched where one is damaged. `FORMAT.md`, *Damage*, says why; this is how.

use std::{
    collections::{BTreeMap, HashSet},
    fs::File,
    io,
    os::unix::fs::FileExt as _,
    path::Path,
};

use lochan_storage_model::{ObjectId, ObjectKind};

use crate::{
    mark::Mark,
    objects::{self, Entry, ObjectHeader},
};

/// Size of a segment of the log, in bytes: what sled is opened with.
pub(crate) const SEGMENT_BYTES: usize = 512 * 1024;
pub(crate) const HEADER_BYTES: usize = 20;
/// No message begins in the last bytes of a segment.
pub(crate) const MESSAGE_HEADER_BYTES_MAX: usize = 32;
const FLIP: i64 = i64::MAX;
/// What a message is, by sled's numbers. Those of 7, 9 and 11 stand in files of their own.
pub(crate) const KIND_CANCELED: u8 = 1;
pub(crate) const KIND_CAP: u8 = 2;
pub(crate) const KIND_BATCH: u8 = 3;
pub(crate) const KIND_FREE: u8 = 4;
pub(crate) const KIND_COUNTER: u8 = 5;
pub(crate) const KIND_META: u8 = 6;
pub(crate) const KIND_NODE: u8 = 8;
pub(crate) const KIND_LINK: u8 = 10;
pub(crate) const KIND_LAST: u8 = 11;
/// First byte of a change of one row where it sets that row.
const SET: &u8 = &0;
/// Objects looked for in a damaged log.
const OBJECTS_MAX: usize = 1 << 20;
/// How far ahead of a segment's own number one may be that overwrites it.
const AHEAD_MAX: u64 = 1 << 24;
/// Bytes at the beginning of a message in which a bit is looked for that makes it whole: its header, which decides where the
/// next one begins, and the little that some messages say.
const MENDED_BYTES_MAX: usize = 64;
/// Name of a snapshot, before the position in the log that it reaches to.
const SNAPSHOT: &str = "snap.";

/// What the log looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// As the mark says, as far as can be told from outside.
    Sound,
    /// Something is odd that may be right; the rows must be counted. Where, and what is wrong there if it is wrong.
    Unsure(Vec<Place>),
    /// Something below the mark is damaged.
    Damaged(Place),
}

/// A place that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Where in `sled/db`.
    pub offset: u64,
    /// What is wrong there.
    pub detail: String,
}

#[derive(Debug, Clone, Copy)]
struct Segment {
    offset: u64,
    max_stable: i64,
}

/// Looks at the log in the folder `engine`, which must hold everything up to `mark`.
pub(crate) fn look(engine: &Path, mark: Mark) -> io::Result<Verdict> {
    let file = File::open(engine.join("db"))?;
    let length = file.metadata()?.len();
    let from = snapshot_end(engine)?;
    let lowest = base(from);
    let mut segments: BTreeMap<i64, Segment> = BTreeMap::new();
    let mut headless: Vec<u64> = Vec::new();
    for offset in (0..length).step_by(SEGMENT_BYTES) {
        let mut bytes = [0; HEADER_BYTES];
        if offset + HEADER_BYTES as u64 > length {
            break;
        }
        file.read_exact_at(&mut bytes, offset)?;
        match header(&bytes) {
            Some((lsn, max_stable)) if lsn >= lowest => {
                segments.insert(lsn, Segment { offset, max_stable });
            }
            Some(_) => {}
            None => headless.push(offset),
        }
    }
    let mut segment = vec![0; SEGMENT_BYTES];
    for offset in headless {
        let bytes = read(&file, offset, &mut segment)?;
        // A free segment is all zeros; one that holds messages has lost its header.
        if let Some(message) = bytes.get(HEADER_BYTES..).and_then(message) {
            let lsn = message.lsn();
            if lsn >= lowest && lsn <= mark.log && !segments.contains_key(&lsn) {
                let detail =
                    format!("the header of the segment of log position {lsn} does not fit its check sum");
                return Ok(Verdict::Damaged(Place { offset, detail }));
            }
        }
    }
    // From here on segments follow one another without a gap, and none is used anew.
    let tail = segments.values().map(|segment| segment.max_stable).max().map_or(lowest, base).max(lowest);
    let mut odd = Vec::new();
    let mut covered = tail;
    for (lsn, Segment { offset, .. }) in segments.range(..=mark.log) {
        if *lsn >= tail && *lsn != covered {
            break;
        }
        let bytes = read(&file, *offset, &mut segment)?;
        let number = lsn.cast_unsigned() / SEGMENT_BYTES as u64;
        let end = valid_until(bytes, number);
        let reached = lsn + end as i64;
        if *lsn >= tail {
            covered = reached;
        }
        if end >= SEGMENT_BYTES || reached > mark.log {
            continue;
        }
        let place = |detail: &str| Place {
            offset: offset + end as u64,
            detail: format!("a message at log position {reached} {detail}"),
        };
        match behind(bytes, end, number) {
            Behind::Same => {
                let place = place("does not fit its check sum, and sound ones follow it");
                if *lsn >= tail {
                    return Ok(Verdict::Damaged(place));
                }
                // A segment that was free may have been overwritten in parts, in any order, when the power was cut.
                odd.push(place);
            }
            _ if *lsn >= tail => {
                return Ok(Verdict::Damaged(place("does not fit its check sum, but was acknowledged")));
            }
            Behind::Newer => {}
            Behind::Mended => return Ok(Verdict::Damaged(place("does not fit its check sum"))),
            Behind::Nothing => odd.push(place("is the first that does not fit its check sum")),
        }
    }
    if mark.log >= from.max(tail) && covered <= mark.log {
        let detail = format!("the log ends at position {covered}, but was acknowledged up to {}", mark.log);
        return Ok(Verdict::Damaged(Place { offset: length, detail }));
    }
    let is_sound = odd.is_empty() && length >= mark.main_bytes;
    Ok(if is_sound { Verdict::Sound } else { Verdict::Unsure(odd) })
}

/// Objects that stand in messages of the log, also where the engine does not get to. Only those whose bytes stand in their
/// row: they hash to their id, so nothing else is taken for one.
pub(crate) fn objects(engine: &Path) -> io::Result<HashSet<(ObjectKind, ObjectId)>> {
    let file = File::open(engine.join("db"))?;
    let length = file.metadata()?.len();
    let mut segment = vec![0; SEGMENT_BYTES];
    let mut found = HashSet::new();
    for offset in (0..length).step_by(SEGMENT_BYTES) {
        let bytes = read(&file, offset, &mut segment)?;
        let mut at = HEADER_BYTES;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let Some(message) = message(rest) else {
                at += 1;
                continue;
            };
            let body = rest.get(message.head..message.length).unwrap_or_default();
            if message.kind == KIND_LINK && found.len() < OBJECTS_MAX {
                found.extend(objects_in(body).into_iter().flatten());
            }
            at += message.length;
        }
    }
    Ok(found)
}

/// The objects that a change of a row sets, if it is a row of objects.
fn objects_in(body: &[u8]) -> Option<Vec<(ObjectKind, ObjectId)>> {
    let (SET, mut rest) = body.split_first()? else { return None };
    let key = usize::try_from(varint(&mut rest)?).ok()?;
    let mut rest = rest.get(key..)?;
    let value = usize::try_from(varint(&mut rest)?).ok()?;
    let entries = objects::entries(rest.get(..value)?).ok()?.map_while(Result::ok);
    let whole = entries.filter_map(|Entry { header: ObjectHeader { kind, id, .. }, bytes, .. }| {
        (ObjectId::of(kind, bytes?) == id).then_some((kind, id))
    });
    Some(whole.collect())
}

/// Position that the newest snapshot reaches to; 0 without one. One whose name is not final is none.
pub(crate) fn snapshot_end(engine: &Path) -> io::Result<i64> {
    let mut newest = 0;
    for entry in std::fs::read_dir(engine)? {
        let name = entry?.file_name();
        let position = name.to_str().and_then(|name| name.strip_prefix(SNAPSHOT));
        newest = newest.max(position.and_then(|hex| i64::from_str_radix(hex, 16).ok()).unwrap_or(0));
    }
    Ok(newest)
}

pub(crate) fn base(lsn: i64) -> i64 {
    lsn.max(0) / SEGMENT_BYTES as i64 * SEGMENT_BYTES as i64
}

pub(crate) fn read<'b>(file: &File, offset: u64, buffer: &'b mut [u8]) -> io::Result<&'b [u8]> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(buffer.get(..filled).unwrap_or_default())
}

/// Log position and highest stable position of a segment header, if it fits its check sum.
pub(crate) fn header(bytes: &[u8; HEADER_BYTES]) -> Option<(i64, i64)> {
    let (check, rest) = bytes.split_first_chunk::<4>()?;
    if crc32fast::hash(rest) != u32::from_le_bytes(*check) ^ u32::MAX {
        return None;
    }
    let (lsn, max_stable) = rest.split_first_chunk::<8>()?;
    let max_stable = i64::from_le_bytes(max_stable.try_into().ok()?) ^ FLIP;
    Some((i64::from_le_bytes(*lsn) ^ FLIP, max_stable))
}

/// The header of the segment that begins at `lsn`, as [`header`] reads it.
pub(crate) fn encode_header(lsn: i64, max_stable: i64) -> [u8; HEADER_BYTES] {
    let mut rest = (lsn ^ FLIP).to_le_bytes().to_vec();
    rest.extend((max_stable ^ FLIP).to_le_bytes());
    let mut bytes = [0; HEADER_BYTES];
    let check = (crc32fast::hash(&rest) ^ u32::MAX).to_le_bytes();
    for (to, from) in bytes.iter_mut().zip(check.into_iter().chain(rest)) {
        *to = from;
    }
    bytes
}

/// A message of the log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message {
    pub kind: u8,
    pub segment: u64,
    /// Page that it changes.
    pub page: u64,
    /// Header alone, in bytes.
    pub head: usize,
    /// Header and body, in bytes.
    pub length: usize,
}

impl Message {
    /// Position in the log at which its segment begins.
    pub(crate) fn lsn(&self) -> i64 {
        self.segment.cast_signed().saturating_mul(SEGMENT_BYTES as i64)
    }
}

/// The message at the start of `bytes`, if it is valid.
pub(crate) fn message(bytes: &[u8]) -> Option<Message> {
    message_of(bytes, |_| true)
}

/// The message at the start of `bytes`, if it is valid and of a segment that is looked for.
pub(crate) fn message_of(bytes: &[u8], wanted: impl Fn(u64) -> bool) -> Option<Message> {
    let found = claimed(bytes)?;
    (wanted(found.segment) && sum(bytes, &found)? == *bytes.first_chunk()?).then_some(found)
}

/// What the header at the start of `bytes` says of a message, whatever its check sum.
pub(crate) fn claimed(bytes: &[u8]) -> Option<Message> {
    let (kind, mut rest) = bytes.get(4..)?.split_first()?;
    if *kind == 0 || *kind > KIND_LAST {
        return None;
    }
    let body = usize::try_from(varint(&mut rest)?).ok()?;
    let segment = varint(&mut rest)?;
    let page = varint(&mut rest)?;
    let head = bytes.len() - rest.len();
    (body <= rest.len()).then(|| Message { kind: *kind, segment, page, head, length: head + body })
}

/// The check sum of a message, as it stands in its first bytes.
pub(crate) fn sum(bytes: &[u8], message: &Message) -> Option<[u8; 4]> {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(bytes.get(message.head..message.length)?);
    hasher.update(bytes.get(4..message.head)?);
    Some((hasher.finalize() ^ u32::MAX).to_le_bytes())
}

/// sled's own variable-length numbers.
pub(crate) fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let (first, rest) = bytes.split_first()?;
    let (value, rest) = match *first {
        small @ 0..=240 => (u64::from(small), rest),
        middle @ 241..=248 => {
            let (low, rest) = rest.split_first()?;
            (240 + 256 * (u64::from(middle) - 241) + u64::from(*low), rest)
        }
        249 => {
            let ([high, low], rest) = rest.split_first_chunk::<2>()?;
            (2288 + 256 * u64::from(*high) + u64::from(*low), rest)
        }
        wide => {
            let (taken, rest) = rest.split_at_checked(usize::from(wide) - 247)?;
            let mut number = [0; 8];
            for (to, from) in number.iter_mut().zip(taken) {
                *to = *from;
            }
            (u64::from_le_bytes(number), rest)
        }
    };
    *bytes = rest;
    Some(value)
}

/// How many bytes a number of sled's own begins with this one.
pub(crate) fn varint_bytes(first: u8) -> usize {
    match first {
        0..=240 => 1,
        241..=248 => 2,
        wide => usize::from(wide) - 246,
    }
}

/// Writes a number as [`varint`] reads it, in its shortest form.
pub(crate) fn write_varint(number: u64, bytes: &mut Vec<u8>) {
    let [low, ..] = number.to_le_bytes();
    match number {
        0..=240 => bytes.push(low),
        241..=2287 => {
            let [low, high, ..] = (number - 240).to_le_bytes();
            bytes.extend([high + 241, low]);
        }
        2288..=67_823 => {
            let [low, high, ..] = (number - 2288).to_le_bytes();
            bytes.extend([249, high, low]);
        }
        _ => {
            let wide = (8 - number.leading_zeros() as usize / 8).max(3);
            bytes.push(247 + wide as u8);
            bytes.extend(number.to_le_bytes().into_iter().take(wide));
        }
    }
}

/// How many bytes of the segment at `offset`, which begins at `position` of the log, are messages of its own; the whole
/// segment if it was filled.
pub(crate) fn messages_until(file: &File, offset: u64, position: u64) -> io::Result<u64> {
    let end = end_at(file, offset, position)?;
    Ok(if end.is_filled { SEGMENT_BYTES as u64 } else { end.at as u64 })
}

/// Where the messages of a segment end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// First byte in the segment that is none of a message with content.
    pub at: usize,
    /// Whether the segment was filled: a message that says so follows, or no other fits.
    pub is_filled: bool,
}

/// Where the messages of the segment at `offset` end, which begins at `position` of the log.
pub(crate) fn end_at(file: &File, offset: u64, position: u64) -> io::Result<End> {
    let mut segment = vec![0; SEGMENT_BYTES];
    Ok(end_of(read(file, offset, &mut segment)?, position / SEGMENT_BYTES as u64))
}

/// How many bytes of a segment are messages of its own; the whole segment if it was filled.
pub(crate) fn valid_until(segment: &[u8], number: u64) -> usize {
    let End { at, is_filled } = end_of(segment, number);
    if is_filled { SEGMENT_BYTES } else { at }
}

fn end_of(segment: &[u8], number: u64) -> End {
    each_message(segment, number, |_, _, _| {})
}

/// Goes through the messages of segment `number`: of each its place in the segment, its header, and its body.
pub(crate) fn each_message(segment: &[u8], number: u64, mut see: impl FnMut(usize, Message, &[u8])) -> End {
    let mut at = HEADER_BYTES;
    loop {
        if at > SEGMENT_BYTES - MESSAGE_HEADER_BYTES_MAX {
            return End { at, is_filled: true };
        }
        let rest = segment.get(at..).unwrap_or_default();
        match message(rest) {
            Some(Message { segment, .. }) if segment != number => return End { at, is_filled: false },
            Some(Message { kind: KIND_CAP, .. }) => return End { at, is_filled: true },
            Some(found) => {
                see(at, found, rest.get(found.head..found.length).unwrap_or_default());
                at += found.length;
            }
            None => return End { at, is_filled: false },
        }
    }
}

/// What stands in a segment behind a place that is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// A message of the same segment: the place is damaged.
    Same,
    /// A message of a later one: the segment was free and is being used anew.
    Newer,
    /// Nothing, but with one bit turned the message at the place would be valid.
    Mended,
    /// Nothing.
    Nothing,
}

fn behind(segment: &[u8], at: usize, number: u64) -> Behind {
    for next in at..segment.len() {
        let wanted = |found: u64| found >= number && found - number < AHEAD_MAX;
        match segment.get(next..).and_then(|bytes| message_of(bytes, wanted)) {
            None => {}
            Some(found) if found.segment == number => return Behind::Same,
            Some(_) => return Behind::Newer,
        }
    }
    if is_mended(segment, at, number) { Behind::Mended } else { Behind::Nothing }
}

/// Whether the message at `at` is one of this segment but for one bit: of its header, or else, the header being
/// plausible, of its body.
fn is_mended(segment: &[u8], at: usize, number: u64) -> bool {
    let Some(bytes) = segment.get(at..) else { return false };
    if mended(bytes, number).is_some() {
        return true;
    }
    claimed(bytes).is_some_and(|message| message.segment == number && is_last(at, &message))
}

/// The byte near the beginning of a message that makes it one of this segment if one of its bits is turned: where it stands,
/// what it must be, and the length of the message.
pub(crate) fn mended(bytes: &[u8], number: u64) -> Option<(usize, u8, usize)> {
    let mut copy = bytes.to_vec();
    for place in 0..MENDED_BYTES_MAX.min(bytes.len()) {
        let was = *bytes.get(place)?;
        for bit in 0..8 {
            let byte = was ^ (1 << bit);
            *copy.get_mut(place)? = byte;
            if let Some(message) = message_of(&copy, |of| of == number) {
                return Some((place, byte, message.length));
            }
        }
        *copy.get_mut(place)? = was;
    }
    None
}

/// Whether nothing fits into a segment behind a message of it at `at`.
pub(crate) fn is_last(at: usize, message: &Message) -> bool {
    let end = at + message.length;
    end <= SEGMENT_BYTES && end + MESSAGE_HEADER_BYTES_MAX > SEGMENT_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_the_engine_writes_them() {
        let cases: [(&[u8], u64); 6] = [
            (&[240], 240),
            (&[241, 0], 240),
            (&[248, 255], 2287),
            (&[249, 0, 1], 2289),
            (&[250, 1, 2, 3], 0x03_02_01),
            (&[255, 1, 0, 0, 0, 0, 0, 0, 1], 0x0100_0000_0000_0001),
        ];
        for (bytes, expected) in cases {
            let mut rest = bytes;
            assert_eq!(varint(&mut rest), Some(expected));
            assert!(rest.is_empty());
            assert_eq!(varint(&mut &bytes[..bytes.len() - 1]), None);
        }
    }

    #[test]
    fn a_snapshot_in_the_making_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(snapshot_end(folder.path()).unwrap(), 0);
        for name in
            ["snap.00000000000B7A64", "snap.0000000000000F00", "snap.00000000000E7F91.generating", "db"]
        {
            std::fs::write(folder.path().join(name), []).unwrap();
        }
        assert_eq!(snapshot_end(folder.path()).unwrap(), 0xb7a64);
    }
}

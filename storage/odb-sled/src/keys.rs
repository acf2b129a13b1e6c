//! Keys of the one tree: repository number, space, then the key inside the space.

use lochan_storage_model::{ObjectId, RefName};
use lochan_storage_odb::{DerivedSpace, RecordSpace};

/// Number of the one repository that a store holds today.
const REPOSITORY: [u8; 2] = 0u16.to_be_bytes();
/// Length of what stands in front of the key inside a space, in bytes.
pub(crate) const PREFIX_BYTES: usize = 3;
/// Length of a position in a key, in bytes.
pub(crate) const POSITION_BYTES: usize = 12;
/// Part of an object id that keys the table from id to position, in bytes. With the prefix it fits what sled keeps
/// without an allocation; ids that share it stand together in one row.
const ID_BYTES: usize = 16;

/// A space of rows. The byte is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Space {
    /// Text → single values of the store.
    Meta = 0,
    /// Position → object, or its header if it is chunked.
    Object = 1,
    /// Position, number → a chunk of an object or record.
    Chunk = 2,
    /// First half of an object id → positions. Derived.
    Position = 3,
    /// Name → reference.
    Reference = 4,
    /// Name of a deleted reference → number of its latest log entry.
    RefNumber = 5,
    /// Name, zero, number of the first entry → log entries.
    RefLog = 6,
    /// Request key → name and number of a log entry.
    Request = 7,
    /// Record space, key → record.
    Record = 8,
    /// Record space, key of a deleted record → its latest version.
    RecordVersion = 9,
    /// Derived space, key → derived row.
    Derived = 10,
    /// Derived space, key, number → a chunk of a derived row.
    DerivedChunk = 11,
}

/// Where an object stands: the batch that wrote it, and its place there. Never given out twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Position {
    /// Number of the batch.
    pub batch: u64,
    /// Place in the batch.
    pub place: u32,
}

impl Position {
    /// Its bytes in a key, in the order of positions.
    pub(crate) fn bytes(self) -> [u8; POSITION_BYTES] {
        let mut bytes = [0; POSITION_BYTES];
        let (batch, place) = bytes.split_at_mut(8);
        batch.copy_from_slice(&self.batch.to_be_bytes());
        place.copy_from_slice(&self.place.to_be_bytes());
        bytes
    }

    /// Reads what [`Position::bytes`] wrote.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (batch, place) = bytes.split_first_chunk::<8>()?;
        Some(Self { batch: u64::from_be_bytes(*batch), place: u32::from_be_bytes(place.try_into().ok()?) })
    }
}

/// A key of `space` made of `parts`.
pub(crate) fn key(space: Space, parts: &[&[u8]]) -> Vec<u8> {
    let mut key = Vec::with_capacity(PREFIX_BYTES + parts.iter().map(|part| part.len()).sum::<usize>());
    key.extend_from_slice(&REPOSITORY);
    key.push(space as u8);
    for part in parts {
        key.extend_from_slice(part);
    }
    key
}

/// Whether a whole key is that of a row of positions.
pub(crate) fn is_position(key: &[u8]) -> bool {
    is_in(key, Space::Position)
}

/// Whether a whole key is that of a derived row or a chunk of one.
pub(crate) fn is_derived(key: &[u8]) -> bool {
    key.get(PREFIX_BYTES - 1).is_some_and(|space| *space >= Space::Derived as u8)
}

/// Whether a whole key is that of an object or a chunk: rows that may be as long as a row can be.
pub(crate) fn is_large(key: &[u8]) -> bool {
    is_in(key, Space::Object) || is_in(key, Space::Chunk)
}

/// Whether a whole key lies in `space`.
pub(crate) fn is_in(key: &[u8], space: Space) -> bool {
    key.get(PREFIX_BYTES - 1) == Some(&(space as u8))
}

/// Whether a whole key lies in a space behind `space`.
pub(crate) fn is_behind(key: &[u8], space: Space) -> bool {
    key.get(PREFIX_BYTES - 1) > Some(&(space as u8))
}

/// The key inside its space of a whole key.
pub(crate) fn inside(key: &[u8]) -> &[u8] {
    key.get(PREFIX_BYTES..).unwrap_or_default()
}

/// The first key behind every key that starts with `prefix`; `prefix` starts with a space, so there is one.
pub(crate) fn end_of(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            break;
        }
    }
    end
}

/// Key of an object row.
pub(crate) fn object(position: Position) -> [u8; PREFIX_BYTES + POSITION_BYTES] {
    let mut key = [0; PREFIX_BYTES + POSITION_BYTES];
    let (prefix, rest) = key.split_at_mut(PREFIX_BYTES);
    prefix.copy_from_slice(&[REPOSITORY[0], REPOSITORY[1], Space::Object as u8]);
    rest.copy_from_slice(&position.bytes());
    key
}

/// The position in the key of an object row; `None` for any other key.
pub(crate) fn object_position(key: &[u8]) -> Option<Position> {
    Position::from_bytes(inside(key)).filter(|_| is_in(key, Space::Object))
}

/// Key of a chunk.
pub(crate) fn chunk(position: Position, number: u32) -> Vec<u8> {
    key(Space::Chunk, &[&position.bytes(), &number.to_be_bytes()])
}

/// Key of the row that leads from an object id to positions.
pub(crate) fn position(id: ObjectId) -> [u8; PREFIX_BYTES + ID_BYTES] {
    let mut key = [0; PREFIX_BYTES + ID_BYTES];
    let (prefix, rest) = key.split_at_mut(PREFIX_BYTES);
    prefix.copy_from_slice(&[REPOSITORY[0], REPOSITORY[1], Space::Position as u8]);
    for (to, from) in rest.iter_mut().zip(id.as_bytes()) {
        *to = *from;
    }
    key
}

/// Key of a reference.
pub(crate) fn reference(name: &RefName) -> Vec<u8> {
    key(Space::Reference, &[name.as_str().as_bytes()])
}

/// Key of the number kept for a deleted reference.
pub(crate) fn ref_number(name: &RefName) -> Vec<u8> {
    key(Space::RefNumber, &[name.as_str().as_bytes()])
}

/// What all log rows of a name start with. No name holds a zero, so that none is the start of another here.
pub(crate) fn ref_log_prefix(name: &RefName) -> Vec<u8> {
    key(Space::RefLog, &[name.as_str().as_bytes(), &[0]])
}

/// Key of the log row of `name` whose first entry has `number`.
pub(crate) fn ref_log(name: &RefName, number: u64) -> Vec<u8> {
    key(Space::RefLog, &[name.as_str().as_bytes(), &[0], &number.to_be_bytes()])
}

/// Name and number of a log key.
pub(crate) fn split_ref_log(key: &[u8]) -> Option<(&str, u64)> {
    let (rest, number) = inside(key).split_last_chunk::<8>()?;
    let (zero, name) = rest.split_last()?;
    let name = std::str::from_utf8(name).ok().filter(|_| *zero == 0)?;
    Some((name, u64::from_be_bytes(*number)))
}

/// Key of a request.
pub(crate) fn request(request: &[u8; 32]) -> Vec<u8> {
    key(Space::Request, &[request])
}

/// Key of a record.
pub(crate) fn record(space: RecordSpace, record: &[u8]) -> Vec<u8> {
    key(Space::Record, &[&[space.byte()], record])
}

/// Key of the version kept for a deleted record.
pub(crate) fn record_version(space: RecordSpace, record: &[u8]) -> Vec<u8> {
    key(Space::RecordVersion, &[&[space.byte()], record])
}

/// Key of a derived row.
pub(crate) fn derived(space: DerivedSpace, row: &[u8]) -> Vec<u8> {
    key(Space::Derived, &[&[space.byte()], row])
}

/// Key of a chunk of a derived row.
pub(crate) fn derived_chunk(space: DerivedSpace, row: &[u8], number: u16) -> Vec<u8> {
    key(Space::DerivedChunk, &[&[space.byte()], row, &number.to_be_bytes()])
}

/// Key of the row that counts what the store holds. Among the small rows of that space, since sled rewrites a leaf as
/// one piece and this row changes with every batch.
pub(crate) fn state() -> Vec<u8> {
    key(Space::RefNumber, &[])
}

/// Key of the current epoch.
pub(crate) fn epoch() -> Vec<u8> {
    key(Space::Meta, &[b"epoch"])
}

/// Key of the number of the last batch whose objects all stand in the table from id to position.
pub(crate) fn watermark() -> Vec<u8> {
    key(Space::Meta, &[b"positions"])
}

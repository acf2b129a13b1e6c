//! Values of the one tree, field by field as `FORMAT.md` draws them.

use bytes::Bytes;
use lochan_storage_model::{
    DecodeError, RefName,
    encoding::{Reader, Writer},
};
use lochan_storage_odb::RefLogEntry;

use crate::keys::Position;

/// Format version of the rows of this crate.
pub(crate) const FORMAT: u8 = 1;
/// Largest value of one row, in bytes. sled rewrites a leaf of up to 17 rows as one piece, and a piece of 128 KiB or more
/// becomes a file of its own that is never synced. With the longest key (2 KiB) 17 such rows stay below that.
pub(crate) const VALUE_BYTES_MAX: usize = 5 * 1024;
/// Room for what stands in front of the bytes of a row, in bytes.
const HEADER_BYTES_MAX: usize = 128;
/// Most bytes of an object, a record or a chunk in one row.
pub(crate) const CHUNK_BYTES: usize = VALUE_BYTES_MAX - HEADER_BYTES_MAX;
/// From this size on a log row takes no further entry, in bytes. An entry has at most 1,400.
pub(crate) const LOG_ROW_BYTES: usize = 3 * 1024;

/// Number of chunks for `size` bytes; 0 if they fit in the row itself.
pub(crate) fn chunks(size: usize) -> u32 {
    if size <= CHUNK_BYTES { 0 } else { u32::try_from(size.div_ceil(CHUNK_BYTES)).unwrap_or(u32::MAX) }
}

/// The value of a record: in its row, or in chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RecordValue {
    Here(Bytes),
    Chunked { at: Position, size: usize },
}

/// Writes the row of a record.
pub(crate) fn write_record(version: u64, value: &RecordValue) -> Vec<u8> {
    let mut w = Writer::with_capacity(32);
    w.u8(FORMAT);
    w.varint(version);
    match value {
        RecordValue::Here(bytes) => {
            w.u8(0);
            w.raw(bytes);
        }
        RecordValue::Chunked { at, size } => {
            w.u8(1);
            w.raw(&at.bytes());
            w.raw(&(*size as u64).to_be_bytes());
        }
    }
    w.finish()
}

/// Reads the row of a record: version and value.
pub(crate) fn read_record(row: &[u8]) -> Result<(u64, RecordValue), DecodeError> {
    let mut r = Reader::new(row);
    format(&mut r, "record row")?;
    let version = r.varint("record version")?;
    let value = match r.u8("chunked")? {
        0 => RecordValue::Here(Bytes::copy_from_slice(r.rest())),
        1 => {
            let at = Position::from_bytes(&r.array::<12>("chunk position")?)
                .ok_or(DecodeError::Invalid("chunk position"))?;
            let size = u64::from_be_bytes(r.array("record size")?);
            r.end()?;
            RecordValue::Chunked {
                at,
                size: usize::try_from(size).map_err(|_| DecodeError::Invalid("record size"))?,
            }
        }
        _ => return Err(DecodeError::Invalid("chunked")),
    };
    Ok((version, value))
}

/// Writes entries of one name with consecutive numbers as rows: number of the first entry and value of each row.
pub(crate) fn write_log(entries: &[RefLogEntry]) -> Vec<(u64, Vec<u8>)> {
    let mut rows = Vec::with_capacity(1);
    let mut rest = entries.iter().peekable();
    while let Some(first) = rest.next() {
        let mut body = Writer::with_capacity(160);
        first.write(&mut body);
        let mut body = body.finish();
        let mut count = 1u64;
        while body.len() < LOG_ROW_BYTES {
            let Some(entry) = rest.next_if(|entry| entry.number == first.number + count) else { break };
            let mut w = Writer::with_capacity(160);
            entry.write(&mut w);
            body.extend_from_slice(&w.finish());
            count += 1;
        }
        let mut row = Writer::with_capacity(body.len() + 4);
        row.u8(FORMAT);
        row.varint(count);
        row.raw(&body);
        rows.push((first.number, row.finish()));
    }
    rows
}

/// Reads a log row of `name` whose first entry has the number `first`, oldest first.
pub(crate) fn read_log(name: &RefName, first: u64, row: &[u8]) -> Result<Vec<RefLogEntry>, DecodeError> {
    let mut r = Reader::new(row);
    format(&mut r, "ref log row")?;
    let count = r.count("ref log entries")?;
    let mut entries = Vec::with_capacity(count);
    for number in (first..).take(count) {
        entries.push(RefLogEntry::read(name.clone(), number, &mut r)?);
    }
    r.end()?;
    Ok(entries)
}

/// Writes a row of the request index.
pub(crate) fn write_request(name: &RefName, number: u64) -> Vec<u8> {
    let mut w = Writer::with_capacity(32);
    w.u8(FORMAT);
    w.varint(number);
    w.raw(name.as_str().as_bytes());
    w.finish()
}

/// Reads a row of the request index.
pub(crate) fn read_request(row: &[u8]) -> Result<(RefName, u64), DecodeError> {
    let mut r = Reader::new(row);
    format(&mut r, "request row")?;
    let number = r.varint("request number")?;
    let name = std::str::from_utf8(r.rest()).ok().and_then(|name| RefName::new(name).ok());
    Ok((name.ok_or(DecodeError::Invalid("request reference"))?, number))
}

/// Writes a single number.
pub(crate) fn write_number(number: u64) -> Vec<u8> {
    let mut w = Writer::with_capacity(11);
    w.u8(FORMAT);
    w.varint(number);
    w.finish()
}

/// Reads a single number.
pub(crate) fn read_number(row: &[u8]) -> Result<u64, DecodeError> {
    let mut r = Reader::new(row);
    format(&mut r, "number row")?;
    let number = r.varint("number")?;
    r.end()?;
    Ok(number)
}

/// Appends a position to a row of the table from id to position.
pub(crate) fn write_position(position: Position, row: &mut Vec<u8>) {
    let mut w = Writer::with_capacity(12);
    w.varint(position.batch);
    w.varint(u64::from(position.place));
    row.extend_from_slice(&w.finish());
}

/// Reads a row of the table from id to position, oldest first.
pub(crate) fn read_positions(row: &[u8]) -> Result<Vec<Position>, DecodeError> {
    let mut r = Reader::new(row);
    let mut positions = Vec::with_capacity(1);
    while !r.rest().is_empty() {
        let batch = r.varint("batch")?;
        let place = u32::try_from(r.varint("place")?).map_err(|_| DecodeError::Invalid("place"))?;
        positions.push(Position { batch, place });
    }
    Ok(positions)
}

pub(crate) fn format(r: &mut Reader<'_>, what: &'static str) -> Result<(), DecodeError> {
    match r.u8(what)? {
        FORMAT => Ok(()),
        found => Err(DecodeError::Version { what, found }),
    }
}

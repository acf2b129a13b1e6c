//! One batch in the journal, as `FORMAT.md` draws it.

use std::{fs::File, io, os::unix::fs::FileExt as _};

use lochan_storage_model::{
    DecodeError,
    encoding::{Reader, Writer},
};

use crate::batch::{Row, Rows};

pub(crate) const MAGIC: [u8; 4] = *b"LOJ1";
/// Length of a check sum, in bytes.
const SUM_BYTES: usize = 16;
/// Magic, length of the rows, batch, batch before, store, nonce, sum of the record before.
const FIELDS_BYTES: usize = 4 + 3 * 8 + 8 + 16 + SUM_BYTES;
/// What stands in front of the rows.
const HEADER_BYTES: usize = FIELDS_BYTES + SUM_BYTES;
/// What stands around the key and value of a row, hardly ever more, in bytes.
const ROW_BYTES: usize = 6;

/// The check sum of a record.
pub(crate) type Sum = [u8; SUM_BYTES];

/// What a record says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// Number of the batch.
    pub batch: u64,
    /// Number of the batch before it. Not all numbers are used.
    pub previous: u64,
    /// Beginning of the identity of the store's folder.
    pub store: [u8; 8],
    /// A number that only the session knew that wrote it: rows hold what clients have made up, and nobody shall make up a
    /// record.
    pub nonce: [u8; 16],
    /// Sum of the record in front of it in its file; zeros for the first one.
    pub prior: Sum,
}

/// A record that was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub head: Head,
    pub sum: Sum,
    pub rows: Rows,
    /// Where it ends in its file.
    pub end: u64,
}

/// The bytes of a record, and its sum.
pub(crate) fn write(head: &Head, rows: &Rows) -> (Vec<u8>, Sum) {
    let mut w = Writer::with_capacity(HEADER_BYTES + rows.bytes() + rows.iter().len() * ROW_BYTES);
    w.raw(&[0; HEADER_BYTES]);
    for Row { key, value, is_new } in rows.iter() {
        w.u8(match (value, is_new) {
            (None, _) => 0,
            (Some(_), false) => 1,
            (Some(_), true) => 2,
        });
        w.bytes(key);
        if let Some(value) = value {
            w.bytes(value);
        }
    }
    let mut record = w.finish();
    let mut sum = Sum::default();
    if let Some((header, body)) = record.split_first_chunk_mut::<HEADER_BYTES>() {
        let fields = fields(head, body.len() as u64);
        sum = self::sum(&fields, body);
        for (to, from) in header.iter_mut().zip(fields.into_iter().chain(sum)) {
            *to = from;
        }
    }
    (record, sum)
}

fn fields(head: &Head, length: u64) -> Vec<u8> {
    let Head { batch, previous, store, nonce, prior } = head;
    let mut fields = Vec::with_capacity(FIELDS_BYTES);
    fields.extend_from_slice(&MAGIC);
    for number in [length, *batch, *previous] {
        fields.extend_from_slice(&number.to_be_bytes());
    }
    fields.extend_from_slice(store);
    fields.extend_from_slice(nonce);
    fields.extend_from_slice(prior);
    fields
}

fn sum(fields: &[u8], body: &[u8]) -> Sum {
    let mut hasher = blake3::Hasher::new();
    hasher.update(fields);
    hasher.update(body);
    hasher.finalize().as_bytes().first_chunk().copied().unwrap_or_default()
}

/// Reads the record at `at` of a file of `length` bytes, whole or not at all. Rows are left out of one up to `stored`.
pub(crate) fn read(file: &File, at: u64, length: u64, stored: u64) -> io::Result<Option<Record>> {
    let Some((head, body_bytes, sum)) = read_head(file, at)? else { return Ok(None) };
    let start = at + HEADER_BYTES as u64;
    let Some(end) = start.checked_add(body_bytes).filter(|end| *end <= length) else { return Ok(None) };
    let mut body = vec![0; usize::try_from(body_bytes).map_err(io::Error::other)?];
    if !read_whole(file, &mut body, start)? || self::sum(&fields(&head, body_bytes), &body) != sum {
        return Ok(None);
    }
    let rows = if head.batch > stored { rows(&body).map_err(io::Error::other)? } else { Rows::default() };
    Ok(Some(Record { head, sum, rows, end }))
}

/// What stands at `at` in front of the rows: head, length of the rows, sum. `None` if it is no record.
pub(crate) fn read_head(file: &File, at: u64) -> io::Result<Option<(Head, u64, Sum)>> {
    let mut header = [0; HEADER_BYTES];
    if !read_whole(file, &mut header, at)? {
        return Ok(None);
    }
    let mut r = Reader::new(&header);
    let mut read = || {
        if r.array("magic")? != MAGIC {
            return Err(DecodeError::Invalid("magic"));
        }
        let mut number = |what| r.array(what).map(u64::from_be_bytes);
        let (length, batch, previous) = (number("length")?, number("batch")?, number("batch before")?);
        let (store, nonce, prior) = (r.array("store")?, r.array("nonce")?, r.array("prior")?);
        Ok((Head { batch, previous, store, nonce, prior }, length, r.array("sum")?))
    };
    Ok(read().ok())
}

fn read_whole(file: &File, bytes: &mut [u8], at: u64) -> io::Result<bool> {
    match file.read_exact_at(bytes, at) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn rows(body: &[u8]) -> Result<Rows, DecodeError> {
    let mut r = Reader::new(body);
    let mut rows = Rows::default();
    while !r.rest().is_empty() {
        let flag = r.u8("flag")?;
        let key = r.bytes("key")?;
        match flag {
            0 => rows.push(key, None, false),
            1 | 2 => rows.push(key, Some(r.bytes("value")?), flag == 2),
            _ => return Err(DecodeError::Invalid("flag")),
        }
    }
    Ok(rows)
}

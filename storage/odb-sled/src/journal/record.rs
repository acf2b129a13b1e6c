//! One batch in the journal, as `FORMAT.md` draws it.

use std::{fs::File, io, os::unix::fs::FileExt as _};

use lochan_storage_model::{
    DecodeError,
    encoding::{Reader, Writer},
};

use crate::batch::{Row, Rows};

const MAGIC: [u8; 4] = *b"LOJ1";
/// Length of the check sum, in bytes.
const SUM_BYTES: usize = 16;
/// What stands in front of the rows: magic, length of the rows, batch, batch before, sum.
const HEADER_BYTES: usize = 4 + 3 * 8 + SUM_BYTES;
/// What stands around the key and value of a row, hardly ever more, in bytes.
const ROW_BYTES: usize = 6;

/// A batch that was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// Its number.
    pub batch: u64,
    /// Number of the batch before it. Not all numbers are used.
    pub previous: u64,
    pub rows: Rows,
}

/// The bytes of a record.
pub(crate) fn write(batch: u64, previous: u64, rows: &Rows) -> Vec<u8> {
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
    if let Some((header, body)) = record.split_first_chunk_mut::<HEADER_BYTES>() {
        *header = self::header(batch, previous, body);
    }
    record
}

fn header(batch: u64, previous: u64, body: &[u8]) -> [u8; HEADER_BYTES] {
    let numbers = [body.len() as u64, batch, previous].map(u64::to_be_bytes).concat();
    let mut hasher = blake3::Hasher::new();
    hasher.update(&numbers);
    hasher.update(body);
    let sum = hasher.finalize();
    let fields = MAGIC.iter().chain(&numbers).chain(sum.as_bytes().iter().take(SUM_BYTES));
    let mut header = [0; HEADER_BYTES];
    for (to, from) in header.iter_mut().zip(fields) {
        *to = *from;
    }
    header
}

/// Reads the record at `at`, whole or not at all. Rows are left out of one up to `stored`. Returns it with its end.
pub(crate) fn read(file: &File, at: u64, stored: u64) -> io::Result<Option<(Record, u64)>> {
    let mut found = [0; HEADER_BYTES];
    if !read_whole(file, &mut found, at)? {
        return Ok(None);
    }
    let mut r = Reader::new(&found);
    if r.array("magic") != Ok(MAGIC) {
        return Ok(None);
    }
    let mut number = || r.array("number").map(u64::from_be_bytes).unwrap_or_default();
    let (length, batch, previous) = (number(), number(), number());
    let start = at + HEADER_BYTES as u64;
    let length_of_file = file.metadata()?.len();
    let Some(end) = start.checked_add(length).filter(|end| *end <= length_of_file) else { return Ok(None) };
    let mut body = vec![0; usize::try_from(length).map_err(io::Error::other)?];
    if !read_whole(file, &mut body, start)? || header(batch, previous, &body) != found {
        return Ok(None);
    }
    let rows = if batch > stored { rows(&body).map_err(io::Error::other)? } else { Rows::default() };
    Ok(Some((Record { batch, previous, rows }, end)))
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

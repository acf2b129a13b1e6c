//! Rows of objects: one object, or a pack of small commits, as `FORMAT.md` draws them.
//!
//! A commit of one key has a few hundred bytes, and a batch holds dozens. Each row costs the engine a search, a piece of its
//! log and a share of a rewritten leaf, whatever its size; a pack pays that once for all that fit.

use std::ops::Range;

use lochan_storage_model::{
    DecodeError, ObjectId, ObjectKind,
    encoding::{Reader, Writer},
};
use lochan_storage_odb::Epoch;

use crate::rows::{self, CHUNK_BYTES, FORMAT};

/// The only codec: bytes as they are.
const CODEC_PLAIN: u8 = 0;
/// The only key: none.
const KEY_NONE: u8 = 0;
/// Stands where a row of one object has its kind.
const PACK: u8 = 0xff;
/// A row of one object up to its bytes, without the epoch.
const HEAD: [Range<usize>; 2] = [0..4, 8..41];
/// Where the flag stands in it that tells whether the object is chunked.
const CHUNKED_AT: usize = 40;
/// Where the size stands of one that is.
const CHUNKED_SIZE: Range<usize> = 41..49;
/// What stands in front of the first object of a row, at most, in bytes.
const START_BYTES_MAX: usize = 2;
/// Length of the epoch, in bytes.
const EPOCH_BYTES: usize = 4;
/// What a pack holds in front of the bytes of each object, at most, in bytes.
const PACKED_HEADER_BYTES_MAX: usize = 48;
/// Largest object in a pack, in bytes. A larger one gains little from company.
const PACKED_BYTES_MAX: usize = 1_536;

/// What is known of an object beside its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ObjectHeader {
    pub kind: ObjectKind,
    pub epoch: Epoch,
    pub id: ObjectId,
    pub size: usize,
}

impl ObjectHeader {
    /// Whether the object goes into a pack. Only commits do: they come by the dozen, and hardly ever twice.
    pub(crate) fn is_packed(&self) -> bool {
        self.kind == ObjectKind::Commit && self.size <= PACKED_BYTES_MAX
    }

    /// Writes the row of one object; `bytes` stand in it unless they are chunked.
    pub(crate) fn write(&self, bytes: &[u8], row: &mut Vec<u8>) {
        row.clear();
        row.push(FORMAT);
        self.write_start(row);
        if rows::chunks(self.size) == 0 {
            row.push(0);
            row.extend_from_slice(bytes);
        } else {
            row.push(1);
            row.extend_from_slice(&(self.size as u64).to_be_bytes());
        }
    }

    fn write_start(&self, row: &mut Vec<u8>) {
        row.extend_from_slice(&[self.kind.byte(), CODEC_PLAIN, KEY_NONE]);
        row.extend_from_slice(&self.epoch.to_be_bytes());
        row.extend_from_slice(self.id.as_bytes());
    }
}

/// A row of several objects in the making.
#[derive(Debug, Default)]
pub(crate) struct Pack {
    row: Vec<u8>,
}

impl Pack {
    /// Whether another object has room in it.
    pub(crate) fn has_room(&self, header: &ObjectHeader) -> bool {
        self.row.len() + PACKED_HEADER_BYTES_MAX + header.size <= CHUNK_BYTES
    }

    /// Appends an object.
    pub(crate) fn push(&mut self, header: &ObjectHeader, bytes: &[u8]) {
        if self.row.is_empty() {
            self.row.extend_from_slice(&[FORMAT, PACK]);
        }
        header.write_start(&mut self.row);
        let mut sized = Writer::with_capacity(bytes.len() + 4);
        sized.bytes(bytes);
        self.row.extend_from_slice(&sized.finish());
    }

    /// The row as it stands.
    pub(crate) fn row(&self) -> &[u8] {
        &self.row
    }

    /// Empties it for the next row.
    pub(crate) fn clear(&mut self) {
        self.row.clear();
    }
}

/// An object as its row has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry<'a> {
    pub header: ObjectHeader,
    /// `None` if they are chunked.
    pub bytes: Option<&'a [u8]>,
    /// Where the epoch stands in the row.
    epoch_at: usize,
    /// What of the row is this object alone.
    span: Range<usize>,
}

/// The objects of a row in order.
pub(crate) struct Entries<'a> {
    row: &'a [u8],
    rest: Reader<'a>,
    pack: bool,
    /// After the only object of its row, or after a mistake.
    ended: bool,
}

/// Reads a row of objects.
pub(crate) fn entries(row: &[u8]) -> Result<Entries<'_>, DecodeError> {
    let mut rest = Reader::new(row);
    rows::format(&mut rest, "object row")?;
    let pack = rest.rest().first() == Some(&PACK);
    if pack {
        rest.u8("pack")?;
    }
    Ok(Entries { row, rest, pack, ended: false })
}

/// The object `id` of a row, if it stands there.
pub(crate) fn find(row: &[u8], id: ObjectId) -> Result<Option<Entry<'_>>, DecodeError> {
    entries(row)?.find(|entry| entry.as_ref().map_or(true, |entry| entry.header.id == id)).transpose()
}

/// The objects of a row behind `last`, all of them if it does not stand there; none of a row that cannot be read to its end.
pub(crate) fn behind(
    row: &[u8],
    last: Option<ObjectId>,
) -> Result<impl Iterator<Item = Entry<'_>>, DecodeError> {
    let mut seen = 0;
    // Read twice, since that costs less than keeping them meanwhile.
    for (at, entry) in entries(row)?.enumerate() {
        if last == Some(entry?.header.id) {
            seen = at + 1;
        }
    }
    Ok(entries(row)?.filter_map(Result::ok).skip(seen))
}

/// Gives the object `id` of a row another epoch.
pub(crate) fn renew(row: &mut [u8], id: ObjectId, epoch: Epoch) -> Result<(), DecodeError> {
    let Some(at) = find(row, id)?.map(|entry| entry.epoch_at) else { return Ok(()) };
    for (to, from) in row.iter_mut().skip(at).zip(epoch.to_be_bytes()) {
        *to = from;
    }
    Ok(())
}

/// Takes the object `id` out of a row. A row that is empty then is to be removed.
pub(crate) fn remove(row: &mut Vec<u8>, id: ObjectId) -> Result<(), DecodeError> {
    if row.is_empty() {
        return Ok(());
    }
    if let Some(span) = find(row, id)?.map(|entry| entry.span) {
        row.drain(span);
        if row.len() <= START_BYTES_MAX {
            row.clear();
        }
    }
    Ok(())
}

/// Appends what counts of a row in the sums of the store (`FORMAT.md`, *Damage*): who stands there, not since which epoch, nor
/// the bytes, which the ids vouch for. A pack that cannot be read counts as it is.
pub(crate) fn counted(row: &[u8], counted: &mut Vec<u8>) {
    if row.get(1) != Some(&PACK) {
        for part in HEAD {
            counted.extend_from_slice(row.get(part).unwrap_or_default());
        }
        if row.get(CHUNKED_AT) == Some(&1) {
            counted.extend_from_slice(row.get(CHUNKED_SIZE).unwrap_or_default());
        }
        return;
    }
    match behind(row, None) {
        Err(_) => counted.extend_from_slice(row),
        Ok(entries) => {
            for ObjectHeader { kind, id, size, .. } in entries.map(|entry| entry.header) {
                counted.push(kind.byte());
                counted.extend_from_slice(id.as_bytes());
                counted.extend_from_slice(&(size as u64).to_be_bytes());
            }
        }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended || (self.pack && self.rest.rest().is_empty()) {
            return None;
        }
        let entry = self.read();
        self.ended = !self.pack || entry.is_err();
        Some(entry)
    }
}

impl<'a> Entries<'a> {
    fn at(&self) -> usize {
        self.row.len() - self.rest.rest().len()
    }

    fn read(&mut self) -> Result<Entry<'a>, DecodeError> {
        let start = self.at();
        let r = &mut self.rest;
        let kind = ObjectKind::from_byte(r.u8("object kind")?).ok_or(DecodeError::Invalid("object kind"))?;
        if r.u8("codec")? != CODEC_PLAIN {
            return Err(DecodeError::Invalid("codec"));
        }
        if r.u8("key id")? != KEY_NONE {
            return Err(DecodeError::Invalid("key id"));
        }
        let epoch = Epoch::from_be_bytes(r.array::<EPOCH_BYTES>("epoch")?);
        let id = r.object_id("object id")?;
        let (size, bytes) = if self.pack { self.packed()? } else { self.alone()? };
        let header = ObjectHeader { kind, epoch, id, size };
        Ok(Entry { header, bytes, epoch_at: start + 3, span: start..self.at() })
    }

    fn packed(&mut self) -> Result<(usize, Option<&'a [u8]>), DecodeError> {
        let bytes = self.rest.bytes("packed object")?;
        Ok((bytes.len(), Some(bytes)))
    }

    fn alone(&mut self) -> Result<(usize, Option<&'a [u8]>), DecodeError> {
        match self.rest.u8("chunked")? {
            0 => {
                let bytes = self.rest.raw(self.rest.rest().len(), "object")?;
                Ok((bytes.len(), Some(bytes)))
            }
            1 => {
                let size = u64::from_be_bytes(self.rest.array("object size")?);
                self.rest.end()?;
                Ok((usize::try_from(size).map_err(|_| DecodeError::Invalid("object size"))?, None))
            }
            _ => Err(DecodeError::Invalid("chunked")),
        }
    }
}

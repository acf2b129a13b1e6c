//! Encoding of packs and rows.

use bytes::{Bytes, BytesMut};
use lochan_storage_model::{
    DecodeError, ObjectId, ObjectKind, RefName,
    encoding::{Reader, Writer},
};
use lochan_storage_odb::{Load, NewObject, Record, RecordSpace, RefLogEntry, Reference};

const PACK_MAGIC: [u8; 9] = *b"LOCHPACK\x01";
const ROWS_MAGIC: [u8; 9] = *b"LOCHROWS\x01";
const REFERENCE: u8 = 1;
const DELETED: u8 = 2;
const LOG: u8 = 3;
const RECORD: u8 = 4;
const VERSION: u8 = 5;
const EPOCH: u8 = 6;

/// Size at which a pack is closed, in bytes. It stands in memory until then.
const PACK_BYTES: usize = 4 << 20;
/// Bytes of a pack that are hashed at once: enough to be hashed side by side, and done before anybody waits for it.
const HASHED_AT_ONCE: usize = 64 << 10;

/// A pack being filled.
pub(super) struct Pack {
    bytes: BytesMut,
    /// Of the first so many bytes.
    hasher: blake3::Hasher,
    hashed: usize,
}

impl Pack {
    pub(super) fn new() -> Self {
        // Room for a last object of common size; memory is only taken as it is filled.
        let mut bytes = BytesMut::with_capacity(PACK_BYTES + HASHED_AT_ONCE);
        bytes.extend_from_slice(&PACK_MAGIC);
        Self { bytes, hasher: blake3::Hasher::new(), hashed: 0 }
    }

    pub(super) fn add(&mut self, object: &NewObject) {
        self.bytes.extend_from_slice(&[object.kind.byte()]);
        // An object never has as many bytes as would not fit.
        self.bytes.extend_from_slice(&u32::try_from(object.bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
        self.bytes.extend_from_slice(object.id.as_bytes());
        self.bytes.extend_from_slice(&object.bytes);
        if self.bytes.len() - self.hashed >= HASHED_AT_ONCE {
            self.hash();
        }
    }

    fn hash(&mut self) {
        self.hasher.update(self.bytes.get(self.hashed..).unwrap_or_default());
        self.hashed = self.bytes.len();
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes.len() >= PACK_BYTES
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.len() <= PACK_MAGIC.len()
    }

    /// The file and its hash.
    pub(super) fn finish(mut self) -> (Bytes, blake3::Hash) {
        self.hash();
        (self.bytes.freeze(), self.hasher.finalize())
    }
}

/// The objects of a pack, in order. Their bytes are not hashed here.
pub(super) fn objects(pack: &Bytes) -> Result<Vec<NewObject>, DecodeError> {
    let mut r = Reader::new(pack);
    if r.array("pack")? != PACK_MAGIC {
        return Err(DecodeError::Invalid("pack"));
    }
    let mut found = Vec::new();
    while !r.rest().is_empty() {
        let kind = ObjectKind::from_byte(r.u8("object kind")?).ok_or(DecodeError::Invalid("object kind"))?;
        let size = u32::from_be_bytes(r.array("object size")?) as usize;
        let id = ObjectId::from_bytes(r.array("object id")?);
        found.push(NewObject { kind, id, bytes: pack.slice_ref(r.raw(size, "object")?) });
    }
    Ok(found)
}

/// A file of rows being filled.
pub(super) struct Rows(Writer, usize);

impl Rows {
    pub(super) fn new() -> Self {
        let mut w = Writer::with_capacity(4096);
        w.raw(&ROWS_MAGIC);
        Self(w, 0)
    }

    pub(super) fn reference(&mut self, reference: &Reference) {
        self.row(REFERENCE, |w| {
            w.text(reference.name.as_str());
            w.bytes(&reference.encode());
        });
    }

    pub(super) fn deleted(&mut self, name: &RefName, number: u64) {
        self.row(DELETED, |w| {
            w.text(name.as_str());
            w.varint(number);
        });
    }

    pub(super) fn log(&mut self, entry: &RefLogEntry) {
        self.row(LOG, |w| {
            w.text(entry.name.as_str());
            w.varint(entry.number);
            entry.write(w);
        });
    }

    pub(super) fn record(&mut self, space: RecordSpace, key: &[u8], record: &Record) {
        self.row(RECORD, |w| {
            w.u8(space.byte());
            w.bytes(key);
            w.varint(record.version);
            w.bytes(&record.value);
        });
    }

    pub(super) fn version(&mut self, space: RecordSpace, key: &[u8], version: u64) {
        self.row(VERSION, |w| {
            w.u8(space.byte());
            w.bytes(key);
            w.varint(version);
        });
    }

    pub(super) fn epoch(&mut self, epoch: u32) {
        self.row(EPOCH, |w| w.varint(u64::from(epoch)));
    }

    /// Number of rows so far.
    pub(super) fn count(&self) -> usize {
        self.1
    }

    /// The file and its hash; what comes goes into the next one.
    pub(super) fn finish(&mut self) -> (Bytes, blake3::Hash) {
        let bytes = std::mem::replace(self, Self::new()).0.finish();
        let hash = blake3::hash(&bytes);
        (bytes.into(), hash)
    }

    fn row(&mut self, tag: u8, write: impl FnOnce(&mut Writer)) {
        self.0.u8(tag);
        write(&mut self.0);
        self.1 += 1;
    }
}

/// The rows of a file.
pub(super) fn rows(bytes: &[u8]) -> Result<Load, DecodeError> {
    let mut r = Reader::new(bytes);
    if r.array("rows")? != ROWS_MAGIC {
        return Err(DecodeError::Invalid("rows"));
    }
    let mut load = Load::default();
    while !r.rest().is_empty() {
        match r.u8("row")? {
            REFERENCE => {
                let name = name(&mut r)?;
                load.point.references.push(Reference::decode(name, r.bytes("reference")?)?);
            }
            DELETED => load.point.deleted.push((name(&mut r)?, r.varint("number")?)),
            LOG => {
                let (name, number) = (name(&mut r)?, r.varint("number")?);
                load.log.push(RefLogEntry::read(name, number, &mut r)?);
            }
            RECORD => {
                let (space, key) = (space(&mut r)?, Bytes::copy_from_slice(r.bytes("record key")?));
                let version = r.varint("record version")?;
                let value = Bytes::copy_from_slice(r.bytes("record")?);
                load.point.records.push((space, key, Record { version, value }));
            }
            VERSION => {
                let (space, key) = (space(&mut r)?, Bytes::copy_from_slice(r.bytes("record key")?));
                load.point.versions.push((space, key, r.varint("record version")?));
            }
            EPOCH => {
                let epoch = u32::try_from(r.varint("epoch")?).map_err(|_| DecodeError::Invalid("epoch"))?;
                load.point.epoch = load.point.epoch.max(epoch);
            }
            _ => return Err(DecodeError::Invalid("row")),
        }
    }
    Ok(load)
}

fn name(r: &mut Reader<'_>) -> Result<RefName, DecodeError> {
    RefName::new(r.text("reference name")?).map_err(|_| DecodeError::Invalid("reference name"))
}

fn space(r: &mut Reader<'_>) -> Result<RecordSpace, DecodeError> {
    let byte = r.u8("record space")?;
    RecordSpace::ALL
        .into_iter()
        .find(|space| space.byte() == byte)
        .ok_or(DecodeError::Invalid("record space"))
}

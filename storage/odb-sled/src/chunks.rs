//! Values too large for one row.

use bytes::{Bytes, BytesMut};
use lochan_storage_odb::{DerivedSpace, StoreError};

use crate::{
    batch::Rows,
    error,
    keys::{self, Position},
    rows::{CHUNK_BYTES, chunks},
    table::Table,
};

/// Length of the check sum of a chunked derived row, in bytes.
const CHECK_BYTES: usize = 8;

/// Adds the chunks of `bytes`, the value at `at`, to a batch.
pub(crate) fn write(at: Position, bytes: &[u8], batch: &mut Rows) {
    for (number, chunk) in (0u32..).zip(bytes.chunks(CHUNK_BYTES)) {
        batch.insert(keys::chunk(at, number), chunk);
    }
}

/// Removes the chunks of the value of `size` bytes at `at`.
pub(crate) fn remove(at: Position, size: usize, batch: &mut Rows) {
    for number in 0..chunks(size) {
        batch.remove(keys::chunk(at, number));
    }
}

/// Reads the value of `size` bytes at `at`, or `None` if a chunk is missing.
pub(crate) fn read(table: &Table, at: Position, size: usize) -> Result<Option<Bytes>, StoreError> {
    let mut bytes = BytesMut::new();
    for number in 0..chunks(size) {
        let Some(chunk) = table.get(keys::chunk(at, number)).map_err(error::read)? else { return Ok(None) };
        bytes.extend_from_slice(&chunk);
    }
    Ok((bytes.len() == size).then(|| bytes.freeze()))
}

/// Adds a derived row to a batch. `scratch` is room that is used again and again.
pub(crate) fn write_derived(
    space: DerivedSpace,
    key: &[u8],
    value: &[u8],
    scratch: &mut Vec<u8>,
    batch: &mut Rows,
) {
    scratch.clear();
    if chunks(value.len()) == 0 {
        scratch.push(0);
        scratch.extend_from_slice(value);
    } else {
        scratch.push(1);
        scratch.extend_from_slice(&(value.len() as u64).to_be_bytes());
        scratch.extend_from_slice(&check(value));
        for (number, chunk) in (0u16..).zip(value.chunks(CHUNK_BYTES)) {
            batch.insert(keys::derived_chunk(space, key, number), chunk);
        }
    }
    batch.insert(keys::derived(space, key), scratch.as_slice());
}

/// Removes a derived row, and its chunks if it has any.
pub(crate) fn remove_derived(
    table: &Table,
    space: DerivedSpace,
    key: &[u8],
    batch: &mut Rows,
) -> Result<(), StoreError> {
    let row = keys::derived(space, key);
    if let Some(found) = table.get(&row).map_err(error::read)?
        && let Some(Derived::Chunked { size, .. }) = parse_derived(&found)
    {
        for (number, _) in (0u16..).zip(0..chunks(size)) {
            batch.remove(keys::derived_chunk(space, key, number));
        }
    }
    batch.remove(row);
    Ok(())
}

/// The value of a derived row. `None` if it is not whole, as after a crash: the caller makes it anew.
pub(crate) fn read_derived(
    table: &Table,
    space: DerivedSpace,
    key: &[u8],
    row: &[u8],
) -> Result<Option<Bytes>, StoreError> {
    match parse_derived(row) {
        None => Ok(None),
        Some(Derived::Here(bytes)) => Ok(Some(Bytes::copy_from_slice(bytes))),
        Some(Derived::Chunked { size, sum }) => {
            let mut bytes = BytesMut::new();
            for (number, _) in (0u16..).zip(0..chunks(size)) {
                let chunk = table.get(keys::derived_chunk(space, key, number)).map_err(error::read)?;
                let Some(chunk) = chunk else { return Ok(None) };
                bytes.extend_from_slice(&chunk);
            }
            let whole = bytes.len() == size && check(&bytes) == sum;
            Ok(whole.then(|| bytes.freeze()))
        }
    }
}

enum Derived<'a> {
    Here(&'a [u8]),
    Chunked { size: usize, sum: [u8; CHECK_BYTES] },
}

fn parse_derived(row: &[u8]) -> Option<Derived<'_>> {
    match row.split_first()? {
        (0, bytes) => Some(Derived::Here(bytes)),
        (1, rest) => {
            let (size, sum) = rest.split_first_chunk::<8>()?;
            let size = usize::try_from(u64::from_be_bytes(*size)).ok()?;
            Some(Derived::Chunked { size, sum: sum.try_into().ok()? })
        }
        _ => None,
    }
}

fn check(value: &[u8]) -> [u8; CHECK_BYTES] {
    let hash = blake3::hash(value);
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

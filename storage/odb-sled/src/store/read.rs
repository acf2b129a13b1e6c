//! Reading.
//!
//! A batch shows once it is durable in the journal, all of it at once. Whoever reads several rows of references, records or
//! their log keeps what waits from entering the tree meanwhile: else half of a later batch might show.

use bytes::Bytes;
use lochan_storage_model::{ObjectId, ObjectKind, RefName};
use lochan_storage_odb::{DerivedSpace, Record, RecordSpace, RefLogEntry, Reference, StoreError};

use super::Session;
use crate::{
    chunks, error,
    keys::{self, Position, Space},
    objects::{self, Entry},
    rows::{self, RecordValue},
};

impl Session {
    pub(super) fn object(&self, kind: ObjectKind, id: ObjectId) -> Result<Option<Bytes>, StoreError> {
        let Some((position, row)) = self.locate(id)? else { return Ok(None) };
        let Some(entry) = find(&row, id)? else { return Ok(None) };
        if entry.header.kind != kind {
            return Ok(None);
        }
        let bytes = match entry.bytes {
            Some(bytes) => Bytes::copy_from_slice(bytes),
            None => match chunks::read(&self.table, position, entry.header.size)? {
                Some(bytes) => bytes,
                // A sweep may have deleted it since the row was read.
                None if self.locate(id)?.is_none() => return Ok(None),
                None => return Err(StoreError::corrupt_object(id, "a chunk is missing")),
            },
        };
        if ObjectId::of(kind, &bytes) != id {
            return Err(StoreError::corrupt_object(id, "its bytes do not hash to its id"));
        }
        Ok(Some(bytes))
    }

    pub(super) fn reference(&self, name: &RefName) -> Result<Option<Reference>, StoreError> {
        match self.table.pending.moved(name) {
            Some(moved) => Ok(moved),
            None => self.stored_reference(name),
        }
    }

    pub(super) fn references(
        &self,
        after: Option<&RefName>,
        limit: usize,
    ) -> Result<Vec<Reference>, StoreError> {
        let _still = self.table.pending.still();
        let space = keys::key(Space::Reference, &[]);
        let from = after.map_or_else(|| space.clone(), |after| behind(keys::reference(after)));
        let rows = self.table.range(&from, &keys::end_of(&space)).take(limit);
        rows.map(|row| {
            let (key, row) = row.map_err(error::read)?;
            decode_reference(ref_name(keys::inside(&key))?, &row)
        })
        .collect()
    }

    pub(super) fn record(&self, space: RecordSpace, key: &[u8]) -> Result<Option<Record>, StoreError> {
        self.stored_record(space, key)
    }

    pub(super) fn records(
        &self,
        space: RecordSpace,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<(Bytes, Record)>, StoreError> {
        let _still = self.table.pending.still();
        let prefix = keys::record(space, &[]);
        let from = after.map_or_else(|| prefix.clone(), |after| behind(keys::record(space, after)));
        let mut found = Vec::new();
        for row in self.table.range(&from, &keys::end_of(&prefix)) {
            if found.len() >= limit {
                break;
            }
            let (key, row) = row.map_err(error::read)?;
            if let Some(record) = self.whole_record(&key, row)? {
                found.push((Bytes::copy_from_slice(key.get(prefix.len()..).unwrap_or_default()), record));
            }
        }
        Ok(found)
    }

    pub(super) fn ref_log(
        &self,
        name: &RefName,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<RefLogEntry>, StoreError> {
        let _still = self.table.pending.still();
        let end = before.unwrap_or(u64::MAX);
        let mut found = Vec::new();
        for row in self.table.range_back(&keys::ref_log_prefix(name), &keys::ref_log(name, end)) {
            if found.len() >= limit {
                break;
            }
            let (key, row) = row.map_err(error::read)?;
            let entries = decode_log(name, &key, &row)?;
            found.extend(entries.into_iter().rev().filter(|entry| entry.number < end));
        }
        found.truncate(limit);
        Ok(found)
    }

    pub(super) fn ref_log_names(
        &self,
        after: Option<&RefName>,
        limit: usize,
    ) -> Result<Vec<RefName>, StoreError> {
        let _still = self.table.pending.still();
        let space = keys::key(Space::RefLog, &[]);
        let end = keys::end_of(&space);
        let mut from = after.map_or(space, |after| keys::end_of(&keys::ref_log_prefix(after)));
        let mut found = Vec::new();
        while found.len() < limit {
            let Some(key) = self.table.first_key(&from, &end).map_err(error::read)? else { break };
            let (name, _) =
                keys::split_ref_log(&key).ok_or_else(|| error::damaged("a ref log row", "bad key"))?;
            let name = ref_name(name.as_bytes())?;
            from = keys::end_of(&keys::ref_log_prefix(&name));
            found.push(name);
        }
        Ok(found)
    }

    pub(super) fn request(&self, key: &[u8; 32]) -> Result<Option<RefLogEntry>, StoreError> {
        let Some(row) = self.table.get(keys::request(key)).map_err(error::read)? else { return Ok(None) };
        let (name, number) = rows::read_request(&row).map_err(error::row("a row of the request index"))?;
        let end = keys::ref_log(&name, number.saturating_add(1));
        let Some(row) = self.table.range_back(&keys::ref_log_prefix(&name), &end).next() else {
            return Ok(None);
        };
        let (key, row) = row.map_err(error::read)?;
        Ok(decode_log(&name, &key, &row)?.into_iter().find(|entry| entry.number == number))
    }

    pub(super) fn derived(&self, space: DerivedSpace, key: &[u8]) -> Result<Option<Bytes>, StoreError> {
        match self.table.get(keys::derived(space, key)).map_err(error::read)? {
            None => Ok(None),
            Some(row) => chunks::read_derived(&self.table, space, key, &row),
        }
    }

    pub(super) fn derived_scan(
        &self,
        space: DerivedSpace,
        prefix: &[u8],
        from: Option<&[u8]>,
        reverse: bool,
        limit: usize,
    ) -> Result<Vec<(Bytes, Bytes)>, StoreError> {
        let start = keys::derived(space, prefix);
        let end = keys::end_of(&start);
        let at = from.map(|from| keys::derived(space, from));
        let range = match at {
            Some(at) if reverse => start..behind(at).min(end),
            Some(at) => at.max(start)..end,
            None => start..end,
        };
        if range.start >= range.end {
            return Ok(Vec::new());
        }
        if reverse {
            self.read_derived(space, self.table.range_back(&range.start, &range.end), limit)
        } else {
            self.read_derived(space, self.table.range(&range.start, &range.end), limit)
        }
    }

    fn read_derived(
        &self,
        space: DerivedSpace,
        rows: impl Iterator<Item = sled::Result<(sled::IVec, sled::IVec)>>,
        limit: usize,
    ) -> Result<Vec<(Bytes, Bytes)>, StoreError> {
        let mut found = Vec::new();
        for row in rows {
            if found.len() >= limit {
                break;
            }
            let (key, row) = row.map_err(error::read)?;
            let key = Bytes::copy_from_slice(key.get(keys::PREFIX_BYTES + 1..).unwrap_or_default());
            if let Some(value) = chunks::read_derived(&self.table, space, &key, &row)? {
                found.push((key, value));
            }
        }
        Ok(found)
    }
}

impl Session {
    /// Position and row of an object.
    pub(super) fn locate(&self, id: ObjectId) -> Result<Option<(Position, sled::IVec)>, StoreError> {
        if let Some(found) = self.locate_recent(id)? {
            return Ok(Some(found));
        }
        for position in self.positions.written(id)? {
            if let Some(row) = self.row_at(position, id)? {
                return Ok(Some((position, row)));
            }
        }
        Ok(None)
    }

    /// Position and row of an object put lately.
    pub(super) fn locate_recent(&self, id: ObjectId) -> Result<Option<(Position, sled::IVec)>, StoreError> {
        let Some(position) = self.positions.recent(id) else { return Ok(None) };
        Ok(self.row_at(position, id)?.map(|row| (position, row)))
    }

    /// The row at `position` if `id` stands there.
    pub(super) fn row_at(&self, position: Position, id: ObjectId) -> Result<Option<sled::IVec>, StoreError> {
        let Some(row) = self.table.get(keys::object(position)).map_err(error::read)? else { return Ok(None) };
        Ok(find(&row, id)?.is_some().then_some(row))
    }

    pub(super) fn stored_reference(&self, name: &RefName) -> Result<Option<Reference>, StoreError> {
        let row = self.table.get(keys::reference(name)).map_err(error::read)?;
        row.map(|row| decode_reference(name.clone(), &row)).transpose()
    }

    pub(super) fn stored_record(&self, space: RecordSpace, key: &[u8]) -> Result<Option<Record>, StoreError> {
        let key = keys::record(space, key);
        match self.table.get(&key).map_err(error::read)? {
            None => Ok(None),
            Some(row) => self.whole_record(&key, row),
        }
    }

    /// The record of a row; of the row that has taken its place, if its chunks went with it meanwhile.
    fn whole_record(&self, key: &[u8], mut row: sled::IVec) -> Result<Option<Record>, StoreError> {
        loop {
            let error = match self.decode_record(&row) {
                Err(error @ StoreError::Corrupt { .. }) => error,
                decoded => return decoded.map(Some),
            };
            match self.table.get(key).map_err(error::read)? {
                None => return Ok(None),
                Some(now) if now == row => return Err(error),
                Some(now) => row = now,
            }
        }
    }

    pub(super) fn decode_record(&self, row: &[u8]) -> Result<Record, StoreError> {
        let (version, value) = rows::read_record(row).map_err(error::row("a record"))?;
        let value = match value {
            RecordValue::Here(value) => value,
            RecordValue::Chunked { at, size } => chunks::read(&self.table, at, size)?
                .ok_or_else(|| error::damaged("a record", "a chunk is missing"))?,
        };
        Ok(Record { version, value })
    }
}

/// The object `id` of a row.
pub(super) fn find(row: &[u8], id: ObjectId) -> Result<Option<Entry<'_>>, StoreError> {
    objects::find(row, id).map_err(error::row(format!("object {id}")))
}

pub(super) fn decode_log(name: &RefName, key: &[u8], row: &[u8]) -> Result<Vec<RefLogEntry>, StoreError> {
    let what = || format!("the log of reference {name}");
    let (_, first) = keys::split_ref_log(key).ok_or_else(|| error::damaged(what(), "bad key"))?;
    rows::read_log(name, first, row).map_err(error::row(what()))
}

pub(super) fn decode_reference(name: RefName, row: &[u8]) -> Result<Reference, StoreError> {
    let what = format!("reference {name}");
    Reference::decode(name, row).map_err(error::row(what))
}

pub(super) fn ref_name(bytes: &[u8]) -> Result<RefName, StoreError> {
    let name = std::str::from_utf8(bytes).ok().and_then(|name| RefName::new(name).ok());
    name.ok_or_else(|| error::damaged("the key of a reference", "it is no reference name"))
}

/// The first key behind `key`.
fn behind(mut key: Vec<u8>) -> Vec<u8> {
    key.push(0);
    key
}

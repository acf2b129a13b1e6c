//! Maintenance: epochs, scanning, deleting.

use std::{collections::HashSet, sync::atomic::Ordering};

use bytes::Bytes;
use lochan_storage_model::{Micros, ObjectId, ObjectKind, RefName};
use lochan_storage_odb::{Epoch, NewObject, ObjectInfo, RefLogEntry, Scanned, StoreError};

use super::{Session, Writer, read::decode_log};
use crate::{
    chunks, error,
    in_flight::InFlight,
    keys::{self, Position, Space},
    rows::{self, ObjectHeader},
    sums::Rows,
    walk::{Unreadable, Walk},
};

/// Objects deleted in one batch, at most.
const DELETE_OBJECTS_MAX: usize = 1024;
/// Names whose log is looked at in one go.
const EXPIRE_NAMES: usize = 256;

impl Session {
    pub(super) fn epoch(&self) -> Result<Epoch, StoreError> {
        Ok(self.epoch.load(Ordering::Acquire))
    }

    pub(super) fn begin_epoch(&self) -> Result<Epoch, StoreError> {
        let mut writer = self.writer()?;
        let epoch = self.epoch.load(Ordering::Acquire).saturating_add(1);
        let mut rows = Rows::default();
        rows.insert(keys::epoch(), rows::write_number(u64::from(epoch)));
        self.maintain(&mut writer, rows)?;
        self.epoch.store(epoch, Ordering::Release);
        drop(writer);
        Ok(epoch)
    }

    pub(super) fn scan_objects(
        &self,
        after: Option<Bytes>,
        limit: usize,
    ) -> Result<Vec<Scanned>, StoreError> {
        let mut walk = self.walk_objects(after.as_ref());
        let mut found = Vec::new();
        while found.len() < limit {
            found.push(match walk.next() {
                None => break,
                Some(Err(unreadable)) => told(&unreadable),
                Some(Ok((key, row))) => {
                    let info = ObjectHeader::read(&row).map_err(error::row("an object row"));
                    let info = info.map(|(ObjectHeader { kind, epoch, id, size }, _)| ObjectInfo {
                        id,
                        kind,
                        size,
                        epoch,
                    });
                    (Bytes::copy_from_slice(keys::inside(&key)), info)
                }
            });
        }
        Ok(found)
    }

    pub(super) fn read_objects(
        &self,
        after: Option<Bytes>,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<Scanned<NewObject>>, StoreError> {
        let mut read = 0;
        let mut found = Vec::new();
        let mut walk = self.walk_objects(after.as_ref());
        while found.len() < limit && read < bytes_max {
            match walk.next() {
                None => break,
                Some(Err(unreadable)) => found.push(told(&unreadable)),
                Some(Ok((key, row))) => {
                    let token = Bytes::copy_from_slice(keys::inside(&key));
                    match error::guarded(|| self.whole(&key, &row)) {
                        // A sweep has deleted it since its row was read.
                        Ok(None) => {}
                        Ok(Some(object)) => {
                            read += object.bytes.len();
                            found.push((token, Ok(object)));
                        }
                        Err(error) => found.push((token, Err(error))),
                    }
                }
            }
        }
        Ok(found)
    }

    pub(super) fn delete_objects(
        &self,
        ids: &[(ObjectKind, ObjectId)],
        epoch: Epoch,
    ) -> Result<usize, StoreError> {
        let mut deleted = 0;
        for part in ids.chunks(DELETE_OBJECTS_MAX) {
            deleted += self.delete_some(part, epoch)?;
        }
        Ok(deleted)
    }

    pub(super) fn expire_ref_log(&self, time: Micros) -> Result<usize, StoreError> {
        let mut expired = 0;
        let mut after: Option<RefName> = None;
        loop {
            let names = self.ref_log_names(after.as_ref(), EXPIRE_NAMES)?;
            for name in &names {
                expired += self.expire_log_of(name, time)?;
            }
            match names.into_iter().next_back() {
                None => return Ok(expired),
                last => after = last,
            }
        }
    }
}

/// A stretch that cannot be read, as a scan tells it.
fn told<T>(Unreadable { place, detail, last }: &Unreadable) -> Scanned<T> {
    (Bytes::copy_from_slice(keys::inside(last)), Err(error::damaged(place.as_str(), detail.as_str())))
}

impl Session {
    /// The rows of objects behind a token.
    fn walk_objects(&self, after: Option<&Bytes>) -> Walk<'_> {
        let space = keys::key(Space::Object, &[]);
        let from = match after {
            None => space.clone(),
            Some(token) => [space.as_slice(), token, &[0]].concat(),
        };
        Walk::new(&self.tree, from, keys::end_of(&space))
    }

    /// The object of a row, hashed.
    fn whole(&self, key: &[u8], row: &[u8]) -> Result<Option<NewObject>, StoreError> {
        let position = Position::from_bytes(keys::inside(key))
            .ok_or_else(|| error::damaged("an object row", "its key is no position"))?;
        let (ObjectHeader { kind, id, size, .. }, bytes) =
            ObjectHeader::read(row).map_err(error::row("an object row"))?;
        let bytes = match bytes {
            Some(bytes) => Bytes::copy_from_slice(bytes),
            None => match chunks::read(&self.tree, position, size)? {
                Some(bytes) => bytes,
                None if self.tree.get(key).map_err(error::read)?.is_none() => return Ok(None),
                None => return Err(StoreError::corrupt_object(id, "a chunk is missing")),
            },
        };
        if ObjectId::of(kind, &bytes) != id {
            return Err(StoreError::corrupt_object(id, "its bytes do not hash to its id"));
        }
        Ok(Some(NewObject { kind, id, bytes }))
    }

    /// Writes rows that no reader must be kept from seeing early.
    fn maintain(&self, writer: &mut Writer, rows: Rows) -> Result<(), StoreError> {
        writer.batch += 1;
        self.apply(writer, rows, InFlight::default())
    }

    fn delete_some(&self, ids: &[(ObjectKind, ObjectId)], epoch: Epoch) -> Result<usize, StoreError> {
        let mut writer = self.writer()?;
        let mut rows = Rows::default();
        let mut gone = HashSet::new();
        for (kind, id) in ids {
            if gone.contains(id) {
                continue;
            }
            // One object may stand at several places; its latest put counts for all of them.
            let mut places: Vec<(Position, ObjectHeader)> = Vec::new();
            let guesses = self.positions.recent(*id).into_iter().chain(self.positions.written(*id)?);
            for position in guesses {
                let known = places.iter().any(|(known, _)| *known == position);
                if !known && let Some(row) = self.row_at(position, *id)? {
                    let (header, _) = ObjectHeader::read(&row).map_err(error::row(format!("object {id}")))?;
                    places.push((position, header));
                }
            }
            let old = places.iter().all(|(_, header)| header.kind == *kind && header.epoch < epoch);
            if places.is_empty() || !old {
                continue;
            }
            for (position, header) in places {
                rows.remove(keys::object(position));
                chunks::remove(position, header.size, &mut rows);
            }
            gone.insert(*id);
        }
        if gone.is_empty() {
            return Ok(0);
        }
        for id in &gone {
            self.remove_position(*id, &mut rows)?;
        }
        // What the store must still show after a failure is not known while objects are being deleted.
        self.is_deleting.store(true, Ordering::Release);
        self.maintain(&mut writer, rows)?;
        self.is_deleting.store(false, Ordering::Release);
        for id in &gone {
            self.positions.forget(*id);
        }
        drop(writer);
        Ok(gone.len())
    }

    /// Removes the row from id to position, unless another object shares it. An entry that stays or comes back is
    /// harmless: the row at its position is gone for ever.
    fn remove_position(&self, id: ObjectId, rows: &mut Rows) -> Result<(), StoreError> {
        for position in self.positions.written(id)? {
            let row = self.tree.get(keys::object(position)).map_err(error::read)?;
            if let Some(row) = row {
                let (header, _) = ObjectHeader::read(&row).map_err(error::row(format!("object {id}")))?;
                if header.id != id {
                    return Ok(());
                }
            }
        }
        rows.remove(keys::position(id));
        Ok(())
    }

    fn expire_log_of(&self, name: &RefName, time: Micros) -> Result<usize, StoreError> {
        let mut writer = self.writer()?;
        let prefix = keys::ref_log_prefix(name);
        let mut log = self.tree.range(prefix.clone()..keys::end_of(&prefix));
        let Some(last) = log.next_back() else { return Ok(0) };
        let (last_key, last_row) = last.map_err(error::read)?;
        let newest = decode_log(name, &last_key, &last_row)?.last().map_or(0, |entry| entry.number);
        let mut rows = Rows::default();
        let mut expired = 0;
        for row in self.tree.range(prefix.clone()..keys::end_of(&prefix)) {
            let (key, row) = row.map_err(error::read)?;
            let (kept, old): (Vec<RefLogEntry>, Vec<RefLogEntry>) = decode_log(name, &key, &row)?
                .into_iter()
                .partition(|entry| entry.time >= time || entry.number == newest);
            if old.is_empty() {
                continue;
            }
            expired += old.len();
            rows.remove(&key);
            for (first, row) in rows::write_log(&kept) {
                rows.insert(keys::ref_log(name, first), row);
            }
            for request in old.iter().filter_map(|entry| Some((entry.request?, entry.number))) {
                self.remove_request(name, request.1, &request.0.key, &mut rows)?;
            }
        }
        if expired > 0 {
            self.maintain(&mut writer, rows)?;
        }
        drop(writer);
        Ok(expired)
    }

    /// Removes a row of the request index if it still leads to that entry.
    fn remove_request(
        &self,
        name: &RefName,
        number: u64,
        request: &[u8; 32],
        rows: &mut Rows,
    ) -> Result<(), StoreError> {
        let key = keys::request(request);
        if let Some(row) = self.tree.get(&key).map_err(error::read)?
            && rows::read_request(&row).map_err(error::row("a row of the request index"))?
                == (name.clone(), number)
        {
            rows.remove(key);
        }
        Ok(())
    }
}

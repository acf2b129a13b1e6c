//! Maintenance: epochs, deleting.

use std::{
    collections::{HashMap, HashSet},
    sync::atomic::Ordering,
};

use lochan_storage_model::{Micros, ObjectId, ObjectKind, RefName};
use lochan_storage_odb::{Epoch, RefLogEntry, StoreError};

use super::{
    Session,
    read::{decode_log, find},
};
use crate::{
    batch::Rows,
    chunks, error,
    keys::{self, Position},
    objects, rows,
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

impl Session {
    fn delete_some(&self, ids: &[(ObjectKind, ObjectId)], epoch: Epoch) -> Result<usize, StoreError> {
        // Positions are removed: nothing may be on its way whose positions are written past the journal.
        let mut writer = self.settled_writer()?;
        let mut rows = Rows::default();
        let mut gone = HashSet::new();
        // Rows with what stays in them.
        let mut left: HashMap<Position, Vec<u8>> = HashMap::new();
        for (kind, id) in ids {
            if gone.contains(id) {
                continue;
            }
            // One object may stand at several places; its latest put counts for all of them.
            let mut places: Vec<(Position, usize, sled::IVec)> = Vec::new();
            let mut old = true;
            let guesses = self.positions.recent(*id).into_iter().chain(self.positions.written(*id)?);
            for position in guesses {
                let known = places.iter().any(|(known, ..)| *known == position);
                if !known
                    && let Some(row) = self.row_at(position, *id)?
                    && let Some(entry) = find(&row, *id)?
                {
                    old &= entry.header.kind == *kind && entry.header.epoch < epoch;
                    let size = entry.header.size;
                    places.push((position, size, row));
                }
            }
            if places.is_empty() || !old {
                continue;
            }
            for (position, size, row) in places {
                chunks::remove(position, size, &mut rows);
                // Its neighbours in the row may go in the same batch.
                let left = left.entry(position).or_insert_with(|| row.to_vec());
                objects::remove(left, *id).map_err(error::row(format!("object {id}")))?;
            }
            gone.insert(*id);
        }
        if gone.is_empty() {
            return Ok(0);
        }
        for (position, row) in left {
            if row.is_empty() {
                rows.remove(keys::object(position));
            } else {
                rows.insert(keys::object(position), row);
            }
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
            let Some(row) = self.table.get(keys::object(position)).map_err(error::read)? else { continue };
            for entry in objects::entries(&row).map_err(error::row("an object row"))? {
                let other = entry.map_err(error::row("an object row"))?.header.id;
                if other != id && keys::position(other) == keys::position(id) {
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
        let end = keys::end_of(&prefix);
        let Some(last) = self.table.range_back(&prefix, &end).next() else { return Ok(0) };
        let (last_key, last_row) = last.map_err(error::read)?;
        let newest = decode_log(name, &last_key, &last_row)?.last().map_or(0, |entry| entry.number);
        let mut rows = Rows::default();
        let mut expired = 0;
        for row in self.table.range(&prefix, &end) {
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
        if let Some(row) = self.table.get(&key).map_err(error::read)?
            && rows::read_request(&row).map_err(error::row("a row of the request index"))?
                == (name.clone(), number)
        {
            rows.remove(key);
        }
        Ok(())
    }
}

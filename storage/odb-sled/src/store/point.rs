//! The whole at one moment, taken and put back.

use std::{
    collections::HashSet,
    sync::{PoisonError, atomic::Ordering},
};

use bytes::Bytes;
use lochan_storage_odb::{Damage, Load, NewObject, Point, Record, RecordSpace, StoreError};

use super::{
    Session,
    read::{decode_log, decode_reference, ref_name},
    write::{Places, add_alone, record_row},
};
use crate::{
    batch::Rows,
    error,
    keys::{self, Position, Space},
    objects::ObjectHeader,
    rows,
    walk::Unreadable,
};

impl Session {
    pub(super) fn point(&self) -> Result<(Point, Bytes), StoreError> {
        // Whoever holds the writer is between two batches.
        let _writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut load = Load::default();
        for space in [Space::Reference, Space::RefNumber, Space::Record, Space::RecordVersion] {
            self.read_space(space, &mut load, &mut Err)?;
        }
        load.point.epoch = self.epoch.load(Ordering::Acquire);
        // Not the number of the writer: a batch of unknown outcome may come into being later.
        let end = Position { batch: self.table.pending.last(), place: u32::MAX };
        Ok((load.point, Bytes::copy_from_slice(&end.bytes())))
    }

    pub(super) fn salvage(&self) -> (Load, Vec<Damage>) {
        let mut load = Load::default();
        let mut damage = Vec::new();
        for space in [Space::Reference, Space::RefNumber, Space::RefLog, Space::Record, Space::RecordVersion]
        {
            // What is told does not end the reading, so nothing else can.
            let _ = self.read_space(space, &mut load, &mut |error| {
                damage.push(match error {
                    StoreError::Corrupt { what, detail } => Damage { what, detail },
                    other => Damage { what: "sled/db".into(), detail: other.to_string() },
                });
                Ok(())
            });
        }
        load.point.epoch = self.epoch.load(Ordering::Acquire);
        (load, damage)
    }

    /// Reads all rows of a space of what is mutable; what is wrong with them is told, and may end it.
    fn read_space(
        &self,
        space: Space,
        load: &mut Load,
        told: &mut dyn FnMut(StoreError) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let start = keys::key(space, &[]);
        let end = keys::end_of(&start);
        let walk = self.table.walk(start, end);
        for row in walk {
            let read = match row {
                Ok((key, row)) => error::guarded(|| self.read_row(space, &key, &row, load)),
                Err(Unreadable { place, detail, .. }) => Err(error::damaged(place, detail)),
            };
            if let Err(error) = read {
                told(error)?;
            }
        }
        Ok(())
    }

    fn read_row(&self, space: Space, key: &[u8], row: &[u8], load: &mut Load) -> Result<(), StoreError> {
        let inside = keys::inside(key);
        let point = &mut load.point;
        match space {
            Space::Reference => point.references.push(decode_reference(ref_name(inside)?, row)?),
            Space::RefNumber if inside.is_empty() => {}
            Space::RefNumber => {
                let number = rows::read_number(row).map_err(error::row("a kept number"))?;
                point.deleted.push((ref_name(inside)?, number));
            }
            Space::RefLog => {
                let name = keys::split_ref_log(key).map(|(name, _)| name);
                let name = ref_name(name.unwrap_or_default().as_bytes())?;
                load.log.extend(decode_log(&name, key, row)?);
            }
            Space::Record => {
                let (space, key) = record_key(inside)?;
                point.records.push((space, key, self.decode_record(row)?));
            }
            Space::RecordVersion => {
                let (space, key) = record_key(inside)?;
                let version = rows::read_number(row).map_err(error::row("a kept version"))?;
                point.versions.push((space, key, version));
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn load(&self, rows_in: Load) -> Result<(), StoreError> {
        let Load { objects, log, point } = rows_in;
        let mut writer = self.writer()?;
        self.positions.wait_for_room()?;
        writer.batch += 1;
        let batch = writer.batch;
        let mut places = Places { batch, next: 0 };
        let mut rows = Rows::default();
        let epoch = self.epoch.load(Ordering::Acquire).max(point.epoch);
        rows.insert(keys::epoch(), rows::write_number(u64::from(epoch)));
        let (mut placed, mut scratch, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        for NewObject { kind, id, bytes } in objects {
            if !seen.insert(id) || self.locate(id)?.is_some() {
                continue;
            }
            let header = ObjectHeader { kind, epoch, id, size: bytes.len() };
            placed.push((id, add_alone(&header, &bytes, &mut places, &mut scratch, &mut rows)));
        }
        for entries in log.chunk_by(|a, b| a.name == b.name) {
            for (first, row) in rows::write_log(entries) {
                if let Some(entry) = entries.first() {
                    rows.insert(keys::ref_log(&entry.name, first), row);
                }
            }
            for (request, entry) in entries.iter().filter_map(|entry| Some((entry.request?, entry))) {
                rows.insert(keys::request(&request.key), rows::write_request(&entry.name, entry.number));
            }
        }
        for reference in point.references {
            rows.insert(keys::reference(&reference.name), reference.encode());
        }
        for (name, number) in point.deleted {
            rows.insert(keys::ref_number(&name), rows::write_number(number));
        }
        for (space, key, Record { version, value }) in point.records {
            let row = record_row(version, &value, &mut places, &mut rows);
            rows.insert(keys::record(space, &key), row);
        }
        for (space, key, version) in point.versions {
            rows.insert(keys::record_version(space, &key), rows::write_number(version));
        }
        self.apply(&mut writer, rows, Vec::new(), placed)?;
        self.epoch.store(epoch, Ordering::Release);
        Ok(())
    }
}

fn record_key(key: &[u8]) -> Result<(RecordSpace, Bytes), StoreError> {
    let found = key.split_first().and_then(|(byte, key)| {
        let space = RecordSpace::ALL.into_iter().find(|space| space.byte() == *byte)?;
        Some((space, Bytes::copy_from_slice(key)))
    });
    found.ok_or_else(|| error::damaged("the key of a record", "its space is unknown"))
}

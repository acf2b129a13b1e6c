//! What maintenance may do.

use std::{collections::btree_map::Entry, ops::Bound};

use async_trait::async_trait;
use bytes::Bytes;
use lochan_storage_model::{Micros, ObjectId, ObjectKind, RefName};

use super::{Memory, Stored, Tables, behind};
use crate::{
    batch::NewObject,
    error::{Damage, StoreError},
    point::{Identity, Load, Point},
    store::{Epoch, ObjectInfo, Scanned, Store, Sweep},
};

#[async_trait]
impl Sweep for Memory {
    async fn epoch(&self) -> Result<Epoch, StoreError> {
        Ok(self.lock().tables.epoch)
    }

    async fn begin_epoch(&self) -> Result<Epoch, StoreError> {
        let mut state = self.lock();
        if let Some(cause) = &state.refused {
            return Err(StoreError::WritesRefused(cause.clone()));
        }
        state.tables.epoch += 1;
        Ok(state.tables.epoch)
    }

    async fn scan_objects(&self, after: Option<Bytes>, limit: usize) -> Result<Vec<Scanned>, StoreError> {
        let from = match after.as_deref() {
            None => None,
            Some(token) => Some(place_of(token).ok_or_else(|| StoreError::Read("bad scan token".into()))?),
        };
        let Tables { order, objects, .. } = &self.lock().tables;
        let range = order.range((behind(from), Bound::Unbounded)).filter_map(|(place, key)| {
            let Stored { bytes, epoch, .. } = objects.get(key)?;
            let info = ObjectInfo { id: key.1, kind: key.0, size: bytes.len(), epoch: *epoch };
            Some((token(*place), Ok(info)))
        });
        Ok(range.take(limit).collect())
    }

    async fn read_objects(
        &self,
        after: Option<Bytes>,
        limit: usize,
        bytes_max: usize,
    ) -> Result<Vec<Scanned<NewObject>>, StoreError> {
        let mut read = 0;
        let mut found = Vec::new();
        for (token, info) in self.scan_objects(after, limit).await? {
            let ObjectInfo { id, kind, size, .. } = info?;
            // Deleted meanwhile.
            let Some(bytes) = self.object(kind, id).await? else { continue };
            found.push((token, Ok(NewObject { kind, id, bytes })));
            read += size;
            if read >= bytes_max {
                break;
            }
        }
        Ok(found)
    }

    async fn delete_objects(
        &self,
        ids: &[(ObjectKind, ObjectId)],
        epoch: Epoch,
    ) -> Result<usize, StoreError> {
        let mut state = self.lock();
        if let Some(cause) = &state.refused {
            return Err(StoreError::WritesRefused(cause.clone()));
        }
        let Tables { objects, order, .. } = &mut state.tables;
        let mut deleted = 0;
        for key in ids {
            if let Entry::Occupied(stored) = objects.entry(*key)
                && stored.get().epoch < epoch
            {
                order.remove(&stored.remove().place);
                deleted += 1;
            }
        }
        Ok(deleted)
    }

    async fn expire_ref_log(&self, time: Micros) -> Result<usize, StoreError> {
        let mut state = self.lock();
        if let Some(cause) = &state.refused {
            return Err(StoreError::WritesRefused(cause.clone()));
        }
        let Tables { log, requests, .. } = &mut state.tables;
        let mut expired = 0;
        for (name, entries) in log {
            let newest = entries.last_key_value().map_or(0, |(number, _)| *number);
            entries.retain(|number, entry| {
                let keep = entry.time >= time || *number == newest;
                if !keep {
                    expired += 1;
                    if let Some(request) = &entry.request
                        && requests.get(&request.key).is_some_and(|at| at.0 == *name && at.1 == *number)
                    {
                        requests.remove(&request.key);
                    }
                }
                keep
            });
        }
        Ok(expired)
    }

    fn identity(&self) -> Identity {
        let state = self.lock();
        Identity { repository: state.repository, instance: state.instance }
    }

    async fn point(&self) -> Result<(Point, Bytes), StoreError> {
        let tables = &self.lock().tables;
        let is_deleted = |name: &RefName| !tables.references.contains_key(name);
        let deleted = tables.numbers.iter().filter(|(name, _)| is_deleted(name));
        let versions = tables.versions.iter().filter(|(at, _)| !tables.records.contains_key(at));
        let point = Point {
            references: tables.references.values().cloned().collect(),
            deleted: deleted.map(|(name, number)| (name.clone(), *number)).collect(),
            records: tables
                .records
                .iter()
                .map(|((space, key), r)| (*space, key.clone(), r.clone()))
                .collect(),
            versions: versions.map(|((space, key), version)| (*space, key.clone(), *version)).collect(),
            epoch: tables.epoch,
        };
        Ok((point, token(tables.placed)))
    }

    async fn salvage(&self) -> Result<(Load, Vec<Damage>), StoreError> {
        let (point, _) = self.point().await?;
        let log = self.lock().tables.log.values().flat_map(|entries| entries.values().cloned()).collect();
        Ok((Load { point, log, ..Load::default() }, Vec::new()))
    }

    async fn load(&self, rows: Load) -> Result<(), StoreError> {
        let tables = &mut self.lock().tables;
        let Load { objects, log, point } = rows;
        tables.epoch = tables.epoch.max(point.epoch);
        for NewObject { kind, id, bytes } in objects {
            tables.put_object(kind, id, bytes, tables.epoch);
        }
        for entry in log {
            if let Some(request) = &entry.request {
                tables.requests.insert(request.key, (entry.name.clone(), entry.number));
            }
            tables.log.entry(entry.name.clone()).or_default().insert(entry.number, entry);
        }
        for reference in point.references {
            tables.numbers.insert(reference.name.clone(), reference.number);
            tables.references.insert(reference.name.clone(), reference);
        }
        tables.numbers.extend(point.deleted);
        for (space, key, record) in point.records {
            tables.versions.insert((space, key.clone()), record.version);
            tables.records.insert((space, key), record);
        }
        tables
            .versions
            .extend(point.versions.into_iter().map(|(space, key, version)| ((space, key), version)));
        Ok(())
    }

    async fn adopt(&self, repository: [u8; 16]) -> Result<(), StoreError> {
        self.lock().repository = repository;
        Ok(())
    }
}

fn token(place: u64) -> Bytes {
    Bytes::copy_from_slice(&place.to_be_bytes())
}

fn place_of(token: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(token.try_into().ok()?))
}

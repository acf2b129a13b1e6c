//! What maintenance may do.

use std::ops::Bound;

use async_trait::async_trait;
use bytes::Bytes;
use lochan_storage_model::{Micros, ObjectId, ObjectKind};

use super::{Memory, Tables, behind};
use crate::{
    error::StoreError,
    store::{Epoch, ObjectInfo, Sweep},
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

    async fn scan_objects(
        &self,
        after: Option<Bytes>,
        limit: usize,
    ) -> Result<Vec<(Bytes, ObjectInfo)>, StoreError> {
        let from = match after.as_deref() {
            None => None,
            Some(token) => Some(scan_key(token).ok_or_else(|| StoreError::Read("bad scan token".into()))?),
        };
        let state = self.lock();
        let range = state.tables.objects.range((behind(from), Bound::Unbounded)).take(limit);
        Ok(range
            .map(|((kind, id), (bytes, epoch))| {
                let token = [&[kind.byte()], id.as_bytes().as_slice()].concat();
                let info = ObjectInfo { id: *id, kind: *kind, size: bytes.len(), epoch: *epoch };
                (Bytes::from(token), info)
            })
            .collect())
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
        let objects = &mut state.tables.objects;
        let mut deleted = 0;
        for key in ids {
            if objects.get(key).is_some_and(|(_, found)| *found < epoch) {
                objects.remove(key);
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
}

fn scan_key(token: &[u8]) -> Option<(ObjectKind, ObjectId)> {
    let (kind, id) = token.split_first()?;
    Some((ObjectKind::from_byte(*kind)?, ObjectId::from_bytes(id.try_into().ok()?)))
}

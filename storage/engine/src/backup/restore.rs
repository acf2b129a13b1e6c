//! Putting a backup back.

use std::sync::Arc;

use lochan_storage_odb::{Load, NewObject, Point, Sweep};

use super::{Error, Vault, read};

/// Objects, or bytes of them, put back with one sync.
const LOAD_OBJECTS: usize = 4_096;
const LOAD_BYTES: usize = 16 << 20;
/// Log entries put back with one sync.
const LOAD_LOG: usize = 10_000;

/// What was put back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Restored {
    /// Objects.
    pub objects: u64,
    /// References.
    pub references: u64,
    /// Log entries.
    pub log_entries: u64,
    /// Records.
    pub records: u64,
}

/// Puts the backup of a vault into an empty store, which becomes the same repository.
pub async fn restore(vault: &dyn Vault, store: &Arc<dyn Sweep>) -> Result<Restored, Error> {
    let manifest = super::manifest(vault).await?;
    let (point, _) = store.point().await?;
    if (Point { epoch: point.epoch, ..Point::default() }) != point
        || !store.scan_objects(None, 1).await?.is_empty()
    {
        return Err(Error::NotEmpty);
    }
    let mut restored = Restored::default();
    for named in &manifest.packs {
        restored.objects += load_objects(store, read::pack(vault, named).await?).await?;
    }
    let rows = read::all_rows(vault, &manifest).await?;
    restored.references = rows.point.references.len() as u64;
    restored.log_entries = rows.log.len() as u64;
    restored.records = rows.point.records.len() as u64;
    load_rows(store, rows).await?;
    store.adopt(manifest.identity.repository).await?;
    Ok(restored)
}

/// Puts objects in, in pieces; returns how many.
pub(super) async fn load_objects(store: &Arc<dyn Sweep>, objects: Vec<NewObject>) -> Result<u64, Error> {
    let count = objects.len() as u64;
    let (mut piece, mut bytes) = (Vec::new(), 0);
    for object in objects {
        bytes += object.bytes.len();
        piece.push(object);
        if piece.len() >= LOAD_OBJECTS || bytes >= LOAD_BYTES {
            bytes = 0;
            store.load(Load { objects: std::mem::take(&mut piece), ..Load::default() }).await?;
        }
    }
    if !piece.is_empty() {
        store.load(Load { objects: piece, ..Load::default() }).await?;
    }
    Ok(count)
}

/// Puts everything mutable in: the log first, so that no reference stands there without.
pub(super) async fn load_rows(store: &Arc<dyn Sweep>, rows: Load) -> Result<(), Error> {
    let Load { log, point, .. } = rows;
    for piece in log.chunks(LOAD_LOG) {
        store.load(Load { log: piece.to_vec(), ..Load::default() }).await?;
    }
    store.load(Load { point, ..Load::default() }).await?;
    Ok(())
}

//! Reading the files of a backup. Nothing is believed that does not hash to its name.

use std::collections::HashSet;

use bytes::Bytes;
use lochan_storage_model::{ObjectId, ObjectKind};
use lochan_storage_odb::{Load, NewObject};

use super::{Error, Manifest, Vault, files, manifest::Named};

/// The bytes of a file, checked.
async fn file(vault: &dyn Vault, folder: &str, named: &Named) -> Result<(String, Bytes), Error> {
    let name = format!("{folder}/{}", named.hash);
    let Some(bytes) = vault.read(&name).await? else { return Err(Error::damaged(name, "is missing")) };
    if bytes.len() as u64 != named.size {
        let detail = format!("has {} bytes instead of {}", bytes.len(), named.size);
        return Err(Error::damaged(name, detail));
    }
    if blake3::hash(&bytes).to_hex().as_str() != named.hash {
        return Err(Error::damaged(name, "does not hash to its name"));
    }
    Ok((name, bytes))
}

/// The objects of a pack, each hashed.
pub(super) async fn pack(vault: &dyn Vault, named: &Named) -> Result<Vec<NewObject>, Error> {
    let (name, bytes) = file(vault, "packs", named).await?;
    let objects = files::objects(&bytes).map_err(|error| Error::damaged(&name, error.to_string()))?;
    match objects.iter().find(|object| ObjectId::of(object.kind, &object.bytes) != object.id) {
        Some(object) => Err(Error::damaged(name, format!("holds an object {} of another hash", object.id))),
        None => Ok(objects),
    }
}

/// The rows of a file.
pub(super) async fn rows(vault: &dyn Vault, named: &Named) -> Result<Load, Error> {
    let (name, bytes) = file(vault, "rows", named).await?;
    files::rows(&bytes).map_err(|error| Error::damaged(name, error.to_string()))
}

/// All rows of a backup.
pub(super) async fn all_rows(vault: &dyn Vault, manifest: &Manifest) -> Result<Load, Error> {
    let mut all = Load::default();
    for named in &manifest.rows {
        let Load { log, point, .. } = rows(vault, named).await?;
        all.log.extend(log);
        all.point.references.extend(point.references);
        all.point.deleted.extend(point.deleted);
        all.point.records.extend(point.records);
        all.point.versions.extend(point.versions);
        all.point.epoch = all.point.epoch.max(point.epoch);
    }
    Ok(all)
}

/// The ids of all objects of a backup.
pub(super) async fn ids(
    vault: &dyn Vault,
    manifest: &Manifest,
) -> Result<HashSet<(ObjectKind, ObjectId)>, Error> {
    let mut ids = HashSet::new();
    for named in &manifest.packs {
        ids.extend(pack(vault, named).await?.iter().map(|object| (object.kind, object.id)));
    }
    Ok(ids)
}

//! One bucket: objects found, put in place and removed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::SystemTime;

use s3s::crypto::{Checksum, Sha256};
use s3s::dto::{ETag, ETagCondition};
use s3s::{S3Error, S3Result, s3_error};

use super::aside::Sealed;
use super::description::Description;
use super::listing::{Listed, Page, Query};
use super::locks::KeyLocks;
use super::{sync_folder, uploads};

#[derive(Debug)]
pub(crate) struct Bucket {
    pub(crate) name: String,
    pub(crate) created: SystemTime,
    pub(super) folder: PathBuf,
    objects_max: usize,
    index: RwLock<BTreeMap<String, Listed>>,
    locks: KeyLocks,
}

/// An object opened for reading: it stays whole and the same however the key changes meanwhile.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) description: Description,
}

/// What must hold of the object in place for a write or deletion to happen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Precondition {
    pub(crate) if_match: Option<ETagCondition>,
    pub(crate) if_none_match: Option<ETagCondition>,
}

impl Precondition {
    fn check(&self, current: Option<&Listed>) -> S3Result<()> {
        let is_current = |condition: &ETagCondition| match (condition, current) {
            (_, None) => false,
            (ETagCondition::Any, Some(_)) => true,
            (ETagCondition::ETag(etag), Some(listed)) => etag.strong_cmp(&ETag::Strong(listed.etag.clone())),
        };
        match (&self.if_match, current) {
            // S3 tells a missing object from one that has changed.
            (Some(ETagCondition::ETag(_)), None) => return Err(s3_error!(NoSuchKey)),
            (Some(condition), _) if !is_current(condition) => return Err(s3_error!(PreconditionFailed)),
            _ => {}
        }
        match &self.if_none_match {
            Some(condition) if is_current(condition) => Err(s3_error!(PreconditionFailed)),
            _ => Ok(()),
        }
    }
}

impl Bucket {
    /// Opens or makes the folder of a bucket and reads its index. A file that is none of ours is
    /// reported and left alone.
    pub(super) fn open(folder: PathBuf, name: String, objects_max: usize) -> io::Result<Bucket> {
        let objects = folder.join("objects");
        fs::create_dir_all(&objects)?;
        let uploads = folder.join("uploads");
        fs::create_dir_all(&uploads)?;
        uploads::clear_ended(&uploads)?;
        sync_folder(&folder)?;
        let mut index = BTreeMap::new();
        for shard in fs::read_dir(&objects)? {
            for entry in fs::read_dir(shard?.path())? {
                let path = entry?.path();
                match File::open(&path).and_then(|mut file| Description::read_from(&mut file)) {
                    Ok(description) => {
                        index.insert(description.key.clone(), listed(&description));
                    }
                    Err(error) => {
                        tracing::warn!(path = %path.display(), %error, "not an object; left alone");
                    }
                }
            }
        }
        let created = fs::metadata(&folder)?;
        let created = created.created().or_else(|_| created.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        Ok(Bucket {
            name,
            created,
            folder,
            objects_max,
            index: RwLock::new(index),
            locks: KeyLocks::default(),
        })
    }

    pub(crate) fn get(&self, key: &str) -> S3Result<Opened> {
        let mut file = match File::open(self.path(key)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(s3_error!(NoSuchKey)),
            Err(error) => return Err(S3Error::internal_error(error)),
        };
        let description = Description::read_from(&mut file).map_err(S3Error::internal_error)?;
        Ok(Opened { file, description })
    }

    pub(crate) fn list(&self, query: &Query) -> Page {
        query.page(&self.index())
    }

    /// Puts a finished object in place if the condition holds of what is there. Durable on return.
    pub(crate) fn place(&self, mut sealed: Sealed, condition: &Precondition) -> S3Result<()> {
        let key = sealed.description.key.clone();
        let path = self.path(&key);
        let new = listed(&sealed.description);
        self.locks.hold(&key, || {
            let (current, count) = {
                let index = self.index();
                (index.get(&key).cloned(), index.len())
            };
            condition.check(current.as_ref())?;
            if current.is_none() && count >= self.objects_max {
                return Err(s3_error!(ServiceUnavailable, "the bucket holds {count} objects already"));
            }
            rename_into(&mut sealed, &path).map_err(S3Error::internal_error)?;
            self.index_mut().insert(key.clone(), new);
            Ok(())
        })?;
        let shard = path.parent().unwrap_or(&self.folder);
        sync_folder(shard).map_err(S3Error::internal_error)
    }

    /// Removes an object if the condition holds of it; a missing one is success without a condition.
    pub(crate) fn delete(&self, key: &str, condition: &Precondition) -> S3Result<()> {
        self.locks.hold(key, || {
            let current = self.index().get(key).cloned();
            condition.check(current.as_ref())?;
            if current.is_none() {
                return Ok(());
            }
            match fs::remove_file(self.path(key)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(S3Error::internal_error(error));
                }
                _ => self.index_mut().remove(key),
            };
            Ok(())
        })
    }

    /// Removes the folder if nothing is stored in it. Only ever removes empty folders, so an upload
    /// that lands meanwhile is not lost but keeps the bucket.
    pub(super) fn remove(&self) -> S3Result<()> {
        let refuse = |_: io::Error| s3_error!(BucketNotEmpty);
        if !self.index().is_empty() {
            return Err(s3_error!(BucketNotEmpty));
        }
        let objects = self.folder.join("objects");
        for shard in fs::read_dir(&objects).map_err(S3Error::internal_error)? {
            fs::remove_dir(shard.map_err(S3Error::internal_error)?.path()).map_err(refuse)?;
        }
        fs::remove_dir(self.folder.join("uploads")).map_err(refuse)?;
        fs::remove_dir(objects).map_err(refuse)?;
        fs::remove_dir(&self.folder).map_err(refuse)
    }

    fn path(&self, key: &str) -> PathBuf {
        let hash = hex::encode(Sha256::checksum(key.as_bytes()));
        let shard = hash.get(..2).unwrap_or_default();
        self.folder.join("objects").join(shard).join(&hash)
    }

    fn index(&self) -> RwLockReadGuard<'_, BTreeMap<String, Listed>> {
        // Changed by single inserts and removals only, so a panic cannot leave it half-way.
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn index_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Listed>> {
        self.index.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Renames into a folder that may have to be made first.
fn rename_into(sealed: &mut Sealed, path: &Path) -> io::Result<()> {
    match sealed.put_in_place(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let Some(shard) = path.parent() else { return Err(error) };
            match fs::create_dir(shard) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            if let Some(objects) = shard.parent() {
                sync_folder(objects)?;
            }
            sealed.put_in_place(path)
        }
        done => done,
    }
}

fn listed(description: &Description) -> Listed {
    Listed {
        size_bytes: description.size_bytes,
        etag: description.etag.clone(),
        modified_us: description.modified_us,
    }
}

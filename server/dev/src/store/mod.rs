//! Buckets and objects on disk, and an index of their keys in memory.
//!
//! ```text
//! <data folder>/lock                                held while a process serves the folder
//! <data folder>/incoming/<uuid>                     what is being received; emptied at the start
//! <data folder>/buckets/<bucket>/objects/ab/<hash>  one object; hash = SHA-256 of its key, hexadecimal
//! <data folder>/buckets/<bucket>/uploads/<uuid>/    one multipart upload
//!     upload                                        its key and attributes
//!     00001 …                                       its parts
//! ```
//!
//! Every file of an object, part or upload is its bytes followed by a description (see
//! [`description`]), so one rename puts bytes, ETag and attributes in place together, and a reader that
//! has opened the old file goes on reading it. Hashing keys means that any key works: one that is also
//! the prefix of others, one of 1,024 bytes, one with any characters. The index, a sorted map per
//! bucket, is rebuilt from the descriptions at the start.
//!
//! Files are synced before they are put in place and folders after it, before the answer. Deletions
//! are not synced: a power cut may bring an object back.

mod aside;
mod bucket;
mod description;
mod listing;
mod locks;
mod uploads;

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use s3s::{S3Result, s3_error};

use crate::limits::Limits;

pub(crate) use aside::{Aside, Sealed};
pub(crate) use bucket::{Bucket, Opened, Precondition};
pub(crate) use description::{Attributes, Checksums, Description, now_us};
pub(crate) use listing::{Page, Query};
pub(crate) use uploads::FinishedPart;

/// Smallest part of a multipart upload but its last, in bytes.
pub const PART_BYTES_MIN: u64 = 5 * 1024 * 1024;
/// Highest number of a part.
pub const PART_NUMBER_MAX: i32 = 10_000;

/// Everything below one data folder. All methods block.
#[derive(Debug)]
pub(crate) struct Store {
    root: PathBuf,
    incoming: PathBuf,
    limits: Limits,
    buckets: RwLock<BTreeMap<String, Arc<Bucket>>>,
    /// Keeps the lock of the folder for as long as the store lives.
    _lock: File,
}

impl Store {
    /// Opens the folder, making it if needed, and reads the index. `WouldBlock` means that another
    /// process serves it.
    pub(crate) fn open(root: &Path, limits: Limits) -> io::Result<Store> {
        fs::create_dir_all(root)?;
        let lock = File::create(root.join("lock"))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::ErrorKind::WouldBlock.into(),
            TryLockError::Error(error) => error,
        })?;
        let incoming = root.join("incoming");
        match fs::remove_dir_all(&incoming) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::create_dir(&incoming)?,
        }
        let folder = root.join("buckets");
        fs::create_dir_all(&folder)?;
        let mut buckets = BTreeMap::new();
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if entry.file_type()?.is_dir() && s3s::path::check_bucket_name(&name) {
                buckets.insert(name.clone(), Arc::new(Bucket::open(entry.path(), name, limits.objects_max)?));
            }
        }
        sync_folder(root)?;
        Ok(Store { root: root.to_owned(), incoming, limits, buckets: RwLock::new(buckets), _lock: lock })
    }

    pub(crate) const fn limits(&self) -> Limits {
        self.limits
    }

    /// Makes a bucket unless it is there; returns whether it was made.
    pub(crate) fn ensure_bucket(&self, name: &str) -> io::Result<bool> {
        let mut buckets = self.buckets_mut();
        if buckets.contains_key(name) {
            return Ok(false);
        }
        let folder = self.root.join("buckets");
        let bucket = Bucket::open(folder.join(name), name.to_owned(), self.limits.objects_max)?;
        sync_folder(&folder)?;
        buckets.insert(name.to_owned(), Arc::new(bucket));
        Ok(true)
    }

    pub(crate) fn bucket(&self, name: &str) -> S3Result<Arc<Bucket>> {
        self.buckets().get(name).cloned().ok_or_else(|| s3_error!(NoSuchBucket))
    }

    /// All buckets, by name.
    pub(crate) fn all_buckets(&self) -> Vec<Arc<Bucket>> {
        self.buckets().values().cloned().collect()
    }

    /// Removes an empty bucket.
    pub(crate) fn delete_bucket(&self, name: &str) -> S3Result<()> {
        let mut buckets = self.buckets_mut();
        let bucket = buckets.get(name).ok_or_else(|| s3_error!(NoSuchBucket))?;
        bucket.remove()?;
        buckets.remove(name);
        Ok(())
    }

    /// A new empty file aside, for what is being received.
    pub(crate) fn aside(&self) -> io::Result<Aside> {
        Aside::create(&self.incoming)
    }

    fn buckets(&self) -> RwLockReadGuard<'_, BTreeMap<String, Arc<Bucket>>> {
        // Changed by single inserts and removals only, so a panic cannot leave it half-way.
        self.buckets.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn buckets_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<String, Arc<Bucket>>> {
        self.buckets.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the names in a folder durable.
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests;

//! The reserve of free space that a disk must have before a batch is taken.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use lochan_storage_odb::StoreError;

/// Part of the disk that the reserve never exceeds, so that small disks can be used: one in so many bytes.
const DISK_PART: u64 = 20;

/// How long an answer that there is space counts. No disk fills the reserve in that time, and asking costs some microseconds,
/// which every write would pay.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Watches over the space of a store.
pub(crate) struct Space {
    folder: PathBuf,
    reserve_bytes: u64,
    /// When there was space.
    seen: Mutex<Option<Instant>>,
}

impl Space {
    /// Of the disk of `folder`.
    pub(crate) fn new(folder: &Path, reserve_bytes: u64) -> Self {
        Self { folder: folder.to_owned(), reserve_bytes, seen: Mutex::new(None) }
    }

    /// Refuses when the disk has less than the reserve left. A disk that cannot be asked is not full: the write itself
    /// will tell.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.is_some_and(|at| at.elapsed() < LOOK_AGAIN) {
            return Ok(());
        }
        *seen = None;
        if let Ok(Some(told)) = shortage(&self.folder, self.reserve_bytes, 0) {
            return Err(StoreError::Full(told));
        }
        *seen = Some(Instant::now());
        Ok(())
    }

    /// Whether so many bytes could be written and the reserve be left. A disk that cannot be asked may have room.
    pub(crate) fn has_room_for(&self, bytes: u64) -> bool {
        !matches!(shortage(&self.folder, self.reserve_bytes, bytes), Ok(Some(_)))
    }
}

fn shortage(folder: &Path, reserve_bytes: u64, wanted: u64) -> io::Result<Option<String>> {
    if reserve_bytes == 0 && wanted == 0 {
        return Ok(None);
    }
    let disk = fs2::statvfs(folder)?;
    let reserve = reserve_bytes.min(disk.total_space() / DISK_PART);
    let left = disk.available_space().saturating_sub(wanted);
    Ok((left < reserve).then(|| {
        format!("the disk of the store has {left} bytes left, less than the reserve of {reserve} bytes")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_below_the_reserve_and_scales_it_down() {
        let folder = tempfile::tempdir().unwrap();
        let disk = fs2::statvfs(folder.path()).unwrap();
        let check = |folder: &Path, reserve| Space::new(folder, reserve).check();
        assert!(check(folder.path(), 0).is_ok());
        let twentieth = disk.total_space() / DISK_PART;
        let expected = disk.available_space() < twentieth;
        assert_eq!(check(folder.path(), u64::MAX).is_err(), expected, "no more than a twentieth of the disk");
        assert!(check(&folder.path().join("gone"), u64::MAX).is_ok());
        let space = Space::new(folder.path(), 1 << 20);
        assert!(!space.has_room_for(disk.total_space()));
        assert_eq!(space.has_room_for(1 << 20), disk.available_space() >= 2 << 20);
    }
}

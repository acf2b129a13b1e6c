//! The reserve of free space that a disk must have before a batch is taken.

use std::{io, path::Path};

use lochan_storage_odb::StoreError;

/// Part of the disk that the reserve never exceeds, so that small disks can be used: one in so many bytes.
const DISK_PART: u64 = 20;

/// Refuses when the disk of `folder` has less than `reserve_bytes` left. A disk that cannot be asked is not full: the
/// write itself will tell.
pub(crate) fn check(folder: &Path, reserve_bytes: u64) -> Result<(), StoreError> {
    match shortage(folder, reserve_bytes) {
        Ok(None) | Err(_) => Ok(()),
        Ok(Some(told)) => Err(StoreError::Full(told)),
    }
}

fn shortage(folder: &Path, reserve_bytes: u64) -> io::Result<Option<String>> {
    if reserve_bytes == 0 {
        return Ok(None);
    }
    let disk = fs2::statvfs(folder)?;
    let reserve = reserve_bytes.min(disk.total_space() / DISK_PART);
    let left = disk.available_space();
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
        assert!(check(folder.path(), 0).is_ok());
        let twentieth = disk.total_space() / DISK_PART;
        let expected = disk.available_space() < twentieth;
        assert_eq!(check(folder.path(), u64::MAX).is_err(), expected, "no more than a twentieth of the disk");
        assert!(check(&folder.path().join("gone"), u64::MAX).is_ok());
    }
}

//! Copies of what the engine may overwrite, kept beside it while it is being opened: each in one file, whole or not at all.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

/// Length of the check sum at the end of a copy, in bytes.
const SUM_BYTES: usize = 32;

/// What is in the file `copy`; nothing if there is none.
pub(crate) fn kept(copy: &Path) -> io::Result<Vec<u8>> {
    match fs::read(copy) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

/// Makes the file `copy` hold these bytes, durable and whole or not at all.
pub(crate) fn keep(copy: &Path, bytes: &[u8]) -> io::Result<()> {
    let unfinished = copy.with_extension("new");
    let mut new = File::create(&unfinished)?;
    new.write_all(bytes)?;
    new.sync_all()?;
    fs::rename(&unfinished, copy)?;
    sync_folder_of(copy)
}

/// Lets go of a copy, if there is one.
pub(crate) fn remove(copy: &Path) -> io::Result<()> {
    match fs::remove_file(copy) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        removed => removed?,
    }
    sync_folder_of(copy)
}

fn sync_folder_of(file: &Path) -> io::Result<()> {
    match file.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// A copy of these bytes, its magic first: with a check sum behind.
pub(crate) fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = blake3::hash(&bytes);
    bytes.extend_from_slice(sum.as_bytes());
    bytes
}

/// What stands in a copy behind its magic; none if it is not whole.
pub(crate) fn unseal<'a>(copy: &'a [u8], magic: &[u8]) -> Option<&'a [u8]> {
    let (bytes, sum) = copy.split_last_chunk::<SUM_BYTES>()?;
    bytes.strip_prefix(magic).filter(|_| blake3::hash(bytes).as_bytes() == sum)
}

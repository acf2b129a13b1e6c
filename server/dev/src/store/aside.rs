//! Files that are not in place yet.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use uuid::Uuid;

use super::description::Description;

/// How much is copied at a time, in bytes.
const COPY_BYTES: usize = 256 * 1024;

/// A file under a name nobody reads. It is removed when dropped before it got its real name.
#[derive(Debug)]
pub(crate) struct Aside {
    path: PathBuf,
    file: File,
    is_in_place: bool,
}

/// A file aside that is complete, described and synced.
#[derive(Debug)]
pub(crate) struct Sealed {
    aside: Aside,
    pub(super) description: Description,
}

impl Aside {
    pub(super) fn create(folder: &Path) -> io::Result<Aside> {
        let path = folder.join(Uuid::new_v4().simple().to_string());
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        Ok(Aside { path, file, is_in_place: false })
    }

    /// Appends bytes of the object.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    /// Appends `length` bytes of an open file from where it stands; an error if it has fewer.
    pub(crate) fn copy(&mut self, from: &File, length: u64) -> io::Result<()> {
        let copied = io::copy(&mut io::Read::take(from, length), &mut self.file)?;
        match copied == length {
            true => Ok(()),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Like [`Aside::copy`], telling the bytes to `see` on the way.
    pub(crate) fn copy_hashed(
        &mut self,
        from: &File,
        length: u64,
        mut see: impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let mut from = io::Read::take(from, length);
        let mut buffer = vec![0; COPY_BYTES];
        let mut copied = 0;
        loop {
            let read = from.read(&mut buffer)?;
            let bytes = buffer.get(..read).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            see(bytes);
            self.file.write_all(bytes)?;
            copied += bytes.len() as u64;
        }
        match copied == length {
            true => Ok(()),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Appends the description and makes the file durable.
    pub(crate) fn seal(mut self, description: Description) -> io::Result<Sealed> {
        description.append_to(&mut self.file)?;
        self.file.sync_data()?;
        Ok(Sealed { aside: self, description })
    }
}

impl Sealed {
    /// The ETag it will have, without quotes.
    pub(crate) fn etag(&self) -> &str {
        &self.description.etag
    }

    /// Gives the file its real name, replacing what has it.
    pub(super) fn put_in_place(&mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.aside.path, path)?;
        self.aside.is_in_place = true;
        Ok(())
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        if !self.is_in_place {
            // What cannot be removed now is removed at the next start.
            let _ = fs::remove_file(&self.path);
        }
    }
}

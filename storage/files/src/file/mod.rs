//! A warehouse in a folder: whole objects as files that survive a power cut once acknowledged.
//!
//! An object is written aside in its own folder, synced, put in place under its name (linked if it
//! must be new, renamed if it may replace), and then the folder is synced, because a name is only as
//! durable as the folder that holds it. Folders made on the way are synced into their parents likewise.

mod folders;
mod place;

use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use crate::counts::{Counters, Request};
use crate::error::Error;
use crate::location::Location;
use crate::warehouse::OBJECT_BYTES_MAX;
use folders::Folders;
pub(crate) use place::Mode;

/// Client of one folder. Cheap to clone; all calls block a thread of the blocking pool, so a caller
/// that goes away does not stop a write half-way.
#[derive(Debug, Clone)]
pub(crate) struct FileStore {
    root: PathBuf,
    folders: Arc<Folders>,
    counters: Arc<Counters>,
}

impl FileStore {
    pub(crate) fn new(root: PathBuf, counters: Arc<Counters>) -> Self {
        FileStore { folders: Arc::new(Folders::new(root.clone())), root, counters }
    }

    pub(crate) async fn put(&self, at: &Location, bytes: Bytes, mode: Mode) -> Result<(), Error> {
        self.counters.add(Request::Put);
        let store = self.clone();
        run(at, move |path| store.put_blocking(path, &bytes, mode)).await
    }

    pub(crate) async fn read(&self, at: &Location) -> Result<Option<Bytes>, Error> {
        self.counters.add(Request::Get);
        let (size_bytes, bytes) = match run(at, read_blocking).await? {
            None => return Ok(None),
            Some(read) => read,
        };
        match bytes {
            Some(bytes) => Ok(Some(bytes)),
            None => Err(too_large(at, size_bytes)),
        }
    }

    pub(crate) async fn size(&self, at: &Location) -> Result<Option<u64>, Error> {
        self.counters.add(Request::Head);
        run(at, |path| {
            let found = absent_as_none(fs::metadata(path))?;
            Ok(found.filter(fs::Metadata::is_file).map(|found| found.len()))
        })
        .await
    }

    pub(crate) async fn delete(&self, at: &Location) -> Result<(), Error> {
        self.counters.add(Request::Delete);
        run(at, |path| match absent_as_none(fs::symlink_metadata(path))? {
            // A folder is no object; there is nothing of that name to delete.
            Some(found) if !found.is_dir() => absent_as_none(fs::remove_file(path)).map(|_| ()),
            _ => Ok(()),
        })
        .await
    }

    pub(crate) async fn make_folders(&self, at: &Location, names: &[&str]) -> Result<(), Error> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let store = self.clone();
        run(at, move |path| {
            store.folders.ensure(path)?;
            names.iter().try_for_each(|name| store.folders.ensure(&path.join(name)))
        })
        .await
    }

    /// Makes the root if it is missing and writes, reads and removes a small file there.
    pub(crate) async fn probe(&self, at: &Location) -> Result<(), Error> {
        let store = self.clone();
        run(at, move |_| {
            store.folders.ensure(&store.root)?;
            place::probe(&store.root)
        })
        .await
    }

    fn put_blocking(&self, path: &Path, bytes: &[u8], mode: Mode) -> io::Result<()> {
        let folder = path.parent().ok_or(ErrorKind::InvalidInput)?;
        self.folders.ensure(folder)?;
        let placed = match place::put(folder, path, bytes, mode) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // Somebody removed a folder that we remembered as durable: look again, once.
                self.folders.forget();
                self.folders.ensure(folder)?;
                place::put(folder, path, bytes, mode)
            }
            placed => placed,
        };
        placed?;
        folders::sync(folder)
    }
}

/// Reads a whole file, or returns its size alone when it is over the bound.
fn read_blocking(path: &Path) -> io::Result<Option<(u64, Option<Bytes>)>> {
    let Some(file) = absent_as_none(fs::File::open(path))? else { return Ok(None) };
    let found = file.metadata()?;
    if !found.is_file() {
        return Ok(None);
    }
    if found.len() > OBJECT_BYTES_MAX {
        return Ok(Some((found.len(), None)));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(found.len()).unwrap_or(0));
    // The file may grow while it is read; the bound holds all the same.
    let read_bytes = file.take(OBJECT_BYTES_MAX + 1).read_to_end(&mut bytes)? as u64;
    let bytes = (read_bytes <= OBJECT_BYTES_MAX).then(|| Bytes::from(bytes));
    Ok(Some((read_bytes, bytes)))
}

pub(crate) fn too_large(at: &Location, size_bytes: u64) -> Error {
    Error::TooLarge { location: at.as_str().to_owned(), size_bytes, limit_bytes: OBJECT_BYTES_MAX }
}

/// `None` for a name that is not there, be it because a folder on the way is missing or a file.
fn absent_as_none<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Runs a blocking piece of work on the path of `at` and gives its error the location.
async fn run<T, F>(at: &Location, work: F) -> Result<T, Error>
where
    T: Send + 'static,
    F: FnOnce(&Path) -> io::Result<T> + Send + 'static,
{
    let Some(path) = at.file_path() else {
        return Err(Error::invalid(at.as_str(), "is not on disk"));
    };
    match tokio::task::spawn_blocking(move || work(&path)).await {
        Ok(done) => done.map_err(|error| classify(at, error)),
        Err(join) => Err(Error::Other { location: at.as_str().to_owned(), source: Box::new(join) }),
    }
}

fn classify(at: &Location, error: io::Error) -> Error {
    let location = at.as_str().to_owned();
    match error.kind() {
        ErrorKind::NotFound => Error::NotFound { location },
        ErrorKind::AlreadyExists => Error::AlreadyExists { location },
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Error::Denied { location, source: Box::new(error) }
        }
        ErrorKind::NotADirectory => Error::invalid(location, "lies below a file"),
        ErrorKind::IsADirectory => Error::invalid(location, "is a folder"),
        ErrorKind::InvalidFilename | ErrorKind::InvalidInput => {
            Error::invalid(location, "is not a possible file name")
        }
        _ => Error::Unavailable { location, source: Box::new(error) },
    }
}

#[cfg(test)]
mod tests;

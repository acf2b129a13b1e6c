//! One warehouse: what clients are told about it, and whole objects read and written in it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::config::S3Config;
use crate::counts::{Counters, IoCounts};
use crate::error::Error;
use crate::file::{FileStore, Mode, too_large};
use crate::location::Location;
use crate::s3::S3Store;

/// Largest object read or written in one piece, in bytes. Metadata of a table with 100,000 snapshots
/// stays below it; data files never pass through here.
pub const OBJECT_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Longest a probe takes, in milliseconds.
pub const PROBE_TIMEOUT_MS: u64 = 5_000;

/// A named root location and the client that reads and writes below it. Cheap to clone.
///
/// Every operation takes a location inside the warehouse and refuses others with [`Error::Invalid`]
/// before anything is touched. A future that is dropped may or may not have taken effect.
#[derive(Debug, Clone)]
pub struct Warehouse(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: String,
    location: Location,
    properties: Vec<(String, String)>,
    store: Store,
    counters: Arc<Counters>,
}

#[derive(Debug)]
enum Store {
    File(FileStore),
    S3(S3Store),
}

impl Warehouse {
    pub(crate) fn open(name: String, location: Location, s3: Option<S3Config>) -> Result<Warehouse, Error> {
        let counters = Arc::new(Counters::default());
        let (store, properties) = match (location.file_path(), s3) {
            (Some(_), Some(_)) => {
                return Err(Error::invalid(location.as_str(), "is on disk but has S3 settings"));
            }
            (Some(root), None) => (Store::File(FileStore::new(root, Arc::clone(&counters))), Vec::new()),
            (None, s3) => {
                let s3 = s3.unwrap_or_default();
                let properties = client_properties(&s3);
                (Store::S3(S3Store::open(&location, &s3, Arc::clone(&counters))?), properties)
            }
        };
        Ok(Warehouse(Arc::new(Inner { name, location, properties, store, counters })))
    }

    /// The configured name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The root; a plain path in the configuration reads `file:///…` here, because engines resolve a
    /// bare path against a file system of their own choice.
    pub fn location(&self) -> &Location {
        &self.0.location
    }

    /// What a table load tells clients about the store, in this order as far as known: `client.region`,
    /// `s3.region`, `s3.endpoint` (the external one first), `s3.path-style-access`. Empty on `file:`.
    /// Nothing here is secret.
    pub fn client_properties(&self) -> Vec<(String, String)> {
        self.0.properties.clone()
    }

    /// Writes an object that must not exist yet, durably on return.
    ///
    /// One PUT with `If-None-Match: *` on S3. Should the first attempt get no usable answer and the
    /// retry find the name taken, the object is read once to see whether it is the one just sent.
    /// Errors: [`Error::AlreadyExists`] if another object has the name. After [`Error::Unavailable`] or
    /// [`Error::Throttled`] it is unknown whether the object is there.
    pub async fn create(&self, at: &Location, bytes: Bytes) -> Result<(), Error> {
        self.put(at, bytes, Mode::New).await
    }

    /// Writes an object in place of what may be there, durably on return. Readers see the old bytes or
    /// the new ones, never a mixture.
    pub async fn write(&self, at: &Location, bytes: Bytes) -> Result<(), Error> {
        self.put(at, bytes, Mode::Replace).await
    }

    async fn put(&self, at: &Location, bytes: Bytes, mode: Mode) -> Result<(), Error> {
        self.check_inside(at)?;
        if bytes.len() as u64 > OBJECT_BYTES_MAX {
            return Err(too_large(at, bytes.len() as u64));
        }
        match &self.0.store {
            Store::File(store) => store.put(at, bytes, mode).await,
            Store::S3(store) => store.put(at, bytes, mode).await,
        }
    }

    /// Reads a whole object, `None` if nothing has the name (a folder is nothing). Errors:
    /// [`Error::TooLarge`] over [`OBJECT_BYTES_MAX`], before its body is read.
    pub async fn read(&self, at: &Location) -> Result<Option<Bytes>, Error> {
        self.check_inside(at)?;
        match &self.0.store {
            Store::File(store) => store.read(at).await,
            Store::S3(store) => store.read(at).await,
        }
    }

    /// The size of an object in bytes, `None` if nothing has the name.
    pub async fn size(&self, at: &Location) -> Result<Option<u64>, Error> {
        self.check_inside(at)?;
        match &self.0.store {
            Store::File(store) => store.size(at).await,
            Store::S3(store) => store.size(at).await,
        }
    }

    /// Deletes an object; nothing there is success. Not synced: a deletion lost in a power cut leaves
    /// a superfluous file, no wrong answer.
    pub async fn delete(&self, at: &Location) -> Result<(), Error> {
        self.check_inside(at)?;
        match &self.0.store {
            Store::File(store) => store.delete(at).await,
            Store::S3(store) => store.delete(at).await,
        }
    }

    /// Makes `at` and the named folders in it, durably, for engines that write to `file:` but make no
    /// folders (DuckDB). Nothing happens on S3.
    pub async fn make_folders(&self, at: &Location, names: &[&str]) -> Result<(), Error> {
        self.check_inside(at)?;
        for name in names {
            at.join(name)?;
        }
        match &self.0.store {
            Store::File(store) => store.make_folders(at, names).await,
            Store::S3(_) => Ok(()),
        }
    }

    /// Checks that the warehouse can be used: on `file:` by writing and removing a small file in its
    /// root, on S3 by listing a page below it. Takes at most [`PROBE_TIMEOUT_MS`].
    pub async fn probe(&self) -> Result<(), Error> {
        let at = &self.0.location;
        let probing = async {
            match &self.0.store {
                Store::File(store) => store.probe(at).await,
                Store::S3(store) => store.probe(at).await,
            }
        };
        match tokio::time::timeout(Duration::from_millis(PROBE_TIMEOUT_MS), probing).await {
            Ok(done) => done,
            Err(late) => Err(Error::Unavailable { location: at.as_str().to_owned(), source: Box::new(late) }),
        }
    }

    /// How many requests were made since the warehouse was opened; shared by all clones.
    pub fn io_counts(&self) -> IoCounts {
        self.0.counters.read()
    }

    fn check_inside(&self, at: &Location) -> Result<(), Error> {
        match self.0.location.contains(at) {
            true => Ok(()),
            false => Err(Error::invalid(at.as_str(), format!("is outside warehouse '{}'", self.0.name))),
        }
    }
}

fn client_properties(s3: &S3Config) -> Vec<(String, String)> {
    let mut properties =
        vec![("client.region".to_owned(), s3.region.clone()), ("s3.region".to_owned(), s3.region.clone())];
    let endpoint = s3.external_endpoint.as_ref().or(s3.endpoint.as_ref());
    if let Some(endpoint) = endpoint {
        properties.push(("s3.endpoint".to_owned(), endpoint.clone()));
    }
    let is_path_style = s3.is_path_style(endpoint.map(String::as_str));
    properties.push(("s3.path-style-access".to_owned(), is_path_style.to_string()));
    properties
}

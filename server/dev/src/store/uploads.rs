//! Multipart uploads: parts beside each other until they become one object.

use std::fs::{self, File};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

use s3s::crypto::{Checksum, Md5};
use s3s::{S3Error, S3Result, s3_error};
use uuid::Uuid;

use super::aside::{Aside, Sealed};
use super::bucket::Bucket;
use super::description::{Attributes, Description, now_us};
use super::{PART_BYTES_MIN, PART_NUMBER_MAX, Store, sync_folder};

/// The file of an upload that holds its key and attributes.
const HEAD: &str = "upload";

/// An upload under way.
#[derive(Debug, Clone)]
pub(crate) struct Upload {
    pub(crate) id: String,
    /// Key, attributes and time of the beginning; no bytes.
    pub(crate) head: Description,
    folder: PathBuf,
}

/// A part as the client names it when it completes an upload.
#[derive(Debug, Clone)]
pub(crate) struct FinishedPart {
    pub(crate) number: i32,
    /// Without quotes. Must be that of the part stored, if given.
    pub(crate) etag: Option<String>,
}

impl Bucket {
    /// Begins an upload and returns its id.
    pub(crate) fn create_upload(&self, store: &Store, key: &str, attributes: Attributes) -> S3Result<String> {
        let id = Uuid::new_v4().simple().to_string();
        let head =
            Description { key: key.to_owned(), modified_us: now_us(), attributes, ..Description::default() };
        let make = || -> io::Result<()> {
            let mut sealed = store.aside()?.seal(head)?;
            let folder = self.uploads_folder().join(&id);
            fs::create_dir(&folder)?;
            sealed.put_in_place(&folder.join(HEAD))?;
            sync_folder(&folder)?;
            sync_folder(&self.uploads_folder())
        };
        make().map_err(S3Error::internal_error)?;
        Ok(id)
    }

    /// The upload of that id for that key.
    pub(crate) fn upload(&self, key: &str, id: &str) -> S3Result<Upload> {
        // Only what we have given out is a name on disk.
        let id = Uuid::try_parse(id).map_err(|_| s3_error!(NoSuchUpload))?.simple().to_string();
        let folder = self.uploads_folder().join(&id);
        match File::open(folder.join(HEAD)).and_then(|mut file| Description::read_from(&mut file)) {
            Ok(head) if head.key == key => Ok(Upload { id, head, folder }),
            Ok(_) => Err(s3_error!(NoSuchUpload)),
            Err(error) => Err(gone(error)),
        }
    }

    /// All uploads under way whose key begins with `prefix`, by key and id.
    pub(crate) fn uploads(&self, prefix: &str) -> S3Result<Vec<Upload>> {
        let mut uploads = Vec::new();
        for entry in fs::read_dir(self.uploads_folder()).map_err(S3Error::internal_error)? {
            let folder = entry.map_err(S3Error::internal_error)?.path();
            let id = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            // One that ends while we look is as good as ended before.
            let head = File::open(folder.join(HEAD)).and_then(|mut file| Description::read_from(&mut file));
            if let Ok(head) = head
                && head.key.starts_with(prefix)
            {
                uploads.push(Upload { id, head, folder });
            }
        }
        uploads.sort_by(|a, b| (&a.head.key, &a.id).cmp(&(&b.head.key, &b.id)));
        Ok(uploads)
    }

    fn uploads_folder(&self) -> PathBuf {
        self.folder.join("uploads")
    }
}

impl Upload {
    /// Stores a part, replacing one of the same number.
    pub(crate) fn place_part(&self, number: i32, mut part: Sealed) -> S3Result<()> {
        if !(1..=PART_NUMBER_MAX).contains(&number) {
            return Err(s3_error!(InvalidArgument, "part numbers go from 1 to {PART_NUMBER_MAX}"));
        }
        part.put_in_place(&self.part_path(number)).map_err(gone)?;
        sync_folder(&self.folder).map_err(gone)
    }

    /// The parts stored so far, by number.
    pub(crate) fn parts(&self) -> S3Result<Vec<(i32, Description)>> {
        let mut parts = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(gone)? {
            let path = entry.map_err(gone)?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let Some(number) = name.and_then(|name| name.parse().ok()) else { continue };
            let mut file = File::open(&path).map_err(gone)?;
            parts.push((number, Description::read_from(&mut file).map_err(S3Error::internal_error)?));
        }
        parts.sort_by_key(|(number, _)| *number);
        Ok(parts)
    }

    /// Joins the named parts, in ascending order, into one finished object that is not in place yet.
    pub(crate) fn join(&self, store: &Store, wanted: &[FinishedPart]) -> S3Result<Sealed> {
        if wanted.is_empty() {
            return Err(s3_error!(MalformedXML, "at least one part must be named"));
        }
        if !wanted.is_sorted_by(|a, b| a.number < b.number) {
            return Err(s3_error!(InvalidPartOrder));
        }
        let mut aside: Aside = store.aside().map_err(S3Error::internal_error)?;
        let mut md5 = Md5::new();
        let mut sizes = Vec::with_capacity(wanted.len());
        for (place, part) in wanted.iter().enumerate() {
            let invalid = || s3_error!(InvalidPart, "part {} is missing or has another ETag", part.number);
            let mut file = File::open(self.part_path(part.number)).map_err(|_| invalid())?;
            let description = Description::read_from(&mut file).map_err(S3Error::internal_error)?;
            if part.etag.as_ref().is_some_and(|etag| *etag != description.etag) {
                return Err(invalid());
            }
            if place + 1 < wanted.len() && description.size_bytes < PART_BYTES_MIN {
                return Err(s3_error!(EntityTooSmall));
            }
            md5.update(&hex::decode(&description.etag).map_err(S3Error::internal_error)?);
            sizes.push(description.size_bytes);
            file.rewind().map_err(S3Error::internal_error)?;
            aside.copy(&file, description.size_bytes).map_err(S3Error::internal_error)?;
        }
        let description = Description {
            key: self.head.key.clone(),
            size_bytes: sizes.iter().sum(),
            etag: format!("{}-{}", hex::encode(md5.finalize()), sizes.len()),
            modified_us: now_us(),
            attributes: self.head.attributes.clone(),
            part_sizes_bytes: sizes,
            ..Description::default()
        };
        aside.seal(description).map_err(S3Error::internal_error)
    }

    /// Forgets the upload and its parts; one that is gone already is an error.
    pub(crate) fn remove(&self) -> S3Result<()> {
        // Without its head it does not exist, so this is the moment it ends.
        fs::remove_file(self.folder.join(HEAD)).map_err(gone)?;
        if let Err(error) = fs::remove_dir_all(&self.folder) {
            // A part that lands meanwhile; the next start clears it away.
            tracing::debug!(%error, folder = %self.folder.display(), "an ended upload left files");
        }
        Ok(())
    }

    fn part_path(&self, number: i32) -> PathBuf {
        self.folder.join(format!("{number:05}"))
    }
}

/// Clears away what ended uploads left behind.
pub(super) fn clear_ended(uploads: &Path) -> io::Result<()> {
    for entry in fs::read_dir(uploads)? {
        let folder = entry?.path();
        if !folder.join(HEAD).try_exists()? {
            fs::remove_dir_all(&folder)?;
        }
    }
    Ok(())
}

fn gone(error: io::Error) -> S3Error {
    match error.kind() {
        io::ErrorKind::NotFound => s3_error!(NoSuchUpload),
        _ => S3Error::internal_error(error),
    }
}

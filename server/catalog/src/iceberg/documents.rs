//! Metadata documents, kept in memory and in the store, so that a load does not read the warehouse.
//!
//! A derived row leads from a location to the root part of the document stored there; the parts are objects that versions
//! share. What is not kept yet, such as the files of native clients, is read from the warehouse once.

mod bytes;
mod kept;

use std::sync::Arc;

use ::bytes::Bytes;
use lochan_storage_files::{Location, Warehouse};
use lochan_storage_iceberg::{
    naming::is_gzip_name,
    parts::{self, PartId},
    table::TableMetadata,
    view::ViewMetadata,
};
use lochan_storage_model::{CommitId, ObjectId, ObjectKind};
use lochan_storage_odb::{Batch, Change, DerivedSpace, DerivedWrite, NewObject};
use quick_cache::{Weighter, sync::Cache};

pub(crate) use self::bytes::gzip;
use super::{Iceberg, lines::Lines};
use crate::error::Error;

/// Entries that remember which commit last changed a table.
const LAST_CHANGES_MAX: usize = 50_000;
/// A parsed document takes about so many times its JSON.
const PARSED_FACTOR: u64 = 3;
/// Documents that the caches are laid out for.
const DOCUMENTS_EXPECTED: usize = 1_024;

/// What a document describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Body {
    /// A table.
    Table(Box<TableMetadata>),
    /// A view.
    View(ViewMetadata),
}

impl Body {
    pub(crate) fn to_json(&self) -> Vec<u8> {
        match self {
            Self::Table(table) => table.to_json(),
            Self::View(view) => view.to_json(),
        }
    }
}

/// Kinds of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Table metadata.
    Table,
    /// View metadata.
    View,
}

/// A metadata document.
#[derive(Debug)]
pub(crate) struct Document {
    /// What it says.
    pub(crate) body: Body,
    /// Length of its JSON.
    pub(crate) json_bytes: u64,
    /// Ids of its parts in the store, sorted.
    pub(crate) parts: Box<[PartId]>,
}

impl Document {
    /// The table it describes.
    pub(crate) fn table(&self) -> Result<&TableMetadata, Error> {
        match &self.body {
            Body::Table(table) => Ok(table),
            Body::View(_) => Err(Error::BadRequest("the metadata file describes a view, not a table".into())),
        }
    }

    /// The view it describes.
    pub(crate) fn view(&self) -> Result<&ViewMetadata, Error> {
        match &self.body {
            Body::View(view) => Ok(view),
            Body::Table(_) => {
                Err(Error::BadRequest("the metadata file describes a table, not a view".into()))
            }
        }
    }
}

/// A document split into parts.
pub(crate) struct Split {
    /// The root.
    pub(crate) root: PartId,
    /// Ids of all parts, sorted.
    pub(crate) parts: Box<[PartId]>,
    /// Those that the base does not have.
    pub(crate) objects: Vec<NewObject>,
}

/// Splits a document; parts that `base` has are not repeated among the objects.
pub(crate) fn split(json: &[u8], base: Option<&Document>) -> Result<Split, Error> {
    let known = base.map_or(&[][..], |base| &base.parts[..]);
    let (mut ids, mut objects) = (Vec::new(), Vec::new());
    let mut put = |bytes: Vec<u8>| {
        let id = ObjectId::of(ObjectKind::MetadataPart, &bytes);
        ids.push(*id.as_bytes());
        if known.binary_search(id.as_bytes()).is_err() {
            objects.push(NewObject { kind: ObjectKind::MetadataPart, id, bytes: bytes.into() });
        }
        *id.as_bytes()
    };
    let root = parts::split_json(json, &mut put).map_err(|error| Error::Internal(error.into()))?;
    ids.sort_unstable();
    ids.dedup();
    Ok(Split { root, parts: ids.into(), objects })
}

/// The derived row of a document.
pub(crate) fn row(location: &str, root: &PartId) -> DerivedWrite {
    DerivedWrite {
        space: DerivedSpace::Document,
        key: Bytes::copy_from_slice(location.as_bytes()),
        value: Some(Bytes::copy_from_slice(root)),
    }
}

#[derive(Debug, Clone)]
pub(super) struct ByParsedBytes;

impl Weighter<String, Arc<Document>> for ByParsedBytes {
    fn weight(&self, location: &String, document: &Arc<Document>) -> u64 {
        document.json_bytes * PARSED_FACTOR + (document.parts.len() * 32 + location.len() + 512) as u64
    }
}

#[derive(Debug, Clone)]
pub(super) struct ByBytes;

impl Weighter<[u8; 32], Bytes> for ByBytes {
    fn weight(&self, _: &[u8; 32], bytes: &Bytes) -> u64 {
        bytes.len() as u64 + 128
    }
}

/// What is kept in memory about tables and views, within a bound of bytes, and the lines of their writers.
#[derive(Debug)]
pub struct Documents {
    pub(super) parsed: Cache<String, Arc<Document>, ByParsedBytes>,
    pub(super) rendered: Cache<[u8; 32], Bytes, ByBytes>,
    pub(super) last_changes: Cache<[u8; 32], CommitId>,
    pub(super) lines: Lines,
}

impl Documents {
    /// Caches that take about `cache_bytes`, half for parsed documents and half for ready answers.
    #[must_use]
    pub fn new(cache_bytes: u64) -> Self {
        Self {
            parsed: Cache::with_weighter(DOCUMENTS_EXPECTED, cache_bytes / 2, ByParsedBytes),
            rendered: Cache::with_weighter(DOCUMENTS_EXPECTED, cache_bytes / 2, ByBytes),
            last_changes: Cache::new(LAST_CHANGES_MAX),
            lines: Lines::default(),
        }
    }
}

impl Iceberg<'_> {
    /// The document stored at a location.
    ///
    /// Errors: 400 for a location in no warehouse or a file that is no such document, [`Error::MetadataMissing`] for one that
    /// is gone and was never kept.
    pub(crate) async fn document(&self, location: &str, kind: Kind) -> Result<Arc<Document>, Error> {
        let document =
            self.documents().parsed.get_or_insert_async(location, self.fetch(location, kind)).await?;
        match kind {
            Kind::Table => drop(document.table()?),
            Kind::View => drop(document.view()?),
        }
        Ok(document)
    }

    async fn fetch(&self, location: &str, kind: Kind) -> Result<Arc<Document>, Error> {
        let (at, warehouse) = self.allowed_location(location)?;
        if let Some((json, parts)) = kept::read(self.engine().store(), location).await? {
            // A disk that cannot be written still lets tables be read.
            if let Err(error) = restore(&warehouse, &at, &json).await {
                tracing::warn!(location, %error, "a metadata file could not be looked after");
            }
            return Ok(Arc::new(Document {
                body: parse(&json, kind)?,
                json_bytes: json.len() as u64,
                parts,
            }));
        }
        let file = warehouse.read(&at).await?.ok_or_else(|| Error::MetadataMissing(location.to_owned()))?;
        let json =
            if is_gzip_name(location) || bytes::is_gzip(&file) { bytes::gunzip(file).await? } else { file };
        let body = parse(&json, kind)?;
        let split = split(&json, None)?;
        let change =
            Change { objects: split.objects, derived: vec![row(location, &split.root)], ..Change::default() };
        let kept = self.engine().store().commit(Batch { changes: vec![change] }).await;
        // A store that takes no writes still lets tables be read.
        let parts = match kept {
            Ok(_) => split.parts,
            Err(error) => {
                tracing::warn!(location, %error, "a metadata document could not be kept");
                Box::default()
            }
        };
        Ok(Arc::new(Document { body, json_bytes: json.len() as u64, parts }))
    }
}

fn parse(json: &[u8], kind: Kind) -> Result<Body, Error> {
    Ok(match kind {
        Kind::Table => Body::Table(Box::new(TableMetadata::parse(json)?)),
        Kind::View => Body::View(ViewMetadata::parse(json)?),
    })
}

/// On disk, where a power cut may have taken a file, writes it again if it is missing or shorter than what is kept.
async fn restore(warehouse: &Warehouse, at: &Location, json: &[u8]) -> Result<(), Error> {
    if !at.is_file() {
        return Ok(());
    }
    let gzip = is_gzip_name(at.as_str());
    let is_whole = |size: u64| size > 0 && (gzip || size >= json.len() as u64);
    if warehouse.size(at).await?.is_some_and(is_whole) {
        return Ok(());
    }
    tracing::warn!(
        location = at.as_str(),
        "a metadata file is missing or short; it is written again from the store"
    );
    let bytes = if gzip { bytes::gzip(json)? } else { Bytes::copy_from_slice(json) };
    Ok(warehouse.write(at, bytes).await?)
}

//! What use cases answer.

use std::collections::BTreeMap;

use bytes::Bytes;

/// Settings for a client, by name.
pub type Config = BTreeMap<String, String>;

/// A table as clients see it.
#[derive(Debug, Clone)]
pub struct TableAnswer {
    /// Where the metadata file lies; `None` for a staged create.
    pub metadata_location: Option<String>,
    /// The metadata document with the derived properties, JSON.
    pub metadata: Bytes,
    /// How to reach the files.
    pub config: Config,
    /// The entity tag with its quotes; `None` for a staged create.
    pub etag: Option<String>,
}

/// The outcome of a load.
#[derive(Debug, Clone)]
pub enum TableLoaded {
    /// The client has this state already; its tag.
    Unchanged(String),
    /// The table.
    Table(TableAnswer),
}

/// A view as clients see it.
#[derive(Debug, Clone)]
pub struct ViewAnswer {
    /// Where the metadata file lies.
    pub metadata_location: String,
    /// The metadata document, JSON.
    pub metadata: Bytes,
}

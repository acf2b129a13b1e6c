//! Contents: what a key can hold.

use std::collections::BTreeMap;

use crate::encoding::{DecodeError, Reader, Writer};

/// Format version of encoded contents.
const FORMAT: u8 = 1;

/// Type of a content. The byte is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContentType {
    /// An Iceberg table.
    IcebergTable,
    /// An Iceberg view.
    IcebergView,
    /// A namespace.
    Namespace,
    /// A Delta Lake table.
    DeltaLakeTable,
    /// A user-defined function.
    Udf,
    /// A value of the system map. Never shown on the wire.
    System,
}

impl ContentType {
    /// The byte on disk.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::System => 0,
            Self::IcebergTable => 1,
            Self::IcebergView => 2,
            Self::Namespace => 3,
            Self::DeltaLakeTable => 4,
            Self::Udf => 5,
        }
    }

    /// The type of a byte.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::System),
            1 => Some(Self::IcebergTable),
            2 => Some(Self::IcebergView),
            3 => Some(Self::Namespace),
            4 => Some(Self::DeltaLakeTable),
            5 => Some(Self::Udf),
            _ => None,
        }
    }
}

/// What a key holds, without its content id (Nessie API, 4.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// An Iceberg table.
    IcebergTable {
        /// Location of the metadata file.
        metadata_location: String,
        /// Current snapshot, -1 for none.
        snapshot_id: i64,
        /// Current schema.
        schema_id: i32,
        /// Default partition spec.
        spec_id: i32,
        /// Default sort order.
        sort_order_id: i32,
    },
    /// An Iceberg view.
    IcebergView {
        /// Location of the metadata file.
        metadata_location: String,
        /// Current version.
        version_id: i64,
        /// Current schema.
        schema_id: i32,
        /// Deprecated, kept as sent.
        sql_text: Option<String>,
        /// Deprecated, kept as sent.
        dialect: Option<String>,
    },
    /// A namespace.
    Namespace {
        /// Its elements; clients make them equal to the key's.
        elements: Vec<String>,
        /// Its properties.
        properties: BTreeMap<String, String>,
    },
    /// A Delta Lake table.
    DeltaLakeTable {
        /// Metadata files, in order.
        metadata_location_history: Vec<String>,
        /// Checkpoint files, in order.
        checkpoint_location_history: Vec<String>,
        /// Last checkpoint.
        last_checkpoint: Option<String>,
    },
    /// A user-defined function; every field as sent.
    Udf {
        /// Location of the metadata file.
        metadata_location: Option<String>,
        /// Version, a text on the wire.
        version_id: Option<String>,
        /// Signature.
        signature_id: Option<String>,
        /// Deprecated, kept as sent.
        sql_text: Option<String>,
        /// Deprecated, kept as sent.
        dialect: Option<String>,
    },
    /// Canonical JSON of a system value.
    System(Vec<u8>),
}

impl Content {
    /// The type.
    #[must_use]
    pub const fn content_type(&self) -> ContentType {
        match self {
            Self::IcebergTable { .. } => ContentType::IcebergTable,
            Self::IcebergView { .. } => ContentType::IcebergView,
            Self::Namespace { .. } => ContentType::Namespace,
            Self::DeltaLakeTable { .. } => ContentType::DeltaLakeTable,
            Self::Udf { .. } => ContentType::Udf,
            Self::System(_) => ContentType::System,
        }
    }

    /// The location of the metadata document of a table or view.
    #[must_use]
    pub fn metadata_location(&self) -> Option<&str> {
        match self {
            Self::IcebergTable { metadata_location, .. } | Self::IcebergView { metadata_location, .. } => {
                Some(metadata_location)
            }
            _ => None,
        }
    }

    /// The canonical bytes, without type and content id.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer::with_capacity(192);
        w.u8(FORMAT);
        match self {
            Self::IcebergTable { metadata_location, snapshot_id, schema_id, spec_id, sort_order_id } => {
                w.text(metadata_location);
                w.signed(*snapshot_id);
                w.signed(i64::from(*schema_id));
                w.signed(i64::from(*spec_id));
                w.signed(i64::from(*sort_order_id));
            }
            Self::IcebergView { metadata_location, version_id, schema_id, sql_text, dialect } => {
                w.text(metadata_location);
                w.signed(*version_id);
                w.signed(i64::from(*schema_id));
                w.optional_text(sql_text.as_deref());
                w.optional_text(dialect.as_deref());
            }
            Self::Namespace { elements, properties } => {
                texts(&mut w, elements);
                w.varint(properties.len() as u64);
                for (name, value) in properties {
                    w.text(name);
                    w.text(value);
                }
            }
            Self::DeltaLakeTable {
                metadata_location_history,
                checkpoint_location_history,
                last_checkpoint,
            } => {
                texts(&mut w, metadata_location_history);
                texts(&mut w, checkpoint_location_history);
                w.optional_text(last_checkpoint.as_deref());
            }
            Self::Udf { metadata_location, version_id, signature_id, sql_text, dialect } => {
                for field in [metadata_location, version_id, signature_id, sql_text, dialect] {
                    w.optional_text(field.as_deref());
                }
            }
            Self::System(json) => w.raw(json),
        }
        w.finish()
    }

    /// Reads the canonical bytes of a content of `content_type`.
    pub fn decode(content_type: ContentType, bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let found = r.u8("content format")?;
        if found != FORMAT {
            return Err(DecodeError::Version { what: "content", found });
        }
        let small = |value: i64| i32::try_from(value).map_err(|_| DecodeError::Invalid("content number"));
        let content = match content_type {
            ContentType::IcebergTable => Self::IcebergTable {
                metadata_location: r.text("metadata location")?.to_owned(),
                snapshot_id: r.signed("snapshot id")?,
                schema_id: small(r.signed("schema id")?)?,
                spec_id: small(r.signed("spec id")?)?,
                sort_order_id: small(r.signed("sort order id")?)?,
            },
            ContentType::IcebergView => Self::IcebergView {
                metadata_location: r.text("metadata location")?.to_owned(),
                version_id: r.signed("version id")?,
                schema_id: small(r.signed("schema id")?)?,
                sql_text: r.optional_text("sql text")?.map(str::to_owned),
                dialect: r.optional_text("dialect")?.map(str::to_owned),
            },
            ContentType::Namespace => {
                let elements = read_texts(&mut r)?;
                let mut properties = BTreeMap::new();
                for _ in 0..r.count("properties")? {
                    let name = r.text("property name")?.to_owned();
                    let value = r.text("property value")?.to_owned();
                    if properties.last_key_value().is_some_and(|(last, _)| *last >= name) {
                        return Err(DecodeError::Invalid("order of properties"));
                    }
                    properties.insert(name, value);
                }
                Self::Namespace { elements, properties }
            }
            ContentType::DeltaLakeTable => Self::DeltaLakeTable {
                metadata_location_history: read_texts(&mut r)?,
                checkpoint_location_history: read_texts(&mut r)?,
                last_checkpoint: r.optional_text("last checkpoint")?.map(str::to_owned),
            },
            ContentType::Udf => {
                let mut field = || r.optional_text("function field").map(|text| text.map(str::to_owned));
                Self::Udf {
                    metadata_location: field()?,
                    version_id: field()?,
                    signature_id: field()?,
                    sql_text: field()?,
                    dialect: field()?,
                }
            }
            ContentType::System => return Ok(Self::System(r.rest().to_vec())),
        };
        r.end()?;
        Ok(content)
    }
}

fn texts(w: &mut Writer, texts: &[String]) {
    w.varint(texts.len() as u64);
    for text in texts {
        w.text(text);
    }
}

fn read_texts(r: &mut Reader<'_>) -> Result<Vec<String>, DecodeError> {
    (0..r.count("texts")?).map(|_| r.text("text").map(str::to_owned)).collect()
}

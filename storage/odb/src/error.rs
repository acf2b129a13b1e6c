//! What can go wrong in a store.

use lochan_storage_model::{DecodeError, ObjectId};

/// Errors of a store. Variants are what a caller does differently.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Stored bytes do not hash to their id, or a row cannot be read. Never answered as data.
    #[error("{what} is damaged: {detail}")]
    Corrupt {
        /// Which object, reference, record or row.
        what: String,
        /// What is wrong with it.
        detail: String,
    },
    /// Writes are refused since an earlier failure; nothing of this batch was applied. Reads go on.
    #[error("writes are refused: {0}")]
    WritesRefused(String),
    /// There is no room; nothing of this batch was applied.
    #[error("no space left: {0}")]
    Full(String),
    /// The write may or may not have been applied. The store refuses further writes.
    #[error("the outcome of the write is unknown: {0}")]
    Unknown(String),
    /// Something exceeds a bound of the store; nothing of this batch was applied.
    #[error("{what} of {size} bytes exceeds the limit of {limit} bytes")]
    TooLarge {
        /// What.
        what: &'static str,
        /// Its size.
        size: usize,
        /// The bound.
        limit: usize,
    },
    /// The store cannot be opened.
    #[error("cannot open the store: {0}")]
    Open(String),
    /// A read failed in the backend.
    #[error("the store failed to read: {0}")]
    Read(String),
}

impl StoreError {
    /// Whether something stored cannot be read, while all else may be.
    #[must_use]
    pub const fn is_damage(&self) -> bool {
        matches!(self, Self::Corrupt { .. } | Self::Read(_))
    }

    /// An object whose bytes are not what was put.
    #[must_use]
    pub fn corrupt_object(id: ObjectId, detail: impl Into<String>) -> Self {
        Self::Corrupt { what: format!("object {id}"), detail: detail.into() }
    }

    /// A value of `what` that cannot be decoded.
    #[must_use]
    pub fn undecodable(what: impl Into<String>, error: &DecodeError) -> Self {
        Self::Corrupt { what: what.into(), detail: error.to_string() }
    }
}

/// Something that a backend finds wrong with what it keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Which rows, or which place in which file.
    pub what: String,
    /// What is wrong there.
    pub detail: String,
}

impl From<Damage> for StoreError {
    fn from(Damage { what, detail }: Damage) -> Self {
        Self::Corrupt { what, detail }
    }
}

impl From<StoreError> for Damage {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Corrupt { what, detail } => Self { what, detail },
            other => Self { what: "the store".into(), detail: other.to_string() },
        }
    }
}

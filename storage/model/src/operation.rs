//! What a commit did to its parent's index.

use crate::{
    encoding::{DecodeError, Reader, Writer},
    entry::Entry,
    key::IndexKey,
};

/// A key and the entry put there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Put {
    /// Where.
    pub key: IndexKey,
    /// What.
    pub entry: Entry,
}

/// One operation of a commit, in either domain. A commit holds at most one per key, in key order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// The key holds this entry from now on.
    Put(Put),
    /// The key holds nothing from now on.
    Delete(IndexKey),
}

impl Operation {
    /// The key.
    #[must_use]
    pub const fn key(&self) -> &IndexKey {
        match self {
            Self::Put(put) => &put.key,
            Self::Delete(key) => key,
        }
    }

    /// The entry after the operation.
    #[must_use]
    pub const fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Put(put) => Some(&put.entry),
            Self::Delete(_) => None,
        }
    }

    pub(crate) fn write(&self, w: &mut Writer) {
        match self {
            Self::Put(put) => {
                w.u8(1);
                w.bytes(put.key.as_bytes());
                put.entry.write(w);
            }
            Self::Delete(key) => {
                w.u8(2);
                w.bytes(key.as_bytes());
            }
        }
    }

    pub(crate) fn read(r: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let form = r.u8("operation")?;
        let key = IndexKey::from_bytes(r.bytes("operation key")?);
        match form {
            1 => Ok(Self::Put(Put { key, entry: Entry::read(r)? })),
            2 => Ok(Self::Delete(key)),
            _ => Err(DecodeError::Invalid("operation")),
        }
    }
}

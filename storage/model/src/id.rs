//! Ids: 32-byte BLAKE3 hashes of objects, and the random ids of contents.

use std::{cell::RefCell, fmt, str::FromStr};

use crate::kind::ObjectKind;

/// From this length on BLAKE3 can hash several parts side by side, in bytes.
const BLOCKS_BYTES: usize = 1024;
/// Longest input copied behind its kind, so that it is hashed in one go, in bytes. The hasher takes the parts of an input that
/// begins with a single byte one after the other, not side by side.
const AT_ONCE_BYTES_MAX: usize = 32 * 1024;

thread_local! {
    /// Room for kind and bytes, used again and again.
    static AT_ONCE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Address of an object: BLAKE3-256 of its one-byte kind followed by its canonical bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId([u8; 32]);

impl ObjectId {
    /// The id of `bytes` stored as `kind`.
    #[must_use]
    pub fn of(kind: ObjectKind, bytes: &[u8]) -> Self {
        if bytes.len() < BLOCKS_BYTES || bytes.len() > AT_ONCE_BYTES_MAX {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&[kind.byte()]);
            hasher.update(bytes);
            return Self(*hasher.finalize().as_bytes());
        }
        AT_ONCE.with_borrow_mut(|all| {
            all.clear();
            all.push(kind.byte());
            all.extend_from_slice(bytes);
            Self(*blake3::hash(all).as_bytes())
        })
    }

    /// An id from its raw bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The raw bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [0u8; 64];
        // Cannot fail: the buffer is exactly twice the id.
        if hex::encode_to_slice(self.0, &mut text).is_err() {
            return Err(fmt::Error);
        }
        f.pad(std::str::from_utf8(&text).map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no id of 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not an id of 64 hexadecimal digits")]
pub struct IdError(pub String);

impl FromStr for ObjectId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let mut bytes = [0u8; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| IdError(text.chars().take(80).collect()))?;
        Ok(Self(bytes))
    }
}

/// Id of a commit. [`CommitId::NO_ANCESTOR`] names the empty state before the first commit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(ObjectId);

impl CommitId {
    /// The empty state: SHA-256 of the ASCII text `empty` (Nessie API, 2.2). Never stored; always readable.
    pub const NO_ANCESTOR: Self = Self(ObjectId([
        0x2e, 0x1c, 0xfa, 0x82, 0xb0, 0x35, 0xc2, 0x6c, 0xbb, 0xbd, 0xae, 0x63, 0x2c, 0xea, 0x07, 0x05, 0x14,
        0xeb, 0x8b, 0x77, 0x3f, 0x61, 0x6a, 0xae, 0xaf, 0x66, 0x8e, 0x2f, 0x0b, 0xe8, 0xf1, 0x0d,
    ]));

    /// Wraps the id of a commit object.
    #[must_use]
    pub const fn new(id: ObjectId) -> Self {
        Self(id)
    }

    /// The id as an object id.
    #[must_use]
    pub const fn object(self) -> ObjectId {
        self.0
    }

    /// The raw bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// Whether this is the empty state.
    #[must_use]
    pub fn is_no_ancestor(self) -> bool {
        self == Self::NO_ANCESTOR
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for CommitId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        text.parse().map(Self)
    }
}

/// Id of a content: a UUID that stays with a table, view or namespace through updates and renames.
/// All zeros means "none" (entries of the system domain).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentId([u8; 16]);

impl ContentId {
    /// No content id.
    pub const NONE: Self = Self([0; 16]);

    /// An id from its 16 bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The raw bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        uuid::Uuid::from_bytes(self.0).hyphenated().fmt(f)
    }
}

impl fmt::Debug for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ContentId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, uuid::Error> {
        uuid::Uuid::parse_str(text).map(|id| Self(id.into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_hash_of_kind_and_bytes_whatever_their_length() {
        let lengths = [0, 1, 64, 1023, 1024, 1025, 4096, AT_ONCE_BYTES_MAX - 1, AT_ONCE_BYTES_MAX, 100_000];
        for length in lengths {
            let bytes: Vec<u8> = (0..length).map(|n| n as u8).collect();
            let whole = [&[ObjectKind::Value.byte()], bytes.as_slice()].concat();
            assert_eq!(ObjectId::of(ObjectKind::Value, &bytes).as_bytes(), blake3::hash(&whole).as_bytes());
        }
    }
}

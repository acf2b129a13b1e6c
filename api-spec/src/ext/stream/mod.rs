#![doc = include_str!("FORMAT.md")]

mod line;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

use std::fmt;

pub use line::{
    Attachment, CommitLine, Control, End, Header, Item, OperationLine, PartEnd, PartStart, ReferenceLine,
    SourceKind,
};
pub use reader::{Event, Reader, StreamError};
pub use writer::{Progress, TooLarge, Writer};

/// The format's name, in every header.
pub const FORMAT: &str = "lochan-repository";
/// The format's version, in every header.
pub const VERSION: u32 = 1;
/// The media type of a stream.
pub const MEDIA_TYPE: &str = "application/x-ndjson";
/// Longest line, in bytes, its end included.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Longest part, in bytes, from its `part` line to its `partEnd` line, both included.
pub const PART_BYTES_MAX: usize = 64 * 1024 * 1024;
/// A writer ends a part behind the first commit, reference or log entry that takes it to this size, in bytes.
pub const PART_BYTES_WANTED: usize = 1024 * 1024;
/// Most operations of one line.
pub const LINE_OPERATIONS_MAX: usize = 1_000;

/// A body that is a stream of lines: [`MEDIA_TYPE`], read with [`Reader`] and written with [`Writer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream;

/// A BLAKE3-256 checksum, 64 hexadecimal digits on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Checksum([u8; 32]);

impl Checksum {
    /// The checksum of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// A checksum from its 32 bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Reads 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).ok()?;
        Some(Self(bytes))
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl serde::Serialize for Checksum {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Checksum {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("a checksum has 64 hexadecimal digits"))
    }
}

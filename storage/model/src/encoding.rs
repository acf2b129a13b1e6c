//! Canonical bytes: one way to write each value, one way to read it back.
//!
//! Integers are LEB128 varints unless drawn as fixed big-endian; text is UTF-8 with its length in front. A reader
//! refuses what a writer would not have produced (trailing bytes, over-long varints), so that bytes and value are one.

use crate::id::{CommitId, ContentId, ObjectId};

/// Why bytes are no valid value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end inside a field.
    #[error("ends inside {0}")]
    Short(&'static str),
    /// Bytes are left over behind the last field.
    #[error("{0} bytes are left over")]
    Trailing(usize),
    /// A format version that this program does not know.
    #[error("format version {found} of {what} is newer than this program reads")]
    Version {
        /// What was read.
        what: &'static str,
        /// The version found.
        found: u8,
    },
    /// A field holds a value that is never written.
    #[error("{0} is invalid")]
    Invalid(&'static str),
}

/// Writes canonical bytes.
#[derive(Debug, Default)]
pub struct Writer {
    out: Vec<u8>,
}

impl Writer {
    /// A writer with room for `capacity` bytes.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { out: Vec::with_capacity(capacity) }
    }

    /// What was written.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.out
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) {
        self.out.push(value);
    }

    /// A LEB128 varint.
    pub fn varint(&mut self, mut value: u64) {
        loop {
            let byte = (value & 0x7f) as u8;
            value >>= 7;
            if value == 0 {
                self.out.push(byte);
                return;
            }
            self.out.push(byte | 0x80);
        }
    }

    /// A signed number, zigzag then varint.
    pub fn signed(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)) as u64);
    }

    /// Bytes as they are; the reader must know their number.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// Bytes with their number in front.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() as u64);
        self.raw(bytes);
    }

    /// Text as UTF-8 with its number of bytes in front.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// A flag byte, then the text if there is one.
    pub fn optional_text(&mut self, text: Option<&str>) {
        match text {
            None => self.u8(0),
            Some(text) => {
                self.u8(1);
                self.text(text);
            }
        }
    }
}

/// Reads canonical bytes.
#[derive(Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Bytes not read yet.
    #[must_use]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Succeeds at the end of the bytes.
    pub fn end(&self) -> Result<(), DecodeError> {
        if self.rest.is_empty() { Ok(()) } else { Err(DecodeError::Trailing(self.rest.len())) }
    }

    /// The next `count` bytes.
    pub fn raw(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(DecodeError::Short(what))?;
        self.rest = rest;
        Ok(taken)
    }

    /// The next bytes as an array.
    pub fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], DecodeError> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(DecodeError::Short(what))?;
        self.rest = rest;
        Ok(*taken)
    }

    /// One byte.
    pub fn u8(&mut self, what: &'static str) -> Result<u8, DecodeError> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    /// A LEB128 varint in its shortest form.
    pub fn varint(&mut self, what: &'static str) -> Result<u64, DecodeError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8(what)?;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                return Err(DecodeError::Invalid(what));
            }
            value |= part << shift;
            if byte & 0x80 == 0 {
                return if byte == 0 && shift > 0 { Err(DecodeError::Invalid(what)) } else { Ok(value) };
            }
        }
        Err(DecodeError::Invalid(what))
    }

    /// A signed number.
    pub fn signed(&mut self, what: &'static str) -> Result<i64, DecodeError> {
        let value = self.varint(what)?;
        Ok(((value >> 1) as i64) ^ -((value & 1) as i64))
    }

    /// A count of things of at least one byte each: never more than bytes are left, so that it may be allocated.
    pub fn count(&mut self, what: &'static str) -> Result<usize, DecodeError> {
        let count = usize::try_from(self.varint(what)?).map_err(|_| DecodeError::Invalid(what))?;
        if count > self.rest.len() { Err(DecodeError::Short(what)) } else { Ok(count) }
    }

    /// Bytes with their number in front.
    pub fn bytes(&mut self, what: &'static str) -> Result<&'a [u8], DecodeError> {
        let count = self.count(what)?;
        self.raw(count, what)
    }

    /// Text with its number of bytes in front.
    pub fn text(&mut self, what: &'static str) -> Result<&'a str, DecodeError> {
        std::str::from_utf8(self.bytes(what)?).map_err(|_| DecodeError::Invalid(what))
    }

    /// A flag byte, then text if it is 1.
    pub fn optional_text(&mut self, what: &'static str) -> Result<Option<&'a str>, DecodeError> {
        match self.u8(what)? {
            0 => Ok(None),
            1 => self.text(what).map(Some),
            _ => Err(DecodeError::Invalid(what)),
        }
    }

    /// An object id.
    pub fn object_id(&mut self, what: &'static str) -> Result<ObjectId, DecodeError> {
        self.array(what).map(ObjectId::from_bytes)
    }

    /// A commit id.
    pub fn commit_id(&mut self, what: &'static str) -> Result<CommitId, DecodeError> {
        self.object_id(what).map(CommitId::new)
    }

    /// A content id.
    pub fn content_id(&mut self, what: &'static str) -> Result<ContentId, DecodeError> {
        self.array(what).map(ContentId::from_bytes)
    }
}

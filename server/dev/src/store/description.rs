//! What is known of an object beside its bytes, and how it follows them in a file.
//!
//! ```text
//! bytes of the object        size_bytes
//! description, JSON          length
//! length                     4 bytes, little endian
//! "LOCHANS3"                 8 bytes
//! ```
//!
//! The description comes last because it is known last: an ETag is the hash of what was received.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use s3s::dto::Timestamp;
use serde::{Deserialize, Serialize};

const MAGIC: [u8; 8] = *b"LOCHANS3";
/// Length and magic, in bytes.
const TAIL_BYTES: u64 = 12;
/// Longest description, in bytes: a key, headers, and 10,000 part sizes.
const DESCRIPTION_BYTES_MAX: u32 = 1024 * 1024;

/// An object, part or upload without its bytes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Description {
    /// The key; of a part, that of its upload.
    pub(crate) key: String,
    pub(crate) size_bytes: u64,
    /// Without quotes: MD5 in hexadecimal, or MD5 of the parts' MD5s and `-` and their number.
    pub(crate) etag: String,
    /// Microseconds since 1970.
    pub(crate) modified_us: u64,
    #[serde(default)]
    pub(crate) attributes: Attributes,
    #[serde(default)]
    pub(crate) checksums: Checksums,
    /// Of an object made from parts, their sizes in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) part_sizes_bytes: Vec<u64>,
}

/// Headers that come back as they were sent.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Attributes {
    pub(crate) content_type: Option<String>,
    pub(crate) content_encoding: Option<String>,
    pub(crate) content_disposition: Option<String>,
    pub(crate) content_language: Option<String>,
    pub(crate) cache_control: Option<String>,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) website_redirect_location: Option<String>,
    /// `x-amz-meta-*` without the prefix.
    pub(crate) metadata: BTreeMap<String, String>,
}

/// Checksums that the client sent and that were found right, in base64.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Checksums {
    pub(crate) crc32: Option<String>,
    pub(crate) crc32c: Option<String>,
    pub(crate) crc64nvme: Option<String>,
    pub(crate) sha1: Option<String>,
    pub(crate) sha256: Option<String>,
}

impl Description {
    pub(crate) fn modified(&self) -> Timestamp {
        timestamp(self.modified_us)
    }

    /// Appends the description to a file that holds the bytes.
    pub(super) fn append_to(&self, file: &mut File) -> io::Result<()> {
        let mut tail = serde_json::to_vec(self)?;
        let length = u32::try_from(tail.len()).unwrap_or(u32::MAX);
        if length > DESCRIPTION_BYTES_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the description is too long"));
        }
        tail.extend_from_slice(&length.to_le_bytes());
        tail.extend_from_slice(&MAGIC);
        file.write_all(&tail)
    }

    /// Reads the description at the end of a file; `InvalidData` if it is not one of ours, or cut short.
    pub(super) fn read_from(file: &mut File) -> io::Result<Description> {
        let file_bytes = file.metadata()?.len();
        let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what);
        let tail_at = file_bytes.checked_sub(TAIL_BYTES).ok_or_else(|| bad("the file is too short"))?;
        file.seek(SeekFrom::Start(tail_at))?;
        let (mut length, mut magic) = ([0; 4], [0; 8]);
        file.read_exact(&mut length)?;
        file.read_exact(&mut magic)?;
        let length = u32::from_le_bytes(length);
        if magic != MAGIC || length > DESCRIPTION_BYTES_MAX {
            return Err(bad("the file does not end in a description"));
        }
        let at = tail_at.checked_sub(length.into()).ok_or_else(|| bad("the description is cut off"))?;
        file.seek(SeekFrom::Start(at))?;
        let mut json = vec![0; length as usize];
        file.read_exact(&mut json)?;
        let description: Description = serde_json::from_slice(&json)?;
        match description.size_bytes == at {
            true => Ok(description),
            false => Err(bad("the file holds more or fewer bytes than it says")),
        }
    }
}

/// Now, in microseconds since 1970.
pub(crate) fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// The instant that clients see. HTTP dates have whole seconds, and conditions compare those.
pub(super) fn timestamp(us: u64) -> Timestamp {
    Timestamp::from(UNIX_EPOCH + Duration::from_millis(us / 1_000))
}

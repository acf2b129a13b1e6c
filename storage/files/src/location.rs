//! Locations: the one place where text becomes something we may read, write or hand out.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

use percent_encoding::percent_decode_str;

use crate::error::Error;

/// Longest text of a location, in bytes.
pub const LOCATION_BYTES_MAX: usize = 4_096;
/// Longest key of an object in a bucket, in bytes; the limit of S3 itself.
pub const S3_KEY_BYTES_MAX: usize = 1_024;
/// Longest name of a file or folder, in bytes; the limit of the usual file systems.
pub const FILE_SEGMENT_BYTES_MAX: usize = 255;
/// How often a name is percent-decoded in search of a hidden separator.
pub const DECODE_ROUNDS_MAX: usize = 4;

/// Longest bucket name, in bytes; today's rule of AWS is 63, old buckets may be longer.
const BUCKET_BYTES_MAX: usize = 255;
/// Shortest bucket name, in bytes.
const BUCKET_BYTES_MIN: usize = 3;

/// A place in a warehouse: a folder or file (`file:`), or a prefix or object in a bucket (`s3:`).
///
/// Accepted forms are `file:/x`, `file:///x`, a plain absolute path, and `s3://`, `s3a://`, `s3n://`
/// with a bucket. Text after the scheme is taken literally, never percent-decoded, because that is
/// how the clients read it: `a b`, `ü` and `a%20b` are three names, the same on S3 and on disk.
///
/// Two texts for the same place are equal ([`PartialEq`], [`Ord`] and [`Hash`] look at the canonical
/// form); [`Location::as_str`] still returns what the client wrote, which is what must be stored.
#[derive(Clone)]
pub struct Location {
    text: String,
    canonical: String,
    bucket: Option<String>,
    /// Segments joined by `/`, no slash at either end. Empty only for the root of a bucket.
    key: String,
}

impl Location {
    /// Validates a location and computes its canonical form.
    ///
    /// Refused, each with its reason: other schemes, relative paths, hosts, users and ports, a missing
    /// or malformed bucket, queries and fragments, control characters and backslashes, `.` and `..`
    /// segments, segments that would decode to one of these or to a separator, empty segments on S3
    /// (where `a//b` is another object than `a/b`; on `file:` they are the same and are merged), the
    /// root folder, and texts over [`LOCATION_BYTES_MAX`], [`S3_KEY_BYTES_MAX`] or
    /// [`FILE_SEGMENT_BYTES_MAX`]. One trailing slash is allowed and means nothing.
    ///
    /// Symbolic links are not looked at: whoever may create one below a warehouse already owns its disk.
    pub fn parse(text: &str) -> Result<Location, Error> {
        let refuse = |reason: &str| Err(Error::invalid(shown(text), reason));
        if text.is_empty() {
            return refuse("is empty");
        }
        if text.len() > LOCATION_BYTES_MAX {
            return refuse(&format!("is longer than {LOCATION_BYTES_MAX} bytes"));
        }
        if text.chars().any(char::is_control) {
            return refuse("contains a control character");
        }
        if text.contains('\\') {
            return refuse("contains a backslash");
        }
        if text.contains(['?', '#']) {
            return refuse("contains a query or fragment");
        }
        let (bucket, path) = match split(text) {
            Ok(parts) => parts,
            Err(reason) => return refuse(&reason),
        };
        let key = match segments(path, bucket.is_some()) {
            Ok(key) => key,
            Err(reason) => return refuse(&reason),
        };
        let canonical = match bucket {
            None if key.is_empty() => return refuse("names the root folder"),
            None => format!("file:///{key}"),
            Some(_) if key.len() > S3_KEY_BYTES_MAX => {
                return refuse(&format!("has a key longer than {S3_KEY_BYTES_MAX} bytes"));
            }
            Some(bucket) if key.is_empty() => format!("s3://{bucket}"),
            Some(bucket) => format!("s3://{bucket}/{key}"),
        };
        Ok(Location { text: text.to_owned(), canonical, bucket: bucket.map(str::to_owned), key })
    }

    /// The text as the client wrote it: what is stored and handed back.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The canonical form, `file:///…` or `s3://…`, without a trailing slash: what is compared.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// The bucket of an S3 location; `None` on `file:`.
    pub fn bucket(&self) -> Option<&str> {
        self.bucket.as_deref()
    }

    /// Whether this is a place on disk.
    pub fn is_file(&self) -> bool {
        self.bucket.is_none()
    }

    /// The key in the bucket, or the path without its leading slash. Empty for a whole bucket.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The last segment, `None` for a whole bucket.
    pub fn file_name(&self) -> Option<&str> {
        self.key.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// Whether `other` is this place or lies below it. Whole segments count: `orders` does not
    /// contain `orders2`.
    pub fn contains(&self, other: &Location) -> bool {
        match other.canonical.strip_prefix(&self.canonical) {
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }

    /// The place `relative` (one segment, or several joined by `/`) below this one, written in the
    /// style of this location. The result is validated as a whole.
    pub fn join(&self, relative: &str) -> Result<Location, Error> {
        if relative.is_empty() || relative.starts_with('/') || relative.ends_with('/') {
            return Err(Error::invalid(shown(relative), "is not a relative name"));
        }
        Location::parse(&format!("{}/{relative}", self.text.trim_end_matches('/')))
    }

    /// The path on disk; `None` on S3.
    pub(crate) fn file_path(&self) -> Option<PathBuf> {
        self.is_file().then(|| PathBuf::from(format!("/{}", self.key)))
    }

    /// The same place written in its canonical form.
    pub(crate) fn in_canonical_text(mut self) -> Location {
        self.text.clone_from(&self.canonical);
        self
    }
}

/// Splits a text into its bucket (none on `file:`) and the path after it, which begins with `/` or is
/// empty. The error is the reason.
fn split(text: &str) -> Result<(Option<&str>, &str), String> {
    if text.starts_with('/') {
        return Ok((None, text));
    }
    let Some((scheme, rest)) = text.split_once(':') else {
        return Err("is neither a URI nor an absolute path".to_owned());
    };
    let authority = rest.strip_prefix("//").map(|after| match after.find('/') {
        Some(slash) => after.split_at(slash),
        None => (after, ""),
    });
    match (scheme.to_ascii_lowercase().as_str(), authority) {
        ("file", Some(("", path))) => Ok((None, path)),
        ("file", Some(_)) => Err("names a host; use file:///".to_owned()),
        ("file", None) if rest.starts_with('/') => Ok((None, rest)),
        ("file", None) => Err("is a relative path".to_owned()),
        ("s3" | "s3a" | "s3n", Some((bucket, path))) => {
            check_bucket(bucket)?;
            Ok((Some(bucket), path))
        }
        ("s3" | "s3a" | "s3n", None) => Err("has no bucket".to_owned()),
        _ => Err("has a scheme other than file, s3, s3a and s3n".to_owned()),
    }
}

fn check_bucket(bucket: &str) -> Result<(), String> {
    if bucket.is_empty() {
        return Err("has no bucket".to_owned());
    }
    if bucket.contains('@') {
        return Err("contains user information".to_owned());
    }
    if !bucket.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')) {
        return Err("has a bucket with characters other than letters, digits, '.', '-' and '_'".to_owned());
    }
    if !(BUCKET_BYTES_MIN..=BUCKET_BYTES_MAX).contains(&bucket.len()) {
        return Err(format!("has a bucket name of fewer than {BUCKET_BYTES_MIN} or too many characters"));
    }
    if bucket.starts_with('.') || bucket.ends_with('.') || bucket.contains("..") {
        return Err("has a malformed bucket name".to_owned());
    }
    Ok(())
}

/// Checks every segment of a path and joins them again. The error is the reason.
fn segments(path: &str, in_bucket: bool) -> Result<String, String> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    let mut key = String::with_capacity(path.len());
    if path.is_empty() {
        return Ok(key);
    }
    for segment in path.split('/') {
        if segment.is_empty() {
            if in_bucket {
                return Err("has an empty segment".to_owned());
            }
            continue;
        }
        check_segment(segment, in_bucket)?;
        if !key.is_empty() {
            key.push('/');
        }
        key.push_str(segment);
    }
    Ok(key)
}

fn check_segment(segment: &str, in_bucket: bool) -> Result<(), String> {
    if matches!(segment, "." | "..") {
        return Err(format!("has a '{segment}' segment"));
    }
    if !in_bucket && segment.len() > FILE_SEGMENT_BYTES_MAX {
        return Err(format!("has a name longer than {FILE_SEGMENT_BYTES_MAX} bytes"));
    }
    // We never decode, but a client or a proxy between us and the store may.
    let mut hidden = segment.as_bytes().to_vec();
    for _ in 0..DECODE_ROUNDS_MAX {
        let text = String::from_utf8_lossy(&hidden).into_owned();
        let decoded: Vec<u8> = percent_decode_str(&text).collect();
        if decoded == text.as_bytes() {
            return Ok(());
        }
        let is_dots = decoded == b"." || decoded == b"..";
        if is_dots || decoded.iter().any(|b| matches!(b, b'/' | b'\\') || b.is_ascii_control()) {
            return Err("has an encoded separator, dot segment or control character".to_owned());
        }
        hidden = decoded;
    }
    Err("has a name that is percent-encoded over and over".to_owned())
}

/// A refused text as it may appear in a message: bounded, and without control characters.
fn shown(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 200;
    let mut shown: String =
        text.chars().take(SHOWN_CHARS_MAX).map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect();
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown.push('…');
    }
    // Credentials written into a URI do not belong in a log or an answer.
    match (shown.find("://"), shown.find('@')) {
        (Some(scheme), Some(at)) if scheme < at => {
            let (head, tail) = (shown.get(..scheme + 3), shown.get(at..));
            format!("{}***{}", head.unwrap_or_default(), tail.unwrap_or_default())
        }
        _ => shown,
    }
}

impl PartialEq for Location {
    fn eq(&self, other: &Self) -> bool {
        self.canonical == other.canonical
    }
}

impl Eq for Location {}

impl PartialOrd for Location {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Location {
    fn cmp(&self, other: &Self) -> Ordering {
        self.canonical.cmp(&other.canonical)
    }
}

impl Hash for Location {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.canonical.hash(state);
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({})", self.text)
    }
}

#[cfg(test)]
mod tests;

//! Keys of contents and of the system map, and the order-keeping bytes under which both stand in an index.

use std::{cmp::Ordering, fmt, sync::Arc};

use crate::encoding::DecodeError;

/// Most elements in a content key (Nessie API, 3.1).
pub const KEY_ELEMENTS_MAX: usize = 20;
/// Longest content key: all elements together, in UTF-16 code units (Nessie API, 3.1).
pub const KEY_UTF16_UNITS_MAX: usize = 500;

const DOMAIN_CONTENT: u8 = 0x01;
const DOMAIN_SYSTEM: u8 = 0x02;
/// Stands between elements. Below every character an element may hold, so a parent sorts before its children.
const SEPARATOR: u8 = 0x01;

/// Why elements are no content key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// No element at all.
    #[error("Content key must not be empty")]
    Empty,
    /// Too many elements.
    #[error("Key with {0} elements exceeds the limit of {KEY_ELEMENTS_MAX}")]
    Elements(usize),
    /// An element without characters.
    #[error("Content key '{0}' must not contain an empty element.")]
    EmptyElement(String),
    /// Too long.
    #[error("Key too long, max allowed length: {KEY_UTF16_UNITS_MAX}")]
    Long,
    /// A control character.
    #[error("Content key '{0}' must not contain characters less than 0x20 or 0x7F.")]
    Control(String),
}

/// Key of a content: 1 to 20 non-empty elements. Ordered element by element as UTF-16 code units. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ContentKey(Arc<[Box<str>]>);

impl ContentKey {
    /// Checks the limits of the Nessie API, 3.1.
    pub fn new<I, S>(elements: I) -> Result<Self, KeyError>
    where
        I: IntoIterator<Item = S>,
        S: Into<Box<str>>,
    {
        let elements: Arc<[Box<str>]> = elements.into_iter().map(Into::into).collect();
        if elements.is_empty() {
            return Err(KeyError::Empty);
        }
        if elements.len() > KEY_ELEMENTS_MAX {
            return Err(KeyError::Elements(elements.len()));
        }
        let shown =
            || elements.join(".").chars().map(|c| if c.is_control() { '?' } else { c }).take(200).collect();
        let mut units = 0;
        for element in elements.iter() {
            if element.is_empty() {
                return Err(KeyError::EmptyElement(shown()));
            }
            if element.chars().any(|c| c < '\u{20}' || c == '\u{7f}') {
                return Err(KeyError::Control(shown()));
            }
            units += element.encode_utf16().count();
        }
        if units > KEY_UTF16_UNITS_MAX {
            return Err(KeyError::Long);
        }
        Ok(Self(elements))
    }

    /// The elements.
    #[must_use]
    pub fn elements(&self) -> &[Box<str>] {
        &self.0
    }

    /// The last element.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.last().map_or("", |name| name)
    }

    /// All elements but the last.
    #[must_use]
    pub fn namespace(&self) -> &[Box<str>] {
        self.0.split_last().map_or(&[], |(_, namespace)| namespace)
    }

    /// The key of the parent namespace, or `None` at the top.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let namespace = self.namespace();
        if namespace.is_empty() { None } else { Some(Self(namespace.into())) }
    }

    /// Whether `self` stands strictly below `ancestor`.
    #[must_use]
    pub fn is_below(&self, ancestor: &Self) -> bool {
        self.0.len() > ancestor.0.len() && self.0.starts_with(&ancestor.0)
    }

    /// The key's bytes in an index.
    #[must_use]
    pub fn index_key(&self) -> IndexKey {
        IndexKey::of(DOMAIN_CONTENT, &self.0)
    }
}

impl PartialOrd for ContentKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ContentKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let elements = self.0.iter().zip(other.0.iter());
        let differs =
            elements.map(|(own, other)| own.encode_utf16().cmp(other.encode_utf16())).find(|o| o.is_ne());
        differs.unwrap_or_else(|| self.0.len().cmp(&other.0.len()))
    }
}

impl fmt::Display for ContentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, element) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str(".")?;
            }
            f.write_str(element)?;
        }
        Ok(())
    }
}

impl fmt::Debug for ContentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter()).finish()
    }
}

/// Path of a value in the versioned system map: one or more elements, shown joined by `/`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemPath(Arc<[Box<str>]>);

impl SystemPath {
    /// Checks the same limits as for content keys.
    pub fn new<I, S>(elements: I) -> Result<Self, KeyError>
    where
        I: IntoIterator<Item = S>,
        S: Into<Box<str>>,
    {
        ContentKey::new(elements).map(|key| Self(key.0))
    }

    /// The elements.
    #[must_use]
    pub fn elements(&self) -> &[Box<str>] {
        &self.0
    }

    /// The path's bytes in an index.
    #[must_use]
    pub fn index_key(&self) -> IndexKey {
        IndexKey::of(DOMAIN_SYSTEM, &self.0)
    }
}

impl fmt::Display for SystemPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("/"))
    }
}

impl fmt::Debug for SystemPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What an index key stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DomainKey {
    /// A content.
    Content(ContentKey),
    /// A value of the system map.
    System(SystemPath),
}

/// Bytes of a key in an index: the domain byte, then the elements, joined by 0x01. Byte order is the wire's key order:
/// characters beyond U+FFFF are written as two 3-byte surrogates, so that bytes compare as UTF-16 code units do. Cheap to
/// clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexKey(Arc<[u8]>);

impl IndexKey {
    /// The smallest bytes of any content key; every content key is at or above, every system path above all of them.
    pub const CONTENT_START: &'static [u8] = &[DOMAIN_CONTENT];
    /// The first bytes above every content key.
    pub const CONTENT_END: &'static [u8] = &[DOMAIN_SYSTEM];
    /// The smallest bytes of any system path.
    pub const SYSTEM_START: &'static [u8] = &[DOMAIN_SYSTEM];
    /// The first bytes above every system path.
    pub const SYSTEM_END: &'static [u8] = &[DOMAIN_SYSTEM + 1];

    fn of(domain: u8, elements: &[Box<str>]) -> Self {
        let mut bytes = Vec::with_capacity(1 + elements.iter().map(|e| e.len() + 1).sum::<usize>());
        bytes.push(domain);
        for (at, element) in elements.iter().enumerate() {
            if at > 0 {
                bytes.push(SEPARATOR);
            }
            push_ordered(&mut bytes, element);
        }
        Self(bytes.into())
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Wraps bytes read from an index; [`IndexKey::decode`] checks them.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    /// Bytes below which exactly the keys under this one stand (`key` 0x01 …).
    #[must_use]
    pub fn children_prefix(&self) -> Vec<u8> {
        let mut prefix = Vec::with_capacity(self.0.len() + 1);
        prefix.extend_from_slice(&self.0);
        prefix.push(SEPARATOR);
        prefix
    }

    /// Whether the key is of the content domain.
    #[must_use]
    pub fn is_content(&self) -> bool {
        self.0.first() == Some(&DOMAIN_CONTENT)
    }

    /// The key as elements.
    pub fn decode(&self) -> Result<DomainKey, DecodeError> {
        let (domain, rest) = self.0.split_first().ok_or(DecodeError::Short("key"))?;
        let mut elements = Vec::new();
        for element in rest.split(|byte| *byte == SEPARATOR) {
            elements.push(pull_ordered(element).ok_or(DecodeError::Invalid("key element"))?);
        }
        let key = ContentKey::new(elements).map_err(|_| DecodeError::Invalid("key"))?;
        match *domain {
            DOMAIN_CONTENT => Ok(DomainKey::Content(key)),
            DOMAIN_SYSTEM => Ok(DomainKey::System(SystemPath(key.0))),
            _ => Err(DecodeError::Invalid("key domain")),
        }
    }

    /// The content key, or `None` for a system path or damaged bytes.
    #[must_use]
    pub fn content(&self) -> Option<ContentKey> {
        match self.decode() {
            Ok(DomainKey::Content(key)) => Some(key),
            _ => None,
        }
    }
}

impl fmt::Debug for IndexKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", String::from_utf8_lossy(&self.0).escape_debug())
    }
}

fn push_ordered(out: &mut Vec<u8>, text: &str) {
    if text.is_ascii() {
        out.extend_from_slice(text.as_bytes());
        return;
    }
    for c in text.chars() {
        if c <= '\u{ffff}' {
            let mut buffer = [0; 4];
            out.extend_from_slice(c.encode_utf8(&mut buffer).as_bytes());
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let unit = *unit;
                out.push(0xe0 | (unit >> 12) as u8);
                out.push(0x80 | ((unit >> 6) & 0x3f) as u8);
                out.push(0x80 | (unit & 0x3f) as u8);
            }
        }
    }
}

fn pull_ordered(bytes: &[u8]) -> Option<Box<str>> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        // Plain UTF-8 is only canonical without four-byte sequences.
        return if bytes.iter().any(|b| *b >= 0xf0) { None } else { Some(text.into()) };
    }
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(&lead) = rest.first() {
        if let Some(&[0xed, a, b, 0xed, c, d]) = rest.get(..6)
            && (0xa0..0xb0).contains(&a)
            && (0xb0..0xc0).contains(&c)
        {
            let unit = |x: u8, y: u8| 0xd000 | (u32::from(x & 0x3f) << 6) | u32::from(y & 0x3f);
            let code = 0x10000 + ((unit(a, b) - 0xd800) << 10) + (unit(c, d) - 0xdc00);
            text.push(char::from_u32(code)?);
            rest = rest.get(6..)?;
            continue;
        }
        let width = match lead {
            0x00..=0x7f => 1,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            _ => return None,
        };
        text.push_str(std::str::from_utf8(rest.get(..width)?).ok()?);
        rest = rest.get(width..)?;
    }
    Some(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(elements: &[&str]) -> ContentKey {
        ContentKey::new(elements.iter().copied()).unwrap()
    }

    #[test]
    fn order_of_bytes_is_order_of_keys() {
        let mut keys = [
            key(&["a"]),
            key(&["a", "b"]),
            key(&["a.b"]),
            key(&["b"]),
            key(&["\u{ffff}"]),
            key(&["\u{1f600}"]),
            key(&["\u{e000}", "x"]),
            key(&["é"]),
        ];
        keys.sort();
        let bytes: Vec<_> = keys.iter().map(ContentKey::index_key).collect();
        assert!(bytes.is_sorted());
        // Supplementary characters sort below U+E000 in UTF-16.
        let at = |k: &ContentKey| keys.iter().position(|x| x == k).unwrap();
        assert!(at(&key(&["\u{1f600}"])) < at(&key(&["\u{e000}", "x"])));
        for key in &keys {
            assert_eq!(key.index_key().content().as_ref(), Some(key));
        }
    }

    #[test]
    fn limits() {
        assert_eq!(ContentKey::new(Vec::<String>::new()), Err(KeyError::Empty));
        assert!(matches!(ContentKey::new(["a", ""]), Err(KeyError::EmptyElement(_))));
        assert!(matches!(ContentKey::new(["a\u{1}"]), Err(KeyError::Control(_))));
        assert!(ContentKey::new(vec!["a"; 20]).is_ok());
        assert_eq!(ContentKey::new(vec!["a"; 21]), Err(KeyError::Elements(21)));
        assert!(ContentKey::new(["a".repeat(500)]).is_ok());
        assert_eq!(ContentKey::new(["a".repeat(501)]), Err(KeyError::Long));
    }

    #[test]
    fn damaged_bytes_are_refused() {
        for bytes in [&b""[..], b"\x01", b"\x03a", b"\x01a\x01", b"\x01\xf0\x9f\x98\x80", b"\x01\xed\xa0\xbd"]
        {
            assert!(IndexKey::from_bytes(bytes).decode().is_err(), "{bytes:?}");
        }
    }
}

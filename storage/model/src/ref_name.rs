//! Names of branches and tags.

use std::{fmt, sync::Arc};

/// Longest reference name, in bytes.
pub const REF_NAME_BYTES_MAX: usize = 512;

/// Why a text is no reference name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefNameError {
    /// The text breaks the grammar (Nessie API, 2.1).
    #[error(
        "Reference name must start with a letter, followed by letters, digits, one of the ./_- characters, not end \
         with a slash or dot, not contain '..'"
    )]
    Grammar,
    /// `HEAD`, `DETACHED` or something that reads as a commit id.
    #[error("Reference name mut not be HEAD, DETACHED or a potential commit ID representation.")]
    Forbidden,
    /// Longer than [`REF_NAME_BYTES_MAX`].
    #[error("Reference name must not be longer than {REF_NAME_BYTES_MAX} bytes")]
    Long,
}

/// Name of a branch or tag. Both share one name space. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RefName(Arc<str>);

impl RefName {
    /// Checks `text` against the grammar of reference names; forbidden words pass, since stored names may be looked up.
    pub fn new(text: &str) -> Result<Self, RefNameError> {
        if text.len() > REF_NAME_BYTES_MAX {
            return Err(RefNameError::Long);
        }
        let bytes = text.as_bytes();
        let first = bytes.first().is_some_and(u8::is_ascii_alphabetic);
        let last = bytes.last().is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
        let body = bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'/' | b'_' | b'-'));
        if first && last && body && !text.contains("..") {
            Ok(Self(text.into()))
        } else {
            Err(RefNameError::Grammar)
        }
    }

    /// Checks `text` for the name of a new reference: the grammar, and none of the forbidden words.
    pub fn for_creation(text: &str) -> Result<Self, RefNameError> {
        let name = Self::new(text)?;
        let like_hash = (8..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
        if like_hash || text.eq_ignore_ascii_case("HEAD") || text.eq_ignore_ascii_case("DETACHED") {
            return Err(RefNameError::Forbidden);
        }
        Ok(name)
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RefName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for RefName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

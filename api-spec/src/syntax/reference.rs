//! Names of references, commit hashes, relative parts, and the forms that join them.
//!
//! Nessie API: `NAME@HASH~2` in v2 paths ([`RefSpec`]), hash-or-relative in bodies and v1 parameters
//! ([`HashSpec`]), `NAME*HASH...NAME*HASH` in v1 diffs ([`parse_diff`]). Every relative part is kept, in order.

use std::fmt;

use crate::syntax::{Instant, percent::decode_segment};

/// The commit that has no ancestors: parent of every root commit, head of an empty branch.
///
/// It is the SHA-256 of the ASCII word `empty`; clients and kits hard-code it.
pub const NO_ANCESTOR_HASH: &str = "2e1cfa82b035c26cbbbdae632cea070514eb8b773f616aaeaf668e2f0be8f10d";

/// The name that means the server's default branch in v2 paths.
pub const DEFAULT_BRANCH_ALIAS: &str = "-";

/// The name that, with a hash, means a commit outside any reference.
pub const DETACHED: &str = "DETACHED";

/// What a reference name must look like; word for word in answers.
pub const NAME_MESSAGE: &str = "Reference name must start with a letter, followed by letters, digits, one of the \
                                ./_- characters, not end with a slash or dot, not contain '..'";

/// What a plain hash must look like; word for word in answers.
pub const HASH_MESSAGE: &str = "Hash must consist of the hex representation of 4-32 bytes";

/// What a hash with relative parts must look like; word for word in answers.
pub const HASH_OR_RELATIVE_MESSAGE: &str = "Hash with optional relative part must consist of either a valid commit hash (which in turn must consist of the \
     hex representation of 4-32 bytes), or a valid relative part (which must be either '~' + a number representing \
     the n-th predecessor of a commit, '^' + a number representing the n-th parent within a commit, or '*' + a \
     number representing the created timestamp of a commit, in milliseconds since epoch or in ISO-8601 format), or \
     both.";

/// What a reference type must be; word for word in answers.
pub const TYPE_MESSAGE: &str = "Reference type name must be either 'branch' or 'tag'";

/// Greatest count behind `~` and `^`.
pub const COUNT_MAX: u64 = i32::MAX as u64 - 1;

const HASH_DIGITS: std::ops::RangeInclusive<usize> = 8..=64;

/// Text that is no reference, hash or relative part. Messages are those of the contract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// Not a reference name.
    #[error("{}", NAME_MESSAGE)]
    Name,
    /// Not 8 to 64 hexadecimal digits.
    #[error("{}", HASH_MESSAGE)]
    Hash,
    /// Not a hash with optional relative parts.
    #[error("{}", HASH_OR_RELATIVE_MESSAGE)]
    HashOrRelative,
    /// Not a reference of a v2 path.
    #[error(
        "{}, optionally followed by @ and a hash with optional relative part. {}",
        NAME_MESSAGE,
        HASH_OR_RELATIVE_MESSAGE
    )]
    Path,
    /// Neither branch nor tag.
    #[error("{}", TYPE_MESSAGE)]
    Type,
    /// A name that is set aside, or looks like a hash.
    #[error(
        "Reference name mut not be HEAD, DETACHED or a potential commit ID representation. - but was {0}"
    )]
    Forbidden(String),
    /// `~0`, `^0`, a count above [`COUNT_MAX`] or one that is no number.
    #[error("Illegal value {value} for spec type {kind}")]
    Count {
        /// `N_TH_PREDECESSOR (~)` or `N_TH_PARENT (^)`.
        kind: &'static str,
        /// The text after the sign.
        value: String,
    },
    /// `*T` that is neither an instant nor milliseconds.
    #[error(
        "'*' relative commit spec argument '{0}' must be represent an ISO-8601 timestamp ('Z' only) or a numeric value \
         representing the milliseconds since epoch"
    )]
    Timestamp(String),
}

impl ReferenceError {
    /// True for text of the wrong shape, whose message is written behind `<method>.<argument>: `; false for
    /// text of the right shape with an impossible value, whose message stands alone.
    pub fn is_violation(&self) -> bool {
        !matches!(self, Self::Forbidden(_) | Self::Count { .. } | Self::Timestamp(_))
    }
}

/// Checks a reference name; `-` is a name too (only v2 paths give it a meaning).
pub fn check_name(name: &str) -> Result<(), ReferenceError> {
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'/' | b'_' | b'-');
    let bytes = name.as_bytes();
    let legal = match (bytes.first(), bytes.last()) {
        (Some(first), Some(last)) => {
            first.is_ascii_alphabetic()
                && !matches!(last, b'.' | b'/')
                && bytes.iter().copied().all(inner)
                && !name.contains("..")
        }
        _ => false,
    };
    if legal || name == DEFAULT_BRANCH_ALIAS { Ok(()) } else { Err(ReferenceError::Name) }
}

/// Checks the name of a reference to be created: a name that is not set aside.
pub fn check_new_name(name: &str) -> Result<(), ReferenceError> {
    check_name(name)?;
    let reserved = name.eq_ignore_ascii_case("HEAD") || name.eq_ignore_ascii_case(DETACHED) || is_hash(name);
    match (reserved, name == DEFAULT_BRANCH_ALIAS) {
        (true, _) => Err(ReferenceError::Forbidden(name.to_owned())),
        (_, true) => Err(ReferenceError::Name),
        _ => Ok(()),
    }
}

/// True for 8 to 64 hexadecimal digits. A short one is no abbreviation, it is the id of some other commit.
pub fn is_hash(text: &str) -> bool {
    HASH_DIGITS.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// Checks a plain hash and writes it in lower case.
pub fn parse_hash(text: &str) -> Result<String, ReferenceError> {
    if is_hash(text) { Ok(text.to_ascii_lowercase()) } else { Err(ReferenceError::Hash) }
}

/// One step from a commit to an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelPart {
    /// `~N`: the N-th predecessor along direct parents, N ≥ 1.
    Predecessor(u64),
    /// `^N`: the direct parent (1) or the (N−1)-th merge parent, N ≥ 1.
    Parent(u64),
    /// `*T`: the newest commit, along direct parents and starting here, made at or before T.
    AtOrBefore(Instant),
}

impl fmt::Display for RelPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Predecessor(n) => write!(f, "~{n}"),
            Self::Parent(n) => write!(f, "^{n}"),
            // A year with a sign is none that a reference can hold.
            Self::AtOrBefore(at) => match at.to_string() {
                text if text.starts_with(['+', '-']) => write!(f, "*{}", at.millis()),
                text => write!(f, "*{text}"),
            },
        }
    }
}

/// A hash with relative parts, each of which may be absent: `HASH`, `HASH~1`, `~2*T`, or nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HashSpec {
    /// The absolute start, in lower case; without it the parts start at the head of a named reference.
    pub hash: Option<String>,
    /// The steps, applied left to right.
    pub parts: Vec<RelPart>,
}

impl HashSpec {
    /// Parses the hash-or-relative form; empty text is an empty spec.
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        parse_hash_and_parts(text, ReferenceError::HashOrRelative)
    }

    /// A spec of one absolute hash.
    pub fn of(hash: impl Into<String>) -> Self {
        Self { hash: Some(hash.into()), parts: Vec::new() }
    }

    /// True when there is neither hash nor part.
    pub fn is_empty(&self) -> bool {
        self.hash.is_none() && self.parts.is_empty()
    }
}

impl fmt::Display for HashSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.hash.as_deref().unwrap_or_default())?;
        self.parts.iter().try_for_each(|part| part.fmt(f))
    }
}

/// A reference as v2 paths name it: `NAME`, `NAME@HASH~2`, `NAME~2`, `@HASH`, `-`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefSpec {
    /// The name; `-` is the default branch, `DETACHED` with a hash is that commit, `None` as well.
    pub name: Option<String>,
    /// The absolute hash, in lower case.
    pub hash: Option<String>,
    /// The steps, applied left to right.
    pub parts: Vec<RelPart>,
}

impl RefSpec {
    /// A reference at its head.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..Self::default() }
    }

    /// A reference together with an absolute hash.
    pub fn at(name: impl Into<String>, hash: impl Into<String>) -> Self {
        Self { name: Some(name.into()), hash: Some(hash.into()), parts: Vec::new() }
    }

    /// A commit outside any reference.
    pub fn detached(hash: impl Into<String>) -> Self {
        Self { name: None, hash: Some(hash.into()), parts: Vec::new() }
    }

    /// Parses the decoded text of a v2 path reference.
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        let name_end = text.find(['@', '~', '^', '*']).unwrap_or(text.len());
        let (name, rest) = text.split_at(name_end);
        if !name.is_empty() {
            check_name(name).map_err(|_| ReferenceError::Path)?;
        }
        let rest = match rest.strip_prefix('@') {
            Some(rest) => rest,
            // Without `@` only relative parts may follow, which begin with their sign.
            None => rest,
        };
        let at = parse_hash_and_parts(rest, ReferenceError::Path)?;
        Ok(Self { name: (!name.is_empty()).then(|| name.to_owned()), hash: at.hash, parts: at.parts })
    }

    /// Parses the raw, still encoded path segment or segments of a v2 path reference.
    pub fn parse_encoded(raw: &str) -> Result<Self, ReferenceError> {
        Self::parse(&decode_segment(raw))
    }

    /// True when a hash or relative part is present.
    pub fn has_hash(&self) -> bool {
        self.hash.is_some() || !self.parts.is_empty()
    }

    /// The hash and parts without the name.
    pub fn hash_spec(&self) -> HashSpec {
        HashSpec { hash: self.hash.clone(), parts: self.parts.clone() }
    }
}

impl fmt::Display for RefSpec {
    /// Writes the form the Java clients send: `@` only before a hash, or behind a name with a slash.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name.as_deref().unwrap_or_default();
        f.write_str(name)?;
        if self.hash.is_some() || name.contains('/') {
            f.write_str("@")?;
        }
        f.write_str(self.hash.as_deref().unwrap_or_default())?;
        self.parts.iter().try_for_each(|part| part.fmt(f))
    }
}

fn parse_hash_and_parts(text: &str, shape: ReferenceError) -> Result<HashSpec, ReferenceError> {
    let hash_end = text.find(['~', '^', '*']).unwrap_or(text.len());
    let (hash, mut rest) = text.split_at(hash_end);
    if !hash.is_empty() && !is_hash(hash) {
        return Err(shape);
    }
    // The shape of the whole text is judged before the value of any part.
    let mut raw_parts = Vec::new();
    let mut chars = rest.chars();
    while let Some(sign) = chars.next() {
        rest = chars.as_str();
        let end = rest.find(['~', '^', '*']).unwrap_or(rest.len());
        let (value, tail) = rest.split_at(end);
        if !is_count(value) && !is_timestamp_shape(value) {
            return Err(shape);
        }
        raw_parts.push((sign, value));
        chars = tail.chars();
    }
    let parts =
        raw_parts.into_iter().map(|(sign, value)| parse_part(sign, value)).collect::<Result<_, _>>()?;
    Ok(HashSpec { hash: (!hash.is_empty()).then(|| hash.to_ascii_lowercase()), parts })
}

fn parse_part(sign: char, value: &str) -> Result<RelPart, ReferenceError> {
    match sign {
        '*' => {
            let at = if is_count(value) {
                value.parse().ok().map(Instant::from_millis)
            } else {
                Instant::parse(value).ok()
            };
            at.map(RelPart::AtOrBefore).ok_or_else(|| ReferenceError::Timestamp(value.to_owned()))
        }
        sign => {
            let parent = sign == '^';
            let kind = if parent { "N_TH_PARENT (^)" } else { "N_TH_PREDECESSOR (~)" };
            let illegal = || ReferenceError::Count { kind, value: value.to_owned() };
            if !is_count(value) {
                return Err(illegal());
            }
            match value.parse::<u64>() {
                Ok(n @ 1..=COUNT_MAX) if parent => Ok(RelPart::Parent(n)),
                Ok(n @ 1..=COUNT_MAX) => Ok(RelPart::Predecessor(n)),
                _ => Err(illegal()),
            }
        }
    }
}

fn is_count(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// `YYYY-MM-DDTHH:MM:SS[.f{1,9}]Z` by shape only; whether it is a date is for [`Instant`] to say.
fn is_timestamp_shape(text: &str) -> bool {
    const SHAPE: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let Some((date_time, tail)) = text.as_bytes().split_at_checked(SHAPE.len()) else { return false };
    let fits = SHAPE.iter().zip(date_time).all(|(s, b)| if *s == b'd' { b.is_ascii_digit() } else { s == b });
    let fraction = match tail {
        [b'Z'] => return fits,
        [b'.', fraction @ .., b'Z'] => fraction,
        _ => return false,
    };
    fits && (1..=9).contains(&fraction.len()) && fraction.iter().all(u8::is_ascii_digit)
}

/// One side of a v1 diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffSide {
    /// The name, looked up literally; `DETACHED` with a hash is that commit.
    pub name: String,
    /// The state to compare; empty is the head.
    pub at: HashSpec,
}

impl fmt::Display for DiffSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.at.is_empty() { Ok(()) } else { write!(f, "*{}", self.at) }
    }
}

/// Parses the raw last segment of a v1 diff path: `{from}[*hash]...{to}[*hash]`.
///
/// `None` when the three dots are missing. Names are not checked here: a wrong one is simply not found.
pub fn parse_diff(raw: &str) -> Option<Result<(DiffSide, DiffSide), ReferenceError>> {
    let side = |raw: &str| {
        let text = decode_segment(raw);
        let (name, at) = text.split_once('*').unwrap_or((&text, ""));
        Ok(DiffSide { name: name.to_owned(), at: HashSpec::parse(at)? })
    };
    let (from, to) = raw.split_once("...")?;
    Some(side(from).and_then(|from| Ok((from, side(to)?))))
}

#[cfg(test)]
#[path = "reference_tests.rs"]
mod tests;

//! Parameters as plain data: what a document says of a query parameter, and what a test holds its reader to.

/// A parameter of a query, path or header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// The wire name.
    pub name: &'static str,
    /// What it means, for people.
    pub about: &'static str,
    /// What values it takes.
    pub shape: Shape,
    /// Whether a request without it is refused.
    pub required: bool,
    /// A value that is accepted.
    pub example: &'static str,
}

/// What values a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Any text.
    Text,
    /// Text that matches a regular expression as a whole; nothing else is accepted.
    Pattern(&'static str),
    /// One of a few words.
    Words(&'static [&'static str]),
    /// `true` in any case; anything else means false.
    Flag,
    /// A decimal 32-bit integer.
    Int32,
    /// A decimal 32-bit integer of at least 1.
    Count,
    /// A point in time, ISO-8601 in UTC.
    Instant,
    /// Text, and the parameter may be repeated.
    Texts,
    /// One of a few words, and the parameter may be repeated.
    WordsRepeated(&'static [&'static str]),
}

impl Parameter {
    /// An optional parameter.
    pub const fn new(name: &'static str, about: &'static str, shape: Shape, example: &'static str) -> Self {
        Self { name, about, shape, required: false, example }
    }

    /// The same parameter, required.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}

/// The name of a reference, as [`crate::syntax::reference::check_name`] takes it.
pub const NAME_PATTERN: &str = r"^(-|[A-Za-z]([A-Za-z0-9/_-]|\.(?!\.))*(?<![./]))$";

/// A plain hash, as [`crate::syntax::reference::parse_hash`] takes it.
pub const HASH_PATTERN: &str = "^[0-9a-fA-F]{8,64}$";

/// A hash with relative parts, as [`crate::syntax::HashSpec::parse`] takes it; impossible dates aside.
pub const HASH_OR_RELATIVE_PATTERN: &str = r"^([0-9a-fA-F]{8,64})?([~^]0*[1-9][0-9]*|\*([0-9]{1,18}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z))*$";

/// A reference of a v2 path, as [`crate::syntax::RefSpec::parse`] takes it; impossible dates aside.
pub const REFERENCE_PATTERN: &str = r"^(-|[A-Za-z]([A-Za-z0-9/_-]|\.(?!\.))*(?<![./]))?@?([0-9a-fA-F]{8,64})?([~^]0*[1-9][0-9]*|\*([0-9]{1,18}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z))*$";

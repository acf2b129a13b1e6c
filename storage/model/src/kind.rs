//! Kinds of objects.

/// What an object is. The byte is hashed in front of the object's bytes, so equal bytes of two kinds differ in id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ObjectKind {
    /// A commit, see [`crate::Commit`].
    Commit,
    /// A value too large to stand inline in an operation or an index leaf.
    Value,
    /// A node of a key index. Derived: kept apart from the other kinds, losable, rebuilt from operations.
    IndexNode,
    /// A part of a table or view metadata document, shared between its versions.
    MetadataPart,
    /// A proof or report that lives as long as the commits that name it.
    Attachment,
}

impl ObjectKind {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Commit, Self::Value, Self::IndexNode, Self::MetadataPart, Self::Attachment];

    /// The byte on disk and in the hash.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::Commit => 1,
            Self::Value => 2,
            Self::IndexNode => 3,
            Self::MetadataPart => 4,
            Self::Attachment => 5,
        }
    }

    /// The kind of a byte, or `None` for one that no released version wrote.
    #[must_use]
    pub const fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            1 => Some(Self::Commit),
            2 => Some(Self::Value),
            3 => Some(Self::IndexNode),
            4 => Some(Self::MetadataPart),
            5 => Some(Self::Attachment),
            _ => None,
        }
    }
}

//! Tables that can be lost and rebuilt.

/// A derived table: ordered rows of bytes, outside every promise. A lost row is rebuilt from commits or the warehouse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DerivedSpace {
    /// Node id → encoded index node.
    Node,
    /// Commit id → checkpoint: the nodes of that commit's index are stored.
    Checkpoint,
    /// Checkpoint → which keys were changed at which depths since the one below.
    KeyHistory,
    /// Location → root part of the metadata document stored there.
    Document,
}

impl DerivedSpace {
    /// All spaces.
    pub const ALL: [Self; 4] = [Self::Node, Self::Checkpoint, Self::KeyHistory, Self::Document];

    /// The byte on disk.
    #[must_use]
    pub const fn byte(self) -> u8 {
        match self {
            Self::Node => 1,
            Self::Checkpoint => 2,
            Self::KeyHistory => 3,
            Self::Document => 4,
        }
    }
}

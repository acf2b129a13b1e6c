//! What the writers asked for and what they were told.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// Commit hash as the server writes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct CommitHash(pub String);

impl fmt::Display for CommitHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Key of a table in a namespace of one element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The namespace.
    pub namespace: String,
    /// The table in it.
    pub table: String,
}

impl Key {
    /// Key from its two elements.
    pub fn new(namespace: &str, table: impl Into<String>) -> Self {
        Self { namespace: namespace.to_owned(), table: table.into() }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.namespace, self.table)
    }
}

/// A table set to a version that no other request uses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Put {
    /// The table.
    pub key: Key,
    /// Its new version; travels as the snapshot id.
    pub version: i64,
}

/// Branch or tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Moves by commits, too.
    Branch,
    /// Moves by assignment only.
    Tag,
}

impl Kind {
    /// Word on the wire.
    pub fn wire(self) -> &'static str {
        match self {
            Self::Branch => "BRANCH",
            Self::Tag => "TAG",
        }
    }
}

/// Where a reference is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Branch or tag.
    pub kind: Kind,
    /// Its commit.
    pub hash: CommitHash,
}

/// What was asked for.
#[derive(Clone, Debug)]
pub enum Action {
    /// A commit of puts.
    Commit {
        /// Branch that it goes to.
        branch: String,
        /// Expected hash; the parent when nobody else writes to the branch.
        expected: CommitHash,
        /// All puts, wanted together.
        puts: Vec<Put>,
    },
    /// A merge that brings the given puts.
    Merge {
        /// Branch that is merged into.
        target: String,
        /// Commit that is merged.
        source: CommitHash,
        /// What the target must show afterwards, all together.
        puts: Vec<Put>,
    },
    /// A new reference.
    Create {
        /// Its name.
        name: String,
        /// Where it begins.
        to: Position,
    },
    /// A reference moved from the expected hash to another.
    Assign {
        /// Its name.
        name: String,
        /// Expected hash.
        from: CommitHash,
        /// Where it is moved.
        to: Position,
    },
    /// A reference removed at the expected hash.
    Delete {
        /// Its name.
        name: String,
        /// Expected hash.
        from: CommitHash,
    },
}

impl Action {
    /// Reference that the action changes.
    pub fn reference(&self) -> &str {
        match self {
            Self::Commit { branch, .. } => branch,
            Self::Merge { target, .. } => target,
            Self::Create { name, .. } | Self::Assign { name, .. } | Self::Delete { name, .. } => name,
        }
    }

    /// Puts that the action brings.
    pub fn puts(&self) -> &[Put] {
        match self {
            Self::Commit { puts, .. } | Self::Merge { puts, .. } => puts,
            Self::Create { .. } | Self::Assign { .. } | Self::Delete { .. } => &[],
        }
    }

    /// Whether the action makes a commit.
    pub fn makes_commit(&self) -> bool {
        matches!(self, Self::Commit { .. } | Self::Merge { .. })
    }
}

/// What the client was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done; with the new head when the action makes a commit.
    Acknowledged(Option<CommitHash>),
    /// Refused by a 4xx: must not have happened.
    Refused,
    /// No answer, or a 5xx: may have happened, as a whole or not at all.
    Unknown,
}

/// One request with its outcome.
#[derive(Clone, Debug)]
pub struct Event {
    /// Unique; the message of the commit, if the action makes one.
    pub id: String,
    /// What was asked for.
    pub action: Action,
    /// What came back.
    pub outcome: Outcome,
}

impl Event {
    /// Hash of the commit that was acknowledged.
    pub fn acknowledged_commit(&self) -> Option<&CommitHash> {
        match &self.outcome {
            Outcome::Acknowledged(hash) => hash.as_ref(),
            Outcome::Refused | Outcome::Unknown => None,
        }
    }
}

/// A request to replace the setting that all writers share.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Its new value, which no other request uses.
    pub value: String,
    /// What came back.
    pub outcome: Outcome,
    /// The value that it was told to have replaced.
    pub previous: Option<String>,
}

/// State that a round starts from, as it was read back after the round before.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Every reference.
    pub references: BTreeMap<String, Position>,
    /// Versions of tables at the head of each shared branch.
    pub versions: BTreeMap<String, BTreeMap<Key, i64>>,
    /// Value of the setting.
    pub setting: Option<String>,
}

impl Model {
    /// Head of a branch or tag.
    pub fn head(&self, name: &str) -> Option<&CommitHash> {
        self.references.get(name).map(|p| &p.hash)
    }
}

/// A commit as the log shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Its hash.
    pub hash: CommitHash,
    /// Direct parent, then merge parents.
    pub parents: Vec<CommitHash>,
    /// Its message.
    pub message: String,
    /// Its puts in key order.
    pub puts: Vec<Put>,
}

/// Part of a history, newest commit first.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// Commits above the one at which the walk was to end.
    pub commits: Vec<Logged>,
    /// Whether that one was met.
    pub reached: bool,
}

/// A table read at an old commit.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Where it was read.
    pub commit: CommitHash,
    /// What was put there.
    pub put: Put,
    /// What was read.
    pub found: Option<i64>,
}

/// What a restarted server says.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Every reference.
    pub references: BTreeMap<String, Position>,
    /// History of each shared branch down to where it was before the round.
    pub walks: BTreeMap<String, Walk>,
    /// Last commit of the branches that one writer has for itself.
    pub heads: BTreeMap<String, Logged>,
    /// Commits that a reset of a shared branch left behind, by the id of the request.
    pub left_behind: BTreeMap<String, Vec<CommitHash>>,
    /// Tables at the heads of the shared branches; absent ones are missing.
    pub versions: BTreeMap<String, BTreeMap<Key, i64>>,
    /// Tables at single commits.
    pub samples: Vec<Sample>,
    /// Value of the setting.
    pub setting: Option<String>,
}

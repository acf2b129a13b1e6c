//! References and changes of them.

use serde::{Deserialize, Serialize};

use crate::syntax::Instant;

/// Branch or tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum RefType {
    /// Moves with commits.
    Branch,
    /// Moves only when assigned.
    Tag,
}

/// A branch or tag and where it points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NamedReference {
    /// Branch or tag.
    #[serde(rename = "type")]
    pub kind: RefType,
    /// Its name.
    pub name: String,
    /// The commit it points at; the no-ancestor hash for an empty branch.
    pub hash: String,
}

/// What moved a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum LogOperation {
    /// It came into being.
    Create,
    /// It was set to another commit.
    Assign,
    /// It went away.
    Delete,
    /// A commit was added.
    Commit,
    /// A merge commit was added.
    Merge,
    /// Commits were transplanted onto it.
    Transplant,
    /// It was put back to a state that its log remembers.
    Restore,
    /// Its commits were made again on top of another reference.
    Rebase,
    /// It was taken in from another repository.
    Import,
    /// A word this program does not know.
    #[serde(other)]
    Unknown,
}

impl LogOperation {
    /// Every operation that a server of this version writes.
    pub const ALL: [Self; 9] = [
        Self::Create,
        Self::Assign,
        Self::Delete,
        Self::Commit,
        Self::Merge,
        Self::Transplant,
        Self::Restore,
        Self::Rebase,
        Self::Import,
    ];

    /// The wire word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Assign => "ASSIGN",
            Self::Delete => "DELETE",
            Self::Commit => "COMMIT",
            Self::Merge => "MERGE",
            Self::Transplant => "TRANSPLANT",
            Self::Restore => "RESTORE",
            Self::Rebase => "REBASE",
            Self::Import => "IMPORT",
            Self::Unknown => "UNKNOWN",
        }
    }

    /// The operation of a wire word, in any case.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| operation.as_str().eq_ignore_ascii_case(text))
    }
}

/// One change of one reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LogEntry {
    /// Name of the reference.
    pub reference: String,
    /// 1, 2, 3 … per name without gaps, going on after the reference was deleted and made again.
    pub number: u64,
    /// Branch or tag: after the change, or before it for a delete.
    #[serde(rename = "type")]
    pub kind: RefType,
    /// Where it pointed before; null when it did not exist.
    pub old_hash: Option<String>,
    /// Where it points from then on; null when it does not exist any more.
    pub new_hash: Option<String>,
    /// What was done.
    pub operation: LogOperation,
    /// Who did it; empty without authentication.
    pub principal: String,
    /// When.
    pub time: Instant,
    /// The merge run, ingest batch or import it belongs to; null when none.
    pub run: Option<String>,
}

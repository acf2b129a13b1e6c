//! What can go wrong in the engine. Variants are what a caller does differently; messages are those of the Nessie API
//! where the contract fixes them.

use std::time::Duration;

use lochan_storage_model::{CommitId, Conflict, ContentKey, ObjectId, RefName};
use lochan_storage_odb::{RefLogEntry, Reference, StoreError};

/// Errors of the engine.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// No branch or tag of this name.
    #[error("Named reference '{0}' not found")]
    ReferenceNotFound(String),
    /// The name is taken by a branch or tag.
    #[error("Named reference '{0}' already exists.")]
    ReferenceExists(RefName),
    /// The reference is no branch.
    #[error("reference '{0}' is not a branch")]
    NotABranch(RefName),
    /// No such commit.
    #[error("Commit '{0}' not found")]
    CommitNotFound(CommitId),
    /// The expected commit is not in the history of the branch.
    #[error("Could not find commit '{commit}' in reference '{branch}'.")]
    NotOnBranch {
        /// The commit.
        commit: CommitId,
        /// The branch.
        branch: RefName,
    },
    /// Two commits share no history.
    #[error("No common ancestor in parents of {target} and {from}")]
    NoCommonAncestor {
        /// Head of the target.
        target: CommitId,
        /// Source commit.
        from: CommitId,
    },
    /// A reference is not where it was expected.
    #[error("Named-reference '{name}' is not at expected hash '{expected}', but at '{found}'.", name = .found.name, found = .found.target)]
    UnexpectedHash {
        /// Where it was expected.
        expected: CommitId,
        /// What it is.
        found: Reference,
    },
    /// A reference is not in the state that a change of it expected.
    #[error("reference '{}' was changed meanwhile", .0.name)]
    ReferenceMoved(Reference),
    /// The log of a name has no such entry.
    #[error("the log of reference '{name}' has no entry {number}")]
    NoLogEntry {
        /// The name.
        name: RefName,
        /// The entry's number.
        number: u64,
    },
    /// The newest entry of a log is not the one expected.
    #[error(
        "reference '{}' was changed since: its newest log entry is {}, not {expected}",
        .found.name,
        .found.number
    )]
    LogMoved {
        /// The number expected.
        expected: u64,
        /// The newest entry.
        found: Box<RefLogEntry>,
    },
    /// A reference has become one of the other type since.
    #[error("reference '{0}' is of another type by now; delete it first")]
    OtherKind(RefName),
    /// The operations conflict with the head; nothing was applied.
    #[error("{}", conflicts_text(.0))]
    Conflicts(Vec<Conflict>),
    /// The request contradicts itself or the state it names.
    #[error("{0}")]
    BadRequest(String),
    /// A merge names keys that its source did not change.
    #[error("the source of the merge did not change all of the {named} keys that are named")]
    KeysNotUsed {
        /// Those keys, in the order of the request.
        unused: Vec<ContentKey>,
        /// Whether the key of no elements is named too.
        nameless: bool,
        /// How many keys are named in all.
        named: usize,
    },
    /// The queue of the writer is full; nothing was admitted.
    #[error("too many writes are waiting")]
    Busy {
        /// When to try again.
        retry_after: Duration,
    },
    /// A record that the request relied on was changed.
    #[error("a record was changed meanwhile")]
    RecordChanged,
    /// The server is stopping; nothing was admitted.
    #[error("the server is stopping")]
    Stopping,
    /// A node of an index is missing or damaged. The engine rebuilds it from operations by itself.
    #[error("index node {0} is missing or damaged")]
    IndexNode(ObjectId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Error {
    /// A stored object that contradicts the rest.
    pub(crate) fn corrupt(what: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Store(StoreError::Corrupt { what: what.into(), detail: detail.into() })
    }

    /// Whether the write may have been applied all the same.
    #[must_use]
    pub const fn is_unknown(&self) -> bool {
        matches!(self, Self::Store(StoreError::Unknown(_)))
    }
}

/// The message over several conflicts (Nessie API, 8.5).
#[must_use]
pub fn conflicts_text(conflicts: &[Conflict]) -> String {
    if let [only] = conflicts {
        let mut chars = only.message.chars();
        let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
        return format!("{first}{}.", chars.as_str());
    }
    let all: Vec<&str> = conflicts.iter().map(|conflict| conflict.message.as_str()).collect();
    format!(
        "There are multiple conflicts that prevent committing the provided operations: {}.",
        all.join(", ")
    )
}

//! A history as data.

use std::collections::BTreeMap;

use crate::record::{CommitHash, Key, Logged};

/// Keys with the values they hold or get.
pub type Values = BTreeMap<Key, i64>;

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// The head of a reference.
    Head(String),
    /// Keys at the head of a branch, all at once.
    Keys(String),
    /// A commit.
    Commit {
        /// Its message, which no other commit has.
        id: String,
        /// Its branch.
        branch: String,
        /// What its keys held where the client looked: still so at the head, or it is refused.
        before: Values,
        /// What they hold after it.
        after: Values,
    },
    /// A merge.
    Merge {
        /// Its message, which no other commit has.
        id: String,
        /// The target.
        branch: String,
        /// The commit that is merged.
        from: CommitHash,
        /// What its keys held at the merge base.
        before: Values,
        /// What they hold after it.
        after: Values,
    },
    /// A new branch.
    Create {
        /// Its name.
        name: String,
        /// Where it begins.
        to: CommitHash,
        /// What is known of its keys there.
        values: Values,
    },
    /// A branch moved.
    Assign {
        /// Its name.
        name: String,
        /// Where it must be.
        from: CommitHash,
        /// Where it goes.
        to: CommitHash,
    },
    /// A branch deleted.
    Delete {
        /// Its name.
        name: String,
        /// Where it must be.
        from: CommitHash,
    },
}

impl Ask {
    /// The reference concerned.
    pub fn reference(&self) -> &str {
        match self {
            Self::Head(name) | Self::Keys(name) => name,
            Self::Commit { branch, .. } | Self::Merge { branch, .. } => branch,
            Self::Create { name, .. } | Self::Assign { name, .. } | Self::Delete { name, .. } => name,
        }
    }

    /// Message, values before and values after of what makes a commit.
    pub fn commit(&self) -> Option<(&str, &Values, &Values)> {
        match self {
            Self::Commit { id, before, after, .. } | Self::Merge { id, before, after, .. } => {
                Some((id, before, after))
            }
            _ => None,
        }
    }
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Where the reference is; `None` where there is none.
    Head(Option<CommitHash>),
    /// The commit that was read and what the keys held.
    Keys(CommitHash, Values),
    /// The commit that was made.
    Made(CommitHash),
    /// The branch is created, moved or deleted.
    Done,
    /// Nothing was done: a conflict (409).
    Conflict,
    /// Nothing was done: no such reference (404).
    Absent,
    /// It may have been done, or may still be: no answer, or a 5xx.
    Unknown,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Which client.
    pub client: usize,
    /// When it was sent; all times of a history are different.
    pub invoked: u64,
    /// When the answer was there.
    pub returned: u64,
    /// What.
    pub ask: Ask,
    /// The answer.
    pub answer: Answer,
}

/// Everything recorded, and what the server shows afterwards.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// All requests, reads of everything at the end included.
    pub events: Vec<Event>,
    /// Where references were at the beginning.
    pub references: BTreeMap<String, CommitHash>,
    /// What the keys of branches held at the beginning.
    pub values: BTreeMap<String, Values>,
    /// Commits as the server's logs show them, by hash.
    pub commits: BTreeMap<CommitHash, Logged>,
}

//! Commits: what a caller asks for, and how it is checked against the branch.

mod content_ids;
mod expect;
mod namespaces;
mod plan;

#[cfg(test)]
mod tests;

use bytes::Bytes;
use lochan_storage_model::{
    CommitId, CommitMeta, Content, ContentId, ContentKey, ObjectId, RefName, SystemPath,
};
use lochan_storage_odb::{DerivedWrite, NewObject, RecordChange, Requirement};

use crate::writer::Who;

pub(crate) use expect::{Expectation, compare, compare_as};
pub(crate) use namespaces::{NamespaceCheck, Read, check_namespaces};
pub(crate) use plan::CommitPlan;

/// A content id as a client gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GivenId {
    /// None: a new content.
    New,
    /// A content id.
    Id(ContentId),
    /// A text that is no UUID.
    Text(String),
}

/// One operation asked for (Nessie API, 4.4).
#[derive(Debug, Clone)]
pub enum Operation {
    /// The key shall hold this content.
    Put {
        /// Where.
        key: ContentKey,
        /// What.
        content: Content,
        /// Under which id.
        id: GivenId,
    },
    /// The key shall hold nothing.
    Delete(ContentKey),
    /// The key must not have changed.
    Unchanged(ContentKey),
}

impl Operation {
    /// The key.
    #[must_use]
    pub const fn key(&self) -> &ContentKey {
        match self {
            Self::Put { key, .. } | Self::Delete(key) | Self::Unchanged(key) => key,
        }
    }
}

/// A change of the system map.
#[derive(Debug, Clone)]
pub struct SystemPut {
    /// Where.
    pub path: SystemPath,
    /// Canonical JSON; `None` removes the value.
    pub value: Option<Bytes>,
}

/// A value of the system map that must be this one at the head.
#[derive(Debug, Clone)]
pub struct ExpectedSystem {
    /// Where.
    pub path: SystemPath,
    /// Canonical JSON; `None` for "absent".
    pub value: Option<Bytes>,
}

/// A commit asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// The branch.
    pub branch: RefName,
    /// State the client has seen: the head or an ancestor of it.
    pub expected: CommitId,
    /// Changes of contents, in the client's order.
    pub operations: Vec<Operation>,
    /// Changes of the system map.
    pub system: Vec<SystemPut>,
    /// Values of the system map that the request relies on.
    pub expected_system: Vec<ExpectedSystem>,
    /// Records that the request relies on.
    pub requires: Vec<Requirement>,
    /// Records changed in the same batch.
    pub records: Vec<RecordChange>,
    /// What the commit says about itself.
    pub meta: CommitMeta,
    /// Objects that live as long as the commit.
    pub attachments: Vec<ObjectId>,
    /// Objects to store beside it: attachments, parts of documents.
    pub objects: Vec<NewObject>,
    /// Derived rows to write along.
    pub derived: Vec<DerivedWrite>,
    /// Who asks, and under which idempotency key.
    pub who: Who,
}

impl Request {
    /// A request with nothing but a branch, an expected state and metadata.
    #[must_use]
    pub fn new(branch: RefName, expected: CommitId, meta: CommitMeta, who: Who) -> Self {
        Self {
            branch,
            expected,
            operations: Vec::new(),
            system: Vec::new(),
            expected_system: Vec::new(),
            requires: Vec::new(),
            records: Vec::new(),
            meta,
            attachments: Vec::new(),
            objects: Vec::new(),
            derived: Vec::new(),
            who,
        }
    }
}

/// A commit that landed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The new head at that moment.
    pub head: CommitId,
    /// Keys that got a new content id, with it.
    pub added: Vec<(ContentKey, ContentId)>,
}

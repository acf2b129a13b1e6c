//! The writer: one task that puts every change of the store in order.
//!
//! Callers plan outside, on a head they have read, and hand in a [`Proposal`]: what shall be written and what it relied
//! on. The writer checks the proposal against the head of the moment (only the keys it names), rebases it, and writes
//! many proposals with one sync. A proposal whose ground has moved goes back as [`Verdict::Stale`] to be planned again.

mod admission;
mod checkpoint;
mod lane;
mod machine;
mod make;
mod task;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use lochan_storage_model::{CommitId, CommitMeta, Entry, IndexKey, ObjectId, RefName};
use lochan_storage_odb::{
    DerivedWrite, NewObject, RecordChange, RefOperation, ReferenceChange, RequestKey, Requirement,
};
use tokio::sync::{Mutex, oneshot};

use crate::{
    error::Error,
    index::Edit,
    state::{Core, Head},
};

pub use admission::Admission;
pub(crate) use checkpoint::{due as checkpoint_due, store_checkpoint};
pub use machine::{Machine, Prepared};
pub(crate) use make::make;
pub use task::Spawn;
pub(crate) use task::{BUSY_RETRY_AFTER, Writer};

/// Who asks for a write.
#[derive(Debug, Clone, Default)]
pub struct Who {
    /// Name of the principal, empty without authentication.
    pub principal: String,
    /// Idempotency key, already scoped by principal and route.
    pub request: Option<RequestKey>,
    /// Merge run or ingest batch.
    pub run: Option<String>,
    /// Whether the asker still waits; counts until the write is admitted.
    pub admission: Admission,
}

/// A commit to be made on whatever the head will be.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Changes of the index, in key order, one per key.
    pub edits: Vec<Edit>,
    /// What the commit says about itself.
    pub meta: CommitMeta,
    /// Parents beside the head.
    pub merge_parents: Vec<CommitId>,
    /// Objects that live as long as the commit.
    pub attachments: Vec<ObjectId>,
    /// Objects to store beside it.
    pub objects: Vec<NewObject>,
    /// Derived rows to write along.
    pub derived: Vec<DerivedWrite>,
}

/// What a plan wants written on a branch, and what it relied on.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The head it was planned on.
    pub planned_on: CommitId,
    /// Entries at that head which must be the same at the head of the moment.
    pub relied: Vec<(IndexKey, Option<Entry>)>,
    /// Prefixes of keys none of which may have changed since.
    pub relied_prefixes: Vec<Vec<u8>>,
    /// Whether it is only good on exactly that head.
    pub exact: bool,
    /// Records that must be in a state.
    pub requires: Vec<Requirement>,
    /// Records to change.
    pub records: Vec<RecordChange>,
    /// The commits, in order; all or nothing.
    pub drafts: Vec<Draft>,
    /// What the log says.
    pub operation: RefOperation,
    /// Who asks.
    pub who: Who,
}

/// Commits that landed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landed {
    /// The head they were put on.
    pub on: CommitId,
    /// The commits, in order.
    pub commits: Vec<CommitId>,
    /// The head after them.
    pub head: CommitId,
}

/// What became of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is durable.
    Landed(Landed),
    /// The head has moved under it: plan again.
    Stale,
}

/// Something that can be planned, and planned again when the head has moved.
#[async_trait]
pub trait Plan: Send {
    /// Plans on `head`. `None` when there is nothing to write.
    async fn plan(&mut self, core: &Arc<Core>, head: &Head) -> Result<Option<Proposal>, Error>;

    /// Told that the latest proposal landed.
    fn landed(&mut self, landed: &Landed);
}

/// Where a verdict goes.
pub type Reply = oneshot::Sender<Result<Verdict, Error>>;

/// What the writer is asked to do.
pub enum Job {
    /// Publish a proposal.
    Propose {
        /// The branch.
        branch: RefName,
        /// The proposal.
        proposal: Box<Proposal>,
        /// Where the verdict goes.
        reply: Reply,
    },
    /// Plan while holding the branch, then publish.
    Held {
        /// The branch.
        branch: RefName,
        /// The plan; it is told of its landing.
        plan: Arc<Mutex<dyn Plan>>,
        /// Where the verdict goes; never [`Verdict::Stale`].
        reply: Reply,
    },
    /// Change references and records as they are.
    Refs {
        /// References; the first one's name decides the lane. Their times are set by the writer.
        references: Vec<ReferenceChange>,
        /// Conditions on other references and on records.
        requires: Vec<Requirement>,
        /// Objects to store with them.
        objects: Vec<NewObject>,
        /// Records to change.
        records: Vec<RecordChange>,
        /// Where the verdict goes.
        reply: Reply,
    },
}

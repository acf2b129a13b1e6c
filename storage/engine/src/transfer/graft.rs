//! Commits made elsewhere, made again here: on parents that are here, outside of every reference.

use lochan_storage_model::{CommitId, CommitMeta, Micros, ObjectId};
use lochan_storage_odb::{Batch, Change, FailedPrecondition, NewObject, RecordChange};

use crate::{
    engine::Engine,
    error::Error,
    index::{Edit, Tree, forget_saved},
    state::{Indexed, Pending},
    writer::{Draft, checkpoint_due, make, store_checkpoint},
};

/// A commit to be made again.
#[derive(Debug, Clone)]
pub struct Graft {
    /// Its parents here, first parent first; the empty state for a root.
    pub parents: Vec<CommitId>,
    /// Its time; raised to one microsecond after the first parent's where it is not later.
    pub time: Micros,
    /// What it says about itself.
    pub meta: CommitMeta,
    /// Objects that live as long as it does.
    pub attachments: Vec<ObjectId>,
    /// Changes of the index, in key order, one per key.
    pub edits: Vec<Edit>,
    /// Objects to store beside it.
    pub objects: Vec<NewObject>,
}

/// A commit made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grafted {
    /// Its id.
    pub id: CommitId,
    /// Whether its time was raised.
    pub raised: bool,
}

/// Commits made again that are stored in one batch. Dropped before [`Grafting::store`], it leaves nothing behind.
pub struct Grafting {
    engine: Engine,
    change: Change,
    made: Vec<CommitId>,
    last: Option<(CommitId, Indexed)>,
}

impl Engine {
    /// Begins a batch of commits made again.
    #[must_use]
    pub fn graft(&self) -> Grafting {
        Grafting { engine: self.clone(), change: Change::default(), made: Vec::new(), last: None }
    }
}

impl Grafting {
    /// Makes a commit. Fails with [`Error::CommitNotFound`] when a parent is neither stored nor made in this batch.
    pub async fn add(&mut self, graft: Graft) -> Result<Grafted, Error> {
        let core = &self.engine.core;
        let Graft { parents, time, meta, attachments, edits, objects } = graft;
        let mut parents = parents.into_iter();
        let parent = parents.next().unwrap_or(CommitId::NO_ANCESTOR);
        let before = match &self.last {
            Some((last, indexed)) if *last == parent => indexed.clone(),
            _ => core.indexed(parent).await?,
        };
        let operations = edits.len() as u64;
        let merge_parents = parents.collect();
        let draft = Draft { edits, meta, merge_parents, attachments, objects, derived: Vec::new() };
        let on = (parent, core.commits.step(parent).await?);
        let made = match make(core, on, &before.tree, draft.clone(), time).await {
            // A checkpoint has outlived its nodes.
            Err(Error::IndexNode(_)) if !self.made.contains(&parent) => {
                let tree = core.rebuild(parent).await?;
                make(core, on, &tree, draft, time).await?
            }
            made => made?,
        };
        let pending = Pending {
            commits: before.pending.commits + 1,
            operations: before.pending.operations + operations,
        };
        let indexed = Indexed { tree: made.tree, pending };
        core.trees.insert(made.id, indexed.clone());
        self.last = Some((made.id, indexed));
        self.made.push(made.id);
        self.change.objects.extend(made.objects);
        Ok(Grafted { id: made.id, raised: made.commit.header.time > time })
    }

    /// Adds an object that no commit brings along.
    pub fn add_object(&mut self, object: NewObject) {
        self.change.objects.push(object);
    }

    /// Stores everything made so far with `records`, in one batch. Fails with [`Error::RecordChanged`], and stores nothing,
    /// when a record is not in its expected state.
    pub async fn store(mut self, records: Vec<RecordChange>) -> Result<(), Error> {
        self.engine.check_writes()?;
        let mut change = std::mem::take(&mut self.change);
        change.records = records;
        let outcome = self.engine.core.store.commit(Batch { changes: vec![change] }).await?;
        if let Some(refusal) = outcome.refused.into_iter().next() {
            return Err(match refusal.cause {
                FailedPrecondition::Record { .. } => Error::RecordChanged,
                FailedPrecondition::Reference { name, .. } => Error::ReferenceNotFound(name.to_string()),
            });
        }
        for id in std::mem::take(&mut self.made) {
            self.engine.core.commits.synced(id);
        }
        self.checkpoint().await;
        Ok(())
    }

    /// Stores the index of the last commit when many have been made since the last checkpoint, so that neither memory nor a
    /// later start has to hold or replay them all.
    async fn checkpoint(&self) {
        let core = &self.engine.core;
        let Some((id, indexed)) = &self.last else { return };
        if !checkpoint_due(core, &indexed.tree, indexed.pending) {
            return;
        }
        match store_checkpoint(core, *id, &indexed.tree).await {
            Ok(saved) => {
                let tree: Tree = forget_saved(&indexed.tree, &saved);
                core.trees.insert(*id, Indexed { tree, pending: Pending::default() });
            }
            Err(error) => tracing::warn!(commit.id = %id, error = %error, "a checkpoint was not stored"),
        }
    }
}

impl Drop for Grafting {
    fn drop(&mut self) {
        for id in &self.made {
            self.engine.core.commits.forget(*id);
            self.engine.core.trees.remove(id);
        }
    }
}

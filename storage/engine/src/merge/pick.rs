//! Making commits again on another state, one after the other: what transplant and rebase share.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use lochan_storage_model::{Commit, CommitId, CommitMeta, Conflict, ContentKey, Entry, IndexKey, Instant};
use lochan_storage_odb::NewObject;

use super::{
    Detail, Sides,
    decide::{Change, Flavour},
    gather::{check_gathered, check_source, gather},
    renames::InForce,
};
use crate::{
    error::Error,
    index::{Edit, Tree},
    state::{Core, State},
};

/// Commits being made again on a target that grows with them.
pub(super) struct Picks<'a> {
    core: &'a Arc<Core>,
    /// The commit that the first one is put on.
    on: CommitId,
    target: Tree,
    /// Namespaces of the target made of both sides.
    joined: BTreeSet<ContentKey>,
    /// The first word on each key, or a later conflict.
    pub(super) details: BTreeMap<ContentKey, Detail>,
    pub(super) system_conflicts: Vec<Conflict>,
    /// Whether any commit had a conflict.
    pub(super) conflict: bool,
}

/// What one commit comes to on the target.
pub(super) struct Picked {
    /// Changes of the target, in key order; none where it holds everything already.
    pub(super) edits: Vec<Edit>,
    pub(super) objects: Vec<NewObject>,
    pub(super) relied: Vec<(IndexKey, Option<Entry>)>,
    pub(super) prefixes: Vec<Vec<u8>>,
    pub(super) exact: bool,
    /// Whether this commit has a conflict.
    pub(super) conflict: bool,
}

impl<'a> Picks<'a> {
    pub(super) fn new(core: &'a Arc<Core>, on: CommitId, target: Tree) -> Self {
        Self {
            core,
            on,
            target,
            joined: BTreeSet::new(),
            details: BTreeMap::new(),
            system_conflicts: Vec::new(),
            conflict: false,
        }
    }

    /// Applies the changes of the commit `id`, made on `parent`, to the target. A conflict stops nothing: what the commit
    /// wants counts as done for the commits after it, so each mistake is told once.
    pub(super) async fn pick(
        &mut self,
        id: CommitId,
        parent: CommitId,
        changes: &[(IndexKey, Change)],
        in_force: &InForce<'_>,
    ) -> Result<Picked, Error> {
        let core = self.core;
        let before = State::new(core.clone(), parent, core.tree(parent).await?);
        let after = State::new(core.clone(), id, core.tree(id).await?);
        let sides = || Sides {
            base: before.clone(),
            source: after.clone(),
            target: State::new(core.clone(), self.on, self.target.clone()),
        };
        // The rules of namespaces come first, and are about the commit as it stands.
        let read = check_source(core, &self.target, changes).await?;
        let flavour = Flavour::Transplant;
        let mut gathered =
            gather(core, &self.target, changes, in_force, flavour, &self.joined, sides).await?;
        let conflict = gathered.has_conflict();
        if !conflict && !self.conflict {
            check_gathered(core, &self.target, &mut gathered).await?;
            gathered.check_resolved()?;
        }
        gathered.relied.extend(read.entries);
        gathered.prefixes.extend(read.prefixes);
        self.conflict |= conflict;
        for (key, detail) in std::mem::take(&mut gathered.details) {
            if detail.conflict.is_some() || !self.details.contains_key(&key) {
                self.details.insert(key, detail);
            }
        }
        for (key, change) in changes {
            // What is deleted, and made again, is no longer the one that was joined.
            if change.source.is_none()
                && let Some(key) = key.content()
            {
                self.joined.remove(&key);
            }
        }
        self.joined.append(&mut gathered.joined);
        for conflict in std::mem::take(&mut gathered.system_conflicts) {
            // Several of the commits may have changed one value.
            if !self.system_conflicts.contains(&conflict) {
                self.system_conflicts.push(conflict);
            }
        }
        let objects = std::mem::take(&mut gathered.objects);
        let relied = std::mem::take(&mut gathered.relied);
        let prefixes = std::mem::take(&mut gathered.prefixes);
        let exact = gathered.exact;
        let edits = gathered.into_edits();
        self.target = self.target.edit(&core.nodes, &edits).await?;
        Ok(Picked { edits, objects, relied, prefixes, exact, conflict })
    }
}

/// What a commit did to each of its keys.
pub(super) async fn changes_of(core: &Arc<Core>, source: &Commit) -> Result<Vec<(IndexKey, Change)>, Error> {
    let parent = source.header.parent();
    // States heal themselves where stored nodes are lost.
    let before = State::new(core.clone(), parent, core.tree(parent).await?);
    let mut changes = Vec::with_capacity(source.operations.len());
    for operation in &source.operations {
        let base = before.entry(operation.key()).await?;
        changes.push((operation.key().clone(), Change { base, source: operation.entry().cloned() }));
    }
    Ok(changes)
}

/// The metadata of a copy: that of the source, with its time as that of the authors, and a committer of its own.
pub(super) fn meta_of_copy(source: &Commit, committer: &str) -> CommitMeta {
    let mut meta = source.meta.clone();
    meta.author_time = meta.author_time.or_else(|| Some(Instant::from_micros(source.header.time)));
    if meta.authors.is_empty() {
        meta.authors = vec![meta.committer.clone()];
    }
    committer.clone_into(&mut meta.committer);
    meta
}

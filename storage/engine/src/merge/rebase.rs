//! Making the commits of a branch again on top of another reference, and setting the branch there, in one batch.
//!
//! Both references must be where the caller has seen them, so nothing is ever planned twice: the commits are made outside
//! the writer, on a parent that cannot change any more, and the writer checks both references as it writes.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use lochan_storage_model::{Commit, CommitId, Conflict, IndexKey, RefName};
use lochan_storage_odb::{ExpectedReference, NewObject, RefKind, RefOperation, Reference, Requirement};

use super::{
    Detail, Options,
    decide::Change,
    pick::{Picks, changes_of, meta_of_copy},
    plan::check_options,
    renames::InForce,
};
use crate::{
    engine::Engine,
    error::Error,
    graph::{contains, merge_base},
    state::{Core, State},
    writer::{Draft, Who, make},
};

/// Most commits of one rebase.
pub const REBASE_COMMITS_MAX: usize = 10_000;

/// A rebase asked for.
#[derive(Debug, Clone)]
pub struct RebaseRequest {
    /// The branch.
    pub branch: RefName,
    /// Its head, as the caller has seen it.
    pub expected: CommitId,
    /// The reference to rebase on.
    pub onto: RefName,
    /// Its head, as the caller has seen it.
    pub onto_expected: CommitId,
    /// Modes and dry run.
    pub options: Options,
    /// Who asks.
    pub who: Who,
}

/// What was done with a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It was made again, or would be.
    Picked,
    /// The target holds all that it changes.
    Contained,
    /// Some of its keys conflict.
    Conflict,
}

/// A commit that was to be made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebasedCommit {
    /// The commit on the branch before.
    pub old: CommitId,
    /// The commit made of it, if any.
    pub new: Option<CommitId>,
    /// What was done with it.
    pub fate: Fate,
}

/// What became of a rebase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebased {
    /// The branch was set elsewhere.
    pub applied: bool,
    /// No conflict.
    pub successful: bool,
    /// The head before.
    pub old: CommitId,
    /// The head after; `None` for conflicts and for a dry run that would change it.
    pub new: Option<CommitId>,
    /// The nearest commit that both had in common.
    pub base: CommitId,
    /// Commits of the branch that the other reference did not contain, oldest first; none when there was nothing to do.
    pub commits: Vec<RebasedCommit>,
    /// Every key applied, dropped by its mode or in conflict, in key order.
    pub details: Vec<Detail>,
    /// Conflicts of the system map.
    pub system_conflicts: Vec<Conflict>,
}

impl Engine {
    /// Commits of `head` along first parents that `onto` does not contain, oldest first.
    pub async fn commits_to_rebase(&self, head: CommitId, onto: CommitId) -> Result<Vec<CommitId>, Error> {
        let commits = &self.core.commits;
        // Whatever lies below a contained commit is contained too, so the border is found by halves.
        let (mut contained, mut own) = (0, commits.depth(head).await? + 1);
        while contained + 1 < own {
            let middle = contained + (own - contained) / 2;
            let id = commits.ancestor_at(head, middle).await?;
            if contains(commits, onto, id).await? { contained = middle } else { own = middle }
        }
        let count = usize::try_from(commits.depth(head).await? - contained).unwrap_or(usize::MAX);
        if count > REBASE_COMMITS_MAX {
            return Err(Error::BadRequest(format!(
                "at most {REBASE_COMMITS_MAX} commits can be rebased at once, the branch has {count}"
            )));
        }
        let mut found = Vec::with_capacity(count);
        let mut at = head;
        while found.len() < count {
            found.push(at);
            at = commits.load(at).await?.header.parent();
        }
        found.reverse();
        Ok(found)
    }

    /// Rebases a branch. Conflicts are part of the outcome; those of namespaces are [`Error::Conflicts`]. Fails with
    /// [`Error::UnexpectedHash`] when one of the two references is not where it is expected.
    pub async fn rebase(&self, request: RebaseRequest) -> Result<Rebased, Error> {
        check_options(&request.options)?;
        let RebaseRequest { branch, expected, onto, onto_expected, options, who } = request;
        if branch == onto {
            return Err(Error::BadRequest("a branch cannot be rebased on itself".into()));
        }
        let found = self.expect_at(&branch, expected).await?;
        if found.kind != RefKind::Branch {
            return Err(Error::NotABranch(branch));
        }
        let target = self.expect_at(&onto, onto_expected).await?;
        let base = merge_base(&self.core.commits, target.target, expected).await?;
        let mut outcome = Rebased {
            applied: false,
            successful: true,
            old: expected,
            new: Some(expected),
            base,
            commits: Vec::new(),
            details: Vec::new(),
            system_conflicts: Vec::new(),
        };
        if contains(&self.core.commits, expected, target.target).await? {
            // The branch stands on the other one already.
            return Ok(outcome);
        }
        let drafts = self.pick_all(&target, &options, &who, &mut outcome).await?;
        if !outcome.successful || options.dry_run {
            outcome.new = None;
            return Ok(outcome);
        }
        let (made, objects) = self.make_all(target.target, drafts).await?;
        let forget = || made.iter().for_each(|id| self.core.commits.forget(*id));
        let head = made.last().copied().unwrap_or(target.target);
        let change = self.change(
            &branch,
            ExpectedReference::At(RefKind::Branch, expected),
            Some((RefKind::Branch, head)),
            RefOperation::Rebase,
            who.clone(),
        );
        let unmoved = Requirement::Reference(onto.clone(), ExpectedReference::At(target.kind, onto_expected));
        let written =
            self.change_references(&who.admission, vec![change], vec![unmoved], objects, Vec::new()).await;
        match written {
            Ok(()) => made.iter().for_each(|id| self.core.commits.synced(*id)),
            Err(error) => {
                forget();
                return Err(match error {
                    Error::ReferenceMoved(found) if found.name == branch => {
                        Error::UnexpectedHash { expected, found }
                    }
                    Error::ReferenceMoved(found) => Error::UnexpectedHash { expected: onto_expected, found },
                    error => error,
                });
            }
        }
        let mut ids = made.into_iter();
        for commit in outcome.commits.iter_mut().filter(|commit| commit.fate == Fate::Picked) {
            commit.new = ids.next();
        }
        Ok(Rebased { applied: true, new: Some(head), ..outcome })
    }

    /// Plans every commit on the target; tells in `outcome` what comes of it.
    async fn pick_all(
        &self,
        target: &Reference,
        options: &Options,
        who: &Who,
        outcome: &mut Rebased,
    ) -> Result<Vec<Draft>, Error> {
        let core = &self.core;
        let on = target.target;
        let mut picks = Picks::new(core, on, core.tree(on).await?);
        let mut drafts = Vec::new();
        for old in self.commits_to_rebase(outcome.old, on).await? {
            let source = core.commits.load(old).await?;
            let (contained, merge_parents) = self.split_merge_parents(&source, on).await?;
            let changes = own_changes(core, old, &source, &contained).await?;
            let picked =
                picks.pick(old, source.header.parent(), &changes, &InForce::of(options, &changes)).await?;
            let fate = match () {
                () if picked.conflict => Fate::Conflict,
                () if picked.edits.is_empty() && merge_parents.is_empty() => Fate::Contained,
                () => Fate::Picked,
            };
            outcome.commits.push(RebasedCommit { old, new: None, fate });
            if fate == Fate::Picked {
                drafts.push(Draft {
                    edits: picked.edits,
                    meta: meta_of_copy(&source, &who.principal),
                    merge_parents,
                    attachments: source.attachments.clone(),
                    objects: picked.objects,
                    derived: Vec::new(),
                });
            }
        }
        outcome.successful = !picks.conflict;
        outcome.details = picks.details.into_values().collect();
        outcome.system_conflicts = picks.system_conflicts;
        Ok(drafts)
    }

    /// The merge parents of a commit that `onto` contains, and the others.
    async fn split_merge_parents(
        &self,
        source: &Commit,
        onto: CommitId,
    ) -> Result<(Vec<CommitId>, Vec<CommitId>), Error> {
        let (mut contained, mut others) = (Vec::new(), Vec::new());
        for parent in source.header.parents.iter().skip(1) {
            let is_contained = contains(&self.core.commits, onto, *parent).await?;
            if is_contained { contained.push(*parent) } else { others.push(*parent) }
        }
        Ok((contained, others))
    }

    /// Makes the commits, each on the one before. They are in memory until whoever called says what became of them.
    async fn make_all(
        &self,
        on: CommitId,
        drafts: Vec<Draft>,
    ) -> Result<(Vec<CommitId>, Vec<NewObject>), Error> {
        let core = &self.core;
        let (mut at, mut tree) = (on, core.tree(on).await?);
        let (mut ids, mut objects) = (Vec::with_capacity(drafts.len()), Vec::new());
        for draft in drafts {
            let made =
                async { make(core, (at, core.commits.step(at).await?), &tree, draft, self.now()).await };
            match made.await {
                Ok(made) => {
                    (at, tree) = (made.id, made.tree);
                    ids.push(made.id);
                    objects.extend(made.objects);
                }
                Err(error) => {
                    ids.iter().for_each(|id| core.commits.forget(*id));
                    return Err(error);
                }
            }
        }
        Ok((ids, objects))
    }
}

/// What a commit did to each of its keys, but for what it took as it was from a merge parent that the target contains.
async fn own_changes(
    core: &Arc<Core>,
    id: CommitId,
    source: &Commit,
    contained: &[CommitId],
) -> Result<Vec<(IndexKey, Change)>, Error> {
    let mut changes = changes_of(core, source).await?;
    for parent in contained {
        let merged = State::new(core.clone(), *parent, core.tree(*parent).await?);
        let mut own = Vec::with_capacity(changes.len());
        for (key, change) in changes {
            if merged.entry(&key).await? != change.source {
                own.push((key, change));
            }
        }
        changes = own;
    }
    tracing::trace!(commit.id = %id, changes = changes.len(), "a commit is to be made again");
    Ok(changes)
}

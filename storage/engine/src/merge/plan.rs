//! Planning a merge on a head; and the parts that a transplant shares.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use lochan_storage_model::{CommitId, ContentKey, Entry, IndexKey};
use lochan_storage_odb::{RefKind, RefOperation};

use super::{
    KeyBehavior, MergeRequest, Mode, Options, Outcome, Sides,
    decide::{Change, Flavour},
    gather::{check_gathered, check_source, gather},
    renames::InForce,
    unrelated::were_empty_together,
};
use crate::{
    commit::GivenId,
    error::Error,
    graph::merge_base,
    index::{Range, Tree},
    state::{Core, Head, State},
    writer::{Draft, Landed, Plan, Proposal},
};

/// A merge being planned.
pub(crate) struct MergePlan {
    request: MergeRequest,
    outcome: Option<Outcome>,
}

impl MergePlan {
    pub(crate) const fn new(request: MergeRequest) -> Self {
        Self { request, outcome: None }
    }

    pub(crate) fn outcome(self) -> Outcome {
        self.outcome.unwrap_or_else(|| Outcome::nothing(None, CommitId::NO_ANCESTOR))
    }
}

impl Outcome {
    /// Nothing had to be done on the head `on`.
    pub(super) const fn nothing(base: Option<CommitId>, on: CommitId) -> Self {
        Self {
            applied: false,
            successful: true,
            result: Some(on),
            base,
            on,
            details: Vec::new(),
            system_conflicts: Vec::new(),
        }
    }
}

/// Rules for modes and contents given per key (Nessie API, 9.3).
pub(super) fn check_options(options: &Options) -> Result<(), Error> {
    options.check_keys()?;
    let fault = |key: &ContentKey, behavior: &KeyBehavior| {
        behavior.resolved.as_ref()?;
        let mode = match behavior.mode {
            Mode::Normal if behavior.expected.is_some() => return None,
            Mode::Normal => {
                return Some(format!(
                    "MergeKeyBehavior.resolvedContent requires setting MergeKeyBehavior.expectedTarget as well for key \
                     {key}"
                ));
            }
            Mode::Force => "FORCE",
            Mode::Drop => "DROP",
        };
        Some(format!("MergeKeyBehavior.resolvedContent must be null for MergeBehavior.{mode} for {key}"))
    };
    let faults =
        options.keys.iter().filter_map(|(key, behavior)| Some((behavior.place, fault(key, behavior)?)));
    match faults.min() {
        Some((_, fault)) => Err(Error::BadRequest(fault)),
        None => Ok(()),
    }
}

/// Checks the target of a merge or transplant.
pub(super) async fn check_target(core: &Core, head: &Head, expected: CommitId) -> Result<(), Error> {
    let branch = head.reference.name.clone();
    if head.reference.kind != RefKind::Branch {
        return Err(Error::NotABranch(branch));
    }
    if core.commits.is_ancestor(expected, head.reference.target).await? {
        Ok(())
    } else {
        Err(Error::NotOnBranch { commit: expected, branch })
    }
}

#[async_trait]
impl Plan for MergePlan {
    async fn plan(&mut self, core: &Arc<Core>, head: &Head) -> Result<Option<Proposal>, Error> {
        let from = self.request.from;
        check_target(core, head, self.request.expected).await?;
        if !from.is_no_ancestor() {
            core.commits.load(from).await?;
        }
        let on = head.reference.target;
        let base = merge_base(&core.commits, on, from).await?;
        if base == from {
            self.outcome = Some(Outcome::nothing(Some(base), on));
            return Ok(None);
        }
        if base.is_no_ancestor() && !self.may_start_from_nothing(core, on).await? {
            return Err(Error::NoCommonAncestor { target: on, from });
        }
        check_options(&self.request.options)?;
        let (base_tree, from_tree) = (core.tree(base).await?, core.tree(from).await?);
        // States heal themselves where stored nodes are lost; the head is healed by whoever asked for the plan.
        let base_state = State::new(core.clone(), base, base_tree);
        let from_state = State::new(core.clone(), from, from_tree);
        let mut diff = base_state.diff(&from_state, &Range::all()).await?;
        let mut changes = Vec::new();
        while let Some(entry) = diff.next().await? {
            changes.push((entry.key, Change { base: entry.from, source: entry.to }));
        }
        let sides = || Sides {
            base: base_state.clone(),
            source: from_state.clone(),
            target: State::new(core.clone(), on, head.tree.clone()),
        };
        let in_force = InForce::of(&self.request.options, &changes);
        let nothing_joined = BTreeSet::new();
        let mut gathered =
            gather(core, &head.tree, &changes, &in_force, Flavour::Merge, &nothing_joined, sides).await?;
        self.check_resolved(core, &head.tree, &changes).await?;
        // First the namespaces, then what was asked for in vain, and conflicts of keys last.
        let merged: Vec<_> = changes.iter().filter(|(key, _)| !leaves_out(&in_force.options, key)).collect();
        let read = check_source(core, &head.tree, merged).await?;
        gathered.relied.extend(read.entries);
        gathered.prefixes.extend(read.prefixes);
        self.check_used(&changes, &base_state, &from_state).await?;
        let conflict = gathered.has_conflict();
        if !conflict {
            check_gathered(core, &head.tree, &mut gathered).await?;
            // A dry run of the reference server's has been seen to be fine with any; nothing is stored.
            if !self.request.options.dry_run {
                gathered.check_resolved()?;
            }
        }
        let details = gathered.details.values().cloned().collect();
        let system_conflicts = std::mem::take(&mut gathered.system_conflicts);
        let nothing = Outcome::nothing(Some(base), on);
        if conflict || self.request.options.dry_run {
            self.outcome =
                Some(Outcome { successful: !conflict, result: None, details, system_conflicts, ..nothing });
            return Ok(None);
        }
        self.outcome = Some(Outcome { details, ..nothing });
        if gathered.edits.is_empty() {
            return Ok(None);
        }
        let relied = std::mem::take(&mut gathered.relied);
        let relied_prefixes = std::mem::take(&mut gathered.prefixes);
        let exact = gathered.exact;
        let draft = Draft {
            meta: self.request.meta.clone(),
            merge_parents: vec![from],
            attachments: Vec::new(),
            objects: std::mem::take(&mut gathered.objects),
            derived: Vec::new(),
            edits: gathered.into_edits(),
        };
        Ok(Some(Proposal {
            planned_on: on,
            relied,
            relied_prefixes,
            exact,
            requires: Vec::new(),
            records: Vec::new(),
            drafts: vec![draft],
            operation: RefOperation::Merge,
            who: self.request.who.clone(),
        }))
    }

    fn landed(&mut self, landed: &Landed) {
        if let Some(outcome) = &mut self.outcome {
            outcome.applied = true;
            outcome.on = landed.on;
            outcome.result = Some(landed.head);
        }
    }
}

impl MergePlan {
    /// Whether the empty state serves as merge base. It does where the target is empty itself, and where nothing says that
    /// the two were never empty side by side.
    async fn may_start_from_nothing(&self, core: &Core, on: CommitId) -> Result<bool, Error> {
        match &self.request.source {
            Some(source) if !self.request.unrelated && !on.is_no_ancestor() => {
                were_empty_together(core, &self.request.branch, source).await
            }
            _ => Ok(true),
        }
    }

    /// A content that is given instead of the source's is for a key that the target holds; else it must be one that the
    /// source has held, as the reference server finds no other.
    async fn check_resolved(
        &self,
        core: &Core,
        target: &Tree,
        changes: &[(IndexKey, Change)],
    ) -> Result<(), Error> {
        for (key, behavior) in &self.request.options.keys {
            let Some((GivenId::Id(id), resolved)) = &behavior.resolved else { continue };
            let index_key = key.index_key();
            let resolved = Some(Entry::of(*id, resolved).0);
            let is_new = change_of(changes, &index_key).is_some_and(|change| {
                change.source.is_some() && change.source != resolved && change.base != resolved
            });
            if is_new && target.get(&core.nodes, &index_key).await?.is_none() {
                return Err(Error::BadRequest(format!(
                    "The merge behavior for key {key} has a resolvedContent attribute, but the target does not hold the key."
                )));
            }
        }
        Ok(())
    }

    /// Every key named in the request must be one that the source changed, and a content given for it one to store. One
    /// that is to be left as it is must only be there.
    async fn check_used(
        &self,
        changes: &[(IndexKey, Change)],
        base: &State,
        source: &State,
    ) -> Result<(), Error> {
        let Options { keys, nameless, .. } = &self.request.options;
        let mut unused = Vec::new();
        let mut resolves_nothing = None;
        for (key, behavior) in keys {
            let index_key = key.index_key();
            let used = match change_of(changes, &index_key) {
                Some(change) => {
                    if behavior.resolved.is_some() && change.source.is_none() {
                        resolves_nothing.get_or_insert(key);
                    }
                    true
                }
                None if behavior.mode == Mode::Drop => {
                    base.entry(&index_key).await?.or(source.entry(&index_key).await?).is_some()
                }
                None => false,
            };
            if !used {
                unused.push((behavior.place, key));
            }
        }
        if !unused.is_empty() || *nameless {
            unused.sort_unstable();
            let unused = unused.into_iter().map(|(_, key)| key.clone()).collect();
            let named = keys.len() + usize::from(*nameless);
            return Err(Error::KeysNotUsed { unused, nameless: *nameless, named });
        }
        match resolves_nothing {
            None => Ok(()),
            Some(key) => Err(Error::BadRequest(format!(
                "The merge behavior for key {key} has an unused resolvedContent attribute."
            ))),
        }
    }
}

/// Whether the mode says that nothing is done with this key.
fn leaves_out(options: &Options, key: &IndexKey) -> bool {
    key.content().is_some_and(|key| options.mode_of(&key) == Mode::Drop)
}

/// What the source did to a key, if anything.
fn change_of<'a>(changes: &'a [(IndexKey, Change)], key: &IndexKey) -> Option<&'a Change> {
    let place = changes.binary_search_by(|(changed, _)| changed.cmp(key)).ok()?;
    changes.get(place).map(|(_, change)| change)
}

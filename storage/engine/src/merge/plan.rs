//! Planning a merge on a head; and the parts that a transplant shares.

use std::sync::Arc;

use async_trait::async_trait;
use lochan_storage_model::{CommitId, ContentKey, IndexKey};
use lochan_storage_odb::{RefKind, RefOperation};

use super::{
    KeyBehavior, MergeRequest, Mode, Options, Outcome, Sides,
    decide::{Change, Flavour},
    gather::{check_gathered, gather},
    unrelated::were_empty_together,
};
use crate::{
    error::Error,
    graph::merge_base,
    index::Range,
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
    for (key, behavior) in &options.keys {
        if behavior.resolved.is_none() {
            continue;
        }
        let mode = match behavior.mode {
            Mode::Normal if behavior.expected.is_some() => continue,
            Mode::Normal => {
                return Err(Error::BadRequest(format!(
                    "MergeKeyBehavior.resolvedContent requires setting MergeKeyBehavior.expectedTarget as well for key \
                     {key}"
                )));
            }
            Mode::Force => "FORCE",
            Mode::Drop => "DROP",
        };
        return Err(Error::BadRequest(format!(
            "MergeKeyBehavior.resolvedContent must be null for MergeBehavior.{mode} for {key}"
        )));
    }
    Ok(())
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
        check_options(&self.request.options)?;
        if base.is_no_ancestor() && !self.may_start_from_nothing(core, on).await? {
            return Err(Error::NoCommonAncestor { target: on, from });
        }
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
        let mut gathered =
            gather(core, &head.tree, &changes, &self.request.options, Flavour::Merge, sides).await?;
        // In this order, as the reference server has it: namespaces before anything else.
        check_gathered(core, &head.tree, &mut gathered).await?;
        self.check_used(&changes)?;
        let conflict = gathered.has_conflict();
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

    /// Every key named in the request must be one that the source changed.
    fn check_used(&self, changes: &[(IndexKey, Change)]) -> Result<(), Error> {
        let change = |key: &ContentKey| {
            let index_key = key.index_key();
            let at = changes.binary_search_by(|(changed, _)| changed.cmp(&index_key)).ok()?;
            changes.get(at).map(|(_, change)| change)
        };
        let keys = &self.request.options.keys;
        let unused: Vec<String> =
            keys.keys().filter(|key| change(key).is_none()).map(ToString::to_string).collect();
        if unused.is_empty() {
            let resolves_what_goes = |(key, behavior): &(&ContentKey, &KeyBehavior)| {
                behavior.resolved.is_some() && change(key).is_some_and(|change| change.source.is_none())
            };
            return match keys.iter().find(resolves_what_goes) {
                Some((key, _)) => Err(Error::BadRequest(format!(
                    "The merge behavior for key {key} has an unused resolvedContent attribute."
                ))),
                None => Ok(()),
            };
        }
        Err(Error::BadRequest(format!(
            "Not all merge key behaviors specified in the request have been used. The following keys were not used: [{}]",
            unused.join(", ")
        )))
    }
}

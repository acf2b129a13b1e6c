//! Planning a transplant on a head: each source commit becomes one of its own, on the target as it grows.

use std::{collections::HashSet, sync::Arc};

use async_trait::async_trait;
use lochan_storage_model::{Commit, CommitId, CommitMeta, IndexKey};
use lochan_storage_odb::RefOperation;

use super::{
    Mode, Options, Outcome, TransplantRequest,
    decide::Change,
    pick::{Picks, changes_of, meta_of_copy},
    plan::{check_options, check_target},
    renames::InForce,
};
use crate::{
    error::Error,
    state::{Core, Head, State},
    writer::{Draft, Landed, Plan, Proposal},
};

/// A transplant being planned.
pub(crate) struct TransplantPlan {
    request: TransplantRequest,
    outcome: Option<Outcome>,
}

impl TransplantPlan {
    /// Checks what can be checked without looking at any state.
    pub(crate) fn new(request: TransplantRequest) -> Result<Self, Error> {
        if request.commits.is_empty() {
            return Err(Error::BadRequest("No hashes to transplant given.".into()));
        }
        Ok(Self { request, outcome: None })
    }

    pub(crate) fn outcome(self) -> Outcome {
        self.outcome.unwrap_or_else(|| Outcome::nothing(None, CommitId::NO_ANCESTOR))
    }

    async fn sources(&self, core: &Core) -> Result<Vec<(CommitId, Arc<Commit>)>, Error> {
        let mut sources: Vec<(CommitId, Arc<Commit>)> = Vec::with_capacity(self.request.commits.len());
        for id in &self.request.commits {
            let commit = core.commits.load(*id).await?;
            if sources.last().is_some_and(|(last, _)| *last != commit.header.parent()) {
                return Err(Error::BadRequest("Sequence of hashes is not contiguous.".into()));
            }
            sources.push((*id, commit));
        }
        Ok(sources)
    }

    /// The metadata of a copy, with the overrides where exactly one commit is transplanted.
    fn meta_of(&self, source: &Commit) -> CommitMeta {
        let mut meta = meta_of_copy(source, &self.request.who.principal);
        let overrides = &self.request.overrides;
        if self.request.commits.len() == 1 {
            if let Some(message) = overrides.message.as_ref().filter(|message| !message.is_empty()) {
                meta.message.clone_from(message);
            }
            if !overrides.authors.is_empty() {
                meta.authors.clone_from(&overrides.authors);
            }
            if !overrides.signed_off_by.is_empty() {
                meta.signed_off_by.clone_from(&overrides.signed_off_by);
            }
            if !overrides.properties.is_empty() {
                meta.properties.clone_from(&overrides.properties);
                meta.properties.retain(|_, values| !values.is_empty());
            }
        }
        meta
    }
}

/// Makes contents be compared with the state at `seen` instead of that before the commit `id`.
///
/// The reference server does not take note of a commit that is left out because the target holds all of it: the commits
/// after it are still compared with the state before that one. So an update of what the first one added is told as a
/// conflict, for which there is a mode, and a deletion of it is refused.
async fn look_from(
    core: &Arc<Core>,
    seen: CommitId,
    id: CommitId,
    changes: &mut [(IndexKey, Change)],
    options: &Options,
) -> Result<(), Error> {
    let state = State::new(core.clone(), seen, core.tree(seen).await?);
    for (index_key, change) in changes {
        let Some(key) = index_key.content() else { continue };
        change.base = state.entry(index_key).await?;
        // What is left out by its mode is not looked at.
        let left_out = options.mode_of(&key) == Mode::Drop
            && options.keys.get(&key).is_none_or(|behavior| behavior.expected.is_none());
        if change.base.is_none() && change.source.is_none() && !left_out {
            return Err(Error::BadRequest(format!(
                "Commit '{id}' deletes key '{key}', which a commit before it in the sequence has put; the target holds \
                 all of that one already, so leave it out."
            )));
        }
    }
    Ok(())
}

#[async_trait]
impl Plan for TransplantPlan {
    async fn plan(&mut self, core: &Arc<Core>, head: &Head) -> Result<Option<Proposal>, Error> {
        check_target(core, head, self.request.expected).await?;
        let sources = self.sources(core).await?;
        check_options(&self.request.options)?;
        let on = head.reference.target;
        let mut picks = Picks::new(core, on, head.tree.clone());
        let mut proposal = Proposal {
            planned_on: on,
            relied: Vec::new(),
            relied_prefixes: Vec::new(),
            exact: false,
            requires: Vec::new(),
            records: Vec::new(),
            drafts: Vec::new(),
            operation: RefOperation::Transplant,
            who: self.request.who.clone(),
        };
        let mut grown: HashSet<IndexKey> = HashSet::new();
        // The commit whose state the next one is compared with.
        let mut before = None;
        for (id, source) in &sources {
            let parent = source.header.parent();
            let mut changes = changes_of(core, source).await?;
            let in_force = InForce::of(&self.request.options, &changes);
            let seen = *before.get_or_insert(parent);
            if seen != parent {
                look_from(core, seen, *id, &mut changes, &in_force.options).await?;
            }
            let picked = picks.pick(*id, parent, &changes, &in_force).await?;
            // What this transplant has put there itself is no ground that could move.
            proposal.relied.extend(picked.relied.into_iter().filter(|(key, _)| !grown.contains(key)));
            proposal.relied_prefixes.extend(picked.prefixes);
            proposal.exact |= picked.exact;
            if picked.edits.is_empty() {
                continue;
            }
            before = Some(*id);
            grown.extend(picked.edits.iter().map(|edit| edit.key.clone()));
            proposal.drafts.push(Draft {
                edits: picked.edits,
                meta: self.meta_of(source),
                merge_parents: Vec::new(),
                attachments: Vec::new(),
                objects: picked.objects,
                derived: Vec::new(),
            });
        }
        let Picks { details, system_conflicts, conflict, .. } = picks;
        let details = details.into_values().collect();
        let nothing = Outcome::nothing(None, on);
        if conflict || self.request.options.dry_run {
            self.outcome =
                Some(Outcome { successful: !conflict, result: None, details, system_conflicts, ..nothing });
            return Ok(None);
        }
        self.outcome = Some(Outcome { details, ..nothing });
        Ok(if proposal.drafts.is_empty() { None } else { Some(proposal) })
    }

    fn landed(&mut self, landed: &Landed) {
        if let Some(outcome) = &mut self.outcome {
            outcome.applied = true;
            outcome.on = landed.on;
            outcome.result = Some(landed.head);
        }
    }
}

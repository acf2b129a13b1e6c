//! Planning a transplant on a head: each source commit becomes one of its own, on the target as it grows.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use async_trait::async_trait;
use lochan_storage_model::{Commit, CommitId, CommitMeta, Conflict, ContentKey, IndexKey};
use lochan_storage_odb::RefOperation;

use super::{
    Detail, Outcome, Sides, TransplantRequest,
    decide::{Change, Flavour},
    gather::{check_gathered, gather},
    plan::{check_options, check_target},
};
use crate::{
    error::Error,
    index::Edit,
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
        check_options(&request.options)?;
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

    /// The metadata of a copy: that of the source, with the overrides where exactly one commit is transplanted.
    fn meta_of(&self, source: &Commit) -> CommitMeta {
        let mut meta = source.meta.clone();
        meta.author_time =
            meta.author_time.or_else(|| Some(lochan_storage_model::Instant::from_micros(source.header.time)));
        if meta.authors.is_empty() {
            meta.authors = vec![meta.committer.clone()];
        }
        meta.committer.clone_from(&self.request.who.principal);
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
            }
        }
        meta
    }
}

#[async_trait]
impl Plan for TransplantPlan {
    async fn plan(&mut self, core: &Arc<Core>, head: &Head) -> Result<Option<Proposal>, Error> {
        let sources = self.sources(core).await?;
        check_target(core, head, self.request.expected).await?;
        let on = head.reference.target;
        let mut target = head.tree.clone();
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
        let mut details: BTreeMap<ContentKey, Detail> = BTreeMap::new();
        let mut system_conflicts: Vec<Conflict> = Vec::new();
        let mut conflict = false;
        let mut grown: HashSet<IndexKey> = HashSet::new();
        for (id, source) in &sources {
            let parent = source.header.parent();
            // States heal themselves where stored nodes are lost.
            let before = State::new(core.clone(), parent, core.tree(parent).await?);
            let mut changes = Vec::with_capacity(source.operations.len());
            for operation in &source.operations {
                let base = before.entry(operation.key()).await?;
                changes.push((operation.key().clone(), Change { base, source: operation.entry().cloned() }));
            }
            let after = State::new(core.clone(), *id, core.tree(*id).await?);
            let sides = || Sides {
                base: before.clone(),
                source: after.clone(),
                target: State::new(core.clone(), on, target.clone()),
            };
            let mut gathered =
                gather(core, &target, &changes, &self.request.options, Flavour::Transplant, sides).await?;
            let bad = !gathered.conflicts.is_empty() || !gathered.system_conflicts.is_empty();
            if !bad && !conflict {
                check_gathered(core, &target, &mut gathered).await?;
            }
            conflict |= bad;
            for (key, detail) in std::mem::take(&mut gathered.details) {
                // The first word on a key stays, unless a later one says more.
                let more = detail.conflict.is_some() || detail.mode != super::Mode::Normal;
                if more || !details.contains_key(&key) {
                    details.insert(key, detail);
                }
            }
            for conflict in std::mem::take(&mut gathered.system_conflicts) {
                // Several of the commits may have changed one value.
                if !system_conflicts.contains(&conflict) {
                    system_conflicts.push(conflict);
                }
            }
            // What this transplant has put there itself is no ground that could move.
            let relied = std::mem::take(&mut gathered.relied);
            proposal.relied.extend(relied.into_iter().filter(|(key, _)| !grown.contains(key)));
            proposal.relied_prefixes.append(&mut gathered.prefixes);
            proposal.exact |= gathered.exact;
            if gathered.edits.is_empty() {
                continue;
            }
            let objects = std::mem::take(&mut gathered.objects);
            let edits: Vec<Edit> = gathered.into_edits();
            grown.extend(edits.iter().map(|edit| edit.key.clone()));
            target = target.edit(&core.nodes, &edits).await?;
            proposal.drafts.push(Draft {
                edits,
                meta: self.meta_of(source),
                merge_parents: Vec::new(),
                attachments: Vec::new(),
                objects,
                derived: Vec::new(),
            });
        }
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

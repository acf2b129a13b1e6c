//! Planning a merge on a head; and the parts that a transplant shares.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use async_trait::async_trait;
use lochan_storage_model::{
    CommitId, Conflict, ConflictKind, Content, ContentKey, ContentType, Entry, IndexKey, ObjectKind,
    SystemPath, key::DomainKey,
};
use lochan_storage_odb::{NewObject, RefKind, RefOperation};

use super::{
    Detail, KeyBehavior, MergeRequest, Mode, Options, Outcome, Rule, RuleOutcome, Sides,
    decide::{Change, Decision, Flavour, Treatment, decide},
};
use crate::{
    commit::{NamespaceCheck, check_namespaces},
    error::Error,
    graph::merge_base,
    index::{Edit, Range, Tree},
    state::{Core, Head, State},
    writer::{Draft, Landed, Plan, Proposal},
};

/// A merge being planned.
pub(crate) struct MergePlan {
    request: MergeRequest,
    outcome: Option<Outcome>,
}

impl MergePlan {
    /// Checks what can be checked without looking at any state.
    pub(crate) fn new(request: MergeRequest) -> Result<Self, Error> {
        check_options(&request.options)?;
        Ok(Self { request, outcome: None })
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
        if behavior.resolved.is_some() {
            if behavior.expected.is_none() {
                return Err(Error::BadRequest(format!(
                    "MergeKeyBehavior.resolvedContent requires setting MergeKeyBehavior.expectedTarget as well for key \
                     {key}"
                )));
            }
            let mode = match behavior.mode {
                Mode::Normal => continue,
                Mode::Force => "FORCE",
                Mode::Drop => "DROP",
            };
            return Err(Error::BadRequest(format!(
                "MergeKeyBehavior.resolvedContent must be null for MergeBehavior.{mode} for {key}"
            )));
        }
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

/// Changes of one draft being gathered.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) edits: BTreeMap<IndexKey, Option<Entry>>,
    pub(super) objects: Vec<NewObject>,
    pub(super) details: BTreeMap<ContentKey, Detail>,
    pub(super) conflicts: Vec<Conflict>,
    pub(super) system_conflicts: Vec<Conflict>,
    pub(super) relied: Vec<(IndexKey, Option<Entry>)>,
    pub(super) prefixes: Vec<Vec<u8>>,
    pub(super) namespaces: NamespaceCheck,
    /// A rule has looked at more than can be named.
    pub(super) exact: bool,
}

impl Gathered {
    pub(super) fn into_edits(self) -> Vec<Edit> {
        self.edits.into_iter().map(|(key, entry)| Edit { key, entry }).collect()
    }

    fn has_conflict(&self) -> bool {
        !self.system_conflicts.is_empty() || self.details.values().any(|detail| detail.conflict.is_some())
    }

    fn keep_object(&mut self, object: Option<(lochan_storage_model::ObjectId, Vec<u8>)>) {
        self.objects.extend(object.map(|(id, bytes)| NewObject {
            kind: ObjectKind::Value,
            id,
            bytes: bytes.into(),
        }));
    }
}

/// Applies the source's changes to `target`, deciding key by key.
pub(super) async fn gather(
    core: &Core,
    target: &Tree,
    changes: &[(IndexKey, Change)],
    options: &Options,
    flavour: Flavour,
    sides: impl Fn() -> Sides,
) -> Result<Gathered, Error> {
    let mut out = Gathered::default();
    let mut contents: Vec<(ContentKey, &Change)> = Vec::with_capacity(changes.len());
    let mut systems: Vec<(SystemPath, &IndexKey, &Change)> = Vec::new();
    for (key, change) in changes {
        match key.decode().map_err(|e| Error::corrupt("an index key", e.to_string()))? {
            DomainKey::Content(content) => {
                contents.push((content, change));
            }
            DomainKey::System(path) => systems.push((path, key, change)),
        }
    }
    let mut taken: BTreeSet<ContentKey> = BTreeSet::new();
    for (path, key, change) in systems {
        let head = target.get(&core.nodes, key).await?;
        match core.rules.find(&path) {
            Rule::NotMerged => {}
            Rule::Whole => {
                if head == change.base {
                    out.edits.insert(key.clone(), change.source.clone());
                } else if head != change.source {
                    out.system_conflicts.push(Conflict::on_path(&path));
                }
                out.relied.push((key.clone(), head));
            }
            Rule::Function(rule) => {
                out.exact = true;
                match rule.merge(&path, &sides()).await? {
                    RuleOutcome::Keep => {}
                    RuleOutcome::Conflicts(conflicts) => out.system_conflicts.extend(conflicts),
                    RuleOutcome::Take { value, with } => {
                        let entry = value.map(|json| {
                            let (entry, object) =
                                Entry::of(lochan_storage_model::ContentId::NONE, &Content::System(json));
                            out.keep_object(object);
                            entry
                        });
                        if entry != head {
                            out.edits.insert(key.clone(), entry);
                        }
                        taken.extend(with);
                    }
                }
            }
        }
    }
    for (key, change) in contents {
        let index_key = key.index_key();
        let head = target.get(&core.nodes, &index_key).await?;
        let mut treatment = treatment(&key, options, &mut out);
        if taken.contains(&key) {
            treatment = Treatment { mode: Mode::Force, ..Treatment::default() };
        }
        let decision = match decide(&key, change, head.as_ref(), &treatment, flavour) {
            Decision::Namespaces { source, target } => {
                merge_namespaces(core, &key, &source, &target, treatment.mode, &mut out).await?
            }
            other => other,
        };
        let mode = treatment.mode;
        match decision {
            Decision::Silent | Decision::Namespaces { .. } => {}
            Decision::Drop => {
                out.details.insert(key.clone(), Detail { key, mode, conflict: None });
                continue;
            }
            Decision::Conflict(conflict) => {
                out.conflicts.push(conflict.clone());
                out.details.insert(key.clone(), Detail { key, mode, conflict: Some(conflict) });
            }
            Decision::Apply(entry) => {
                match &entry {
                    Some(entry) => {
                        let is_new = head.as_ref().is_none_or(|head| head.content_id != entry.content_id);
                        if is_new {
                            out.namespaces.new.insert(key.clone(), entry.content_type);
                        }
                        if is_namespace(head.as_ref()) && !is_namespace(Some(entry)) {
                            out.namespaces.deleted_namespaces.push(key.clone());
                        }
                    }
                    None => {
                        // What the target holds goes, whatever stood there at the base.
                        if is_namespace(head.as_ref()) {
                            out.namespaces.deleted_namespaces.push(key.clone());
                        }
                        out.namespaces.deleted.insert(key.clone());
                    }
                }
                out.edits.insert(index_key.clone(), entry);
                out.details.insert(key.clone(), Detail { key, mode, conflict: None });
            }
        }
        out.relied.push((index_key, head));
    }
    Ok(out)
}

fn is_namespace(entry: Option<&Entry>) -> bool {
    entry.is_some_and(|entry| entry.content_type == ContentType::Namespace)
}

/// The treatment of a key, with the objects of contents given for it.
fn treatment(key: &ContentKey, options: &Options, out: &mut Gathered) -> Treatment {
    let Some(KeyBehavior { mode, expected, resolved }) = options.keys.get(key) else {
        return Treatment { mode: options.default_mode, ..Treatment::default() };
    };
    let mut entry_of = |given: &Option<(lochan_storage_model::ContentId, Content)>| {
        given.as_ref().map(|(id, content)| {
            let (entry, object) = Entry::of(*id, content);
            out.keep_object(object);
            entry
        })
    };
    Treatment { mode: *mode, expected: entry_of(expected), resolved: entry_of(resolved) }
}

/// A namespace put on both sides keeps the target's id; properties of both are joined, and a property with two values
/// conflicts (the source's wins under FORCE).
async fn merge_namespaces(
    core: &Core,
    key: &ContentKey,
    source: &Entry,
    target: &Entry,
    mode: Mode,
    out: &mut Gathered,
) -> Result<Decision, Error> {
    let (theirs, ours) = (core.content(source).await?, core.content(target).await?);
    let (Content::Namespace { properties: theirs, .. }, Content::Namespace { elements, properties: ours }) =
        (theirs, ours)
    else {
        return Err(Error::corrupt(format!("namespace {key}"), "it holds another content"));
    };
    let mut joined = ours.clone();
    for (name, value) in theirs {
        match ours.get(&name) {
            Some(own) if *own != value && mode != Mode::Force => {
                return Ok(Decision::Conflict(Conflict::on_key(ConflictKind::ValueDiffers, key)));
            }
            _ => {
                joined.insert(name, value);
            }
        }
    }
    if joined == ours {
        return Ok(Decision::Silent);
    }
    let (entry, object) = Entry::of(target.content_id, &Content::Namespace { elements, properties: joined });
    out.keep_object(object);
    Ok(Decision::Apply(Some(entry)))
}

/// Runs the namespace rules on what was gathered; what they read is relied on too.
pub(super) async fn check_gathered(core: &Core, target: &Tree, out: &mut Gathered) -> Result<(), Error> {
    let (conflicts, read) = check_namespaces(core, target, &out.namespaces).await?;
    if !conflicts.is_empty() {
        return Err(Error::Conflicts(conflicts));
    }
    out.relied.extend(read.entries);
    out.prefixes.extend(read.prefixes);
    Ok(())
}

#[async_trait]
impl Plan for MergePlan {
    async fn plan(&mut self, core: &Arc<Core>, head: &Head) -> Result<Option<Proposal>, Error> {
        let from = self.request.from;
        if !from.is_no_ancestor() {
            core.commits.load(from).await?;
        }
        check_target(core, head, self.request.expected).await?;
        let on = head.reference.target;
        let base = merge_base(&core.commits, on, from).await?;
        if base == from {
            self.outcome = Some(Outcome::nothing(Some(base), on));
            return Ok(None);
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
        self.check_used(&changes)?;
        let conflict = gathered.has_conflict();
        if !conflict {
            check_gathered(core, &head.tree, &mut gathered).await?;
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
    /// Every key named in the request must be one that the source changed.
    fn check_used(&self, changes: &[(IndexKey, Change)]) -> Result<(), Error> {
        let changed = |key: &ContentKey| {
            let index_key = key.index_key();
            changes.binary_search_by(|(changed, _)| changed.cmp(&index_key)).is_ok()
        };
        let unused: Vec<String> =
            self.request.options.keys.keys().filter(|key| !changed(key)).map(ToString::to_string).collect();
        if unused.is_empty() {
            return Ok(());
        }
        Err(Error::BadRequest(format!(
            "Not all merge key behaviors specified in the request have been used. The following keys were not used: [{}]",
            unused.join(", ")
        )))
    }
}

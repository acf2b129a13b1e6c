//! Applying what a source changed to a target, key by key; shared by merges and transplants.

use std::collections::{BTreeMap, BTreeSet};

use lochan_storage_model::{
    Conflict, Content, ContentKey, ContentType, Entry, IndexKey, ObjectKind, SystemPath, key::DomainKey,
};
use lochan_storage_odb::NewObject;

use super::{
    Detail, KeyBehavior, Mode, Options, Rule, RuleOutcome, Sides,
    decide::{Change, Decision, Flavour, Treatment, decide},
    renames::{InForce, moved_away},
};
use crate::{
    commit::{GivenId, NamespaceCheck, Read, check_namespaces},
    error::Error,
    index::{Edit, Tree},
    state::Core,
};

/// Changes of one draft being gathered.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) edits: BTreeMap<IndexKey, Option<Entry>>,
    pub(super) objects: Vec<NewObject>,
    pub(super) details: BTreeMap<ContentKey, Detail>,
    pub(super) system_conflicts: Vec<Conflict>,
    pub(super) relied: Vec<(IndexKey, Option<Entry>)>,
    pub(super) prefixes: Vec<Vec<u8>>,
    pub(super) namespaces: NamespaceCheck,
    /// Namespaces made of what both sides say.
    pub(super) joined: BTreeSet<ContentKey>,
    /// A rule has looked at more than can be named.
    pub(super) exact: bool,
    /// Contents given instead of the source's and put in their place, each with its place among the behaviors.
    resolved: Vec<Resolved>,
}

/// A content given instead of the source's.
struct Resolved {
    place: usize,
    key: ContentKey,
    given: Entry,
    /// What it may be another state of: what the target holds there, and what the source has put.
    known: Vec<Entry>,
}

impl Gathered {
    pub(super) fn into_edits(self) -> Vec<Edit> {
        self.edits.into_iter().map(|(key, entry)| Edit { key, entry }).collect()
    }

    /// Notes that `key`, which holds `head` on the target, shall hold `entry`, and what that means for namespaces.
    fn put(&mut self, key: &ContentKey, head: Option<&Entry>, entry: Option<Entry>) {
        let is_namespace =
            |entry: Option<&Entry>| entry.is_some_and(|entry| entry.content_type == ContentType::Namespace);
        // What the target holds goes, whatever stood there at the base.
        if is_namespace(head) && !is_namespace(entry.as_ref()) {
            self.namespaces.deleted_namespaces.push(key.clone());
        }
        match &entry {
            // Where the target holds anything, the namespaces above it are there.
            Some(entry) if head.is_none() => {
                self.namespaces.new.insert(key.clone(), entry.content_type);
            }
            Some(_) => {}
            None => {
                self.namespaces.deleted.insert(key.clone());
            }
        }
        self.edits.insert(key.index_key(), entry);
    }

    /// A content that is given must be another state of one that the target or the source has under the key, and of none that
    /// goes to another key as well; else one content would stand under two keys, or change its type, as no commit can do it.
    pub(super) fn check_resolved(&self) -> Result<(), Error> {
        let faults =
            self.resolved.iter().filter_map(|resolved| Some((resolved.place, self.fault(resolved)?)));
        faults.min().map_or(Ok(()), |(_, fault)| Err(Error::BadRequest(fault)))
    }

    fn fault(&self, Resolved { key, given, known, .. }: &Resolved) -> Option<String> {
        let same = known.iter().filter(|entry| entry.content_id == given.content_id);
        let mut types = same.map(|entry| entry.content_type).peekable();
        if types.peek().is_none() {
            let ids: BTreeSet<String> = known.iter().map(|entry| entry.content_id.to_string()).collect();
            let ids = ids.into_iter().collect::<Vec<_>>().join(" or ");
            return Some(format!(
                "The resolvedContent for key {key} must have the content ID {ids}, not {}.",
                given.content_id
            ));
        }
        if !types.any(|held| held == given.content_type) {
            return Some(format!(
                "The resolvedContent for key {key} must be of the type that the content with its ID has."
            ));
        }
        let gets_it =
            |entry: &Option<Entry>| entry.as_ref().is_some_and(|e| e.content_id == given.content_id);
        let mut others = self.edits.iter().filter(|(at, entry)| **at != key.index_key() && gets_it(entry));
        let other = others.next()?.0.content()?;
        Some(format!(
            "The resolvedContent for key {key} has the content ID {}, and the source has moved that content to key {other}.",
            given.content_id
        ))
    }

    pub(super) fn has_conflict(&self) -> bool {
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

/// Applies the source's changes to `target`, deciding key by key. Changes in conflict are among the edits, as if they were
/// forced: what is checked next, and later commits of a sequence, see them. `joined` are namespaces of the target made of
/// both sides by earlier commits of the sequence.
pub(super) async fn gather(
    core: &Core,
    target: &Tree,
    changes: &[(IndexKey, Change)],
    in_force: &InForce<'_>,
    flavour: Flavour,
    joined: &BTreeSet<ContentKey>,
    sides: impl Fn() -> Sides,
) -> Result<Gathered, Error> {
    let mut out = Gathered::default();
    let options = &*in_force.options;
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
    // Contents that the target does not hold any more where they were, which force passes over.
    let mut overruled = BTreeSet::new();
    for (key, change) in contents {
        let index_key = key.index_key();
        let head = target.get(&core.nodes, &index_key).await?;
        let mut treatment = treatment(&key, change, options, flavour, &mut out)?;
        if taken.contains(&key) {
            treatment = Treatment { mode: Mode::Force, ..Treatment::default() };
        }
        let mode = treatment.mode;
        if let Some(base) = change.base.as_ref().filter(|_| mode == Mode::Force)
            && head.as_ref().is_none_or(|head| head.content_id != base.content_id)
        {
            overruled.insert(base.content_id);
        }
        // Nobody but the source has touched what an earlier commit of the sequence joined, but for adding to it.
        let joined = joined.contains(&key) && treatment.expected.is_none();
        let seen = if joined { change.base.as_ref() } else { head.as_ref() };
        match in_force.bound(&key, decide(&key, change, seen, &treatment, flavour)) {
            Decision::Silent => {}
            Decision::Drop => {
                out.details.insert(key.clone(), Detail { key, mode, conflict: None });
                // The namespace rules look at it in a transplant, and at nothing of it in a merge.
                if flavour == Flavour::Merge {
                    continue;
                }
            }
            Decision::Conflict { conflict, wanted } => {
                out.put(&key, head.as_ref(), wanted);
                out.details.insert(key.clone(), Detail { key, mode, conflict: Some(conflict) });
            }
            Decision::Apply(Some(source)) if joined => {
                let entry = match (&change.base, &head) {
                    (Some(base), Some(target)) => {
                        join_namespaces(core, &key, Some(base), source, target, &mut out).await?
                    }
                    _ => source,
                };
                out.put(&key, head.as_ref(), Some(entry));
                out.details.insert(key.clone(), Detail { key, mode, conflict: None });
            }
            Decision::Apply(entry) => {
                if let Some(given) = treatment.resolved {
                    out.resolved.push(Resolved {
                        place: options.keys.get(&key).map_or(0, |behavior| behavior.place),
                        key: key.clone(),
                        given,
                        known: head.iter().chain(&change.source).cloned().collect(),
                    });
                }
                out.put(&key, head.as_ref(), entry);
                out.details.insert(key.clone(), Detail { key, mode, conflict: None });
            }
            Decision::Namespaces { source, target } => {
                let entry = join_namespaces(core, &key, None, source, &target, &mut out).await?;
                out.put(&key, head.as_ref(), Some(entry));
            }
        }
        out.relied.push((index_key, head));
    }
    if !overruled.is_empty() {
        // It looks through all that the target has changed, whatever the keys.
        out.exact = true;
        for (key, holder) in moved_away(&overruled, &out.edits, &sides()).await? {
            let mode = options.mode_of(&key);
            let detail = out.details.entry(key.clone()).or_insert(Detail { key, mode, conflict: None });
            detail.conflict.get_or_insert_with(|| Conflict::on_held(&detail.key, &holder));
        }
    }
    Ok(out)
}

/// The treatment of a key, with the objects of contents given for it.
fn treatment(
    key: &ContentKey,
    change: &Change,
    options: &Options,
    flavour: Flavour,
    out: &mut Gathered,
) -> Result<Treatment, Error> {
    let Some(KeyBehavior { mode, expected, resolved, .. }) = options.keys.get(key) else {
        return Ok(Treatment { mode: options.default_mode, ..Treatment::default() });
    };
    if flavour == Flavour::Merge && *mode == Mode::Drop {
        return Ok(Treatment { mode: *mode, ..Treatment::default() });
    }
    let mut entry_of = |given: &Option<(GivenId, Content)>| {
        let Some((id, content)) = given else { return Ok(None) };
        let bad = |message: String| Err(Error::BadRequest(message));
        let id = match id {
            GivenId::Id(id) => *id,
            GivenId::New => return bad("Content to store must have a non-null content ID".into()),
            GivenId::Text(text) => return bad(format!("Invalid UUID string: {text}")),
        };
        let (entry, object) = Entry::of(id, content);
        out.keep_object(object);
        Ok(Some(entry))
    };
    let expected = entry_of(expected)?;
    // A deletion stores nothing.
    let resolved = if change.source.is_some() { entry_of(resolved)? } else { None };
    Ok(Treatment { mode: *mode, expected, resolved })
}

/// A namespace put on both sides takes the source's id, as the reference server has it; but what only the target says
/// stays. Of a property that both name the source's value counts, and one that the source has removed since `base` goes.
async fn join_namespaces(
    core: &Core,
    key: &ContentKey,
    base: Option<&Entry>,
    source: Entry,
    target: &Entry,
    out: &mut Gathered,
) -> Result<Entry, Error> {
    let before = match base {
        Some(base) => core.content(base).await?,
        None => Content::Namespace { elements: Vec::new(), properties: BTreeMap::new() },
    };
    let (theirs, ours) = (core.content(&source).await?, core.content(target).await?);
    let (
        Content::Namespace { properties: before, .. },
        Content::Namespace { elements, properties: theirs },
        Content::Namespace { properties: mut joined, .. },
    ) = (before, theirs, ours)
    else {
        // Something else was put where they stood.
        return Ok(source);
    };
    joined.retain(|name, _| theirs.contains_key(name) || !before.contains_key(name));
    joined.extend(theirs.iter().map(|(name, value)| (name.clone(), value.clone())));
    out.joined.insert(key.clone());
    if joined == theirs {
        return Ok(source);
    }
    let (entry, object) = Entry::of(source.content_id, &Content::Namespace { elements, properties: joined });
    out.keep_object(object);
    Ok(entry)
}

/// Runs the namespace rules on what was gathered; what they read is relied on too.
pub(super) async fn check_gathered(core: &Core, target: &Tree, out: &mut Gathered) -> Result<(), Error> {
    let read = check(core, target, &out.namespaces).await?;
    out.relied.extend(read.entries);
    out.prefixes.extend(read.prefixes);
    Ok(())
}

/// Runs the namespace rules on what a source commit did, whatever of it is applied.
pub(super) async fn check_source(
    core: &Core,
    target: &Tree,
    changes: impl IntoIterator<Item = &(IndexKey, Change)>,
) -> Result<Read, Error> {
    let mut done = NamespaceCheck::default();
    for (key, change) in changes {
        let Some(content) = key.content() else { continue };
        match &change.source {
            Some(source) => {
                if target.get(&core.nodes, key).await?.is_none() {
                    done.new.insert(content, source.content_type);
                }
            }
            None => {
                if change.base.as_ref().is_some_and(|base| base.content_type == ContentType::Namespace) {
                    done.deleted_namespaces.push(content.clone());
                }
                done.deleted.insert(content);
            }
        }
    }
    check(core, target, &done).await
}

async fn check(core: &Core, target: &Tree, done: &NamespaceCheck) -> Result<Read, Error> {
    let (conflicts, read) = check_namespaces(core, target, done).await?;
    if conflicts.is_empty() { Ok(read) } else { Err(Error::Conflicts(conflicts)) }
}

//! What merges and transplants mean (Nessie API, 9), with what Lochan does otherwise.

use std::collections::{BTreeMap, BTreeSet};

use lochan_storage_engine::commit::GivenId;
use lochan_storage_engine::merge::{KeyBehavior, Mode, Options};
use lochan_storage_model::{CommitId, ConflictKind, Content, ContentKey};

use super::commit::{Conflicts, Refusal, differs};
use super::graph::Graph;
use super::moves::{Counting, counting, doubled};
use super::namespaces::{self, Concerns};
use super::state::{Changes, Held, Planned, State, Wanted};

/// First element of paths that never move by a merge, as the engines under test are told.
pub const NOT_MERGED: &str = "local";

/// What is said of a key: the mode, and the conflict if there is one.
pub type Details = BTreeMap<ContentKey, (Mode, Option<ConflictKind>)>;

/// What becomes of a merge or transplant that is not refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Commits to make, in order; none for conflicts and dry runs, and where nothing is left to do.
    pub commits: Vec<Planned>,
    /// Whether nothing conflicts.
    pub successful: bool,
    /// What is said of keys.
    pub details: Details,
    /// Paths of the system map in conflict.
    pub system_conflicts: BTreeSet<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Merge,
    Transplant,
}

/// One side's change of one key.
struct Change<'a> {
    base: Option<&'a Held>,
    source: Option<&'a Held>,
}

enum Verdict {
    /// The target holds this from now on; told or not.
    Takes(Option<Held>, bool),
    /// The target stays as it is; told or not.
    Stays(bool),
    /// It conflicts, and would hold this.
    Conflict(ConflictKind, Option<Held>),
}

/// A content given for a key; without an id it is worth nothing.
fn held(given: Option<&(GivenId, Content)>) -> Result<Option<Held>, Refusal> {
    match given {
        None => Ok(None),
        Some((GivenId::Id(id), content)) => Ok(Some(Held { id: *id, content: content.clone() })),
        Some(_) => Err(Refusal::Bad),
    }
}

fn judge(
    change: &Change<'_>,
    head: Option<&Held>,
    mode: Mode,
    own: Option<&KeyBehavior>,
    kind: Kind,
) -> Result<Verdict, Refusal> {
    if mode == Mode::Drop && kind == Kind::Merge {
        return Ok(Verdict::Stays(true));
    }
    let expected = held(own.and_then(|own| own.expected.as_ref()))?;
    let wanted = match change.source {
        None => None,
        Some(source) => {
            let resolved = held(own.and_then(|own| own.resolved.as_ref()))?;
            Some(resolved.unwrap_or_else(|| source.clone()))
        }
    };
    if mode == Mode::Drop && expected.is_none() {
        return Ok(Verdict::Stays(true));
    }
    // A merge looks for the content that was there before, a transplant for the one that it puts.
    let known = match kind {
        Kind::Merge => change.base.or(change.source),
        Kind::Transplant => change.source.or(change.base),
    };
    let conflict = match (expected.as_ref().or(change.base), known, head) {
        (None, _, None) | (_, None, None) => None,
        (None, _, Some(_)) | (_, None, Some(_)) => Some(ConflictKind::KeyExists),
        (Some(value), Some(known), head) => match differs(known, head) {
            None | Some(ConflictKind::ValueDiffers) => {
                (head != Some(value)).then_some(ConflictKind::ValueDiffers)
            }
            conflict => conflict,
        },
    };
    Ok(match conflict {
        None if mode == Mode::Drop => Verdict::Stays(true),
        None => Verdict::Takes(wanted, true),
        Some(conflict) if expected.is_some() => Verdict::Conflict(conflict, wanted),
        Some(conflict) => match (change.base, change.source, head) {
            (None, Some(source), Some(head)) if source == head => Verdict::Stays(false),
            (None, Some(source), Some(head)) if source.is_namespace() && head.is_namespace() => {
                Verdict::Takes(Some(joined(None, source, head)), false)
            }
            _ if mode == Mode::Force => Verdict::Takes(wanted, true),
            _ => Verdict::Conflict(conflict, wanted),
        },
    })
}

/// A namespace put on both sides: the source's id, the properties of both, the source's value where both name one, and
/// without those that the source has removed since `base`.
fn joined(base: Option<&Held>, source: &Held, head: &Held) -> Held {
    let properties = |held: &Held| match &held.content {
        Content::Namespace { properties, .. } => Some(properties.clone()),
        _ => None,
    };
    let before = base.map_or_else(|| Some(BTreeMap::new()), properties);
    let (Some(before), Some(theirs), Some(ours), Content::Namespace { elements, .. }) =
        (before, properties(source), properties(head), &source.content)
    else {
        return source.clone();
    };
    let mut all: BTreeMap<String, String> =
        ours.into_iter().filter(|(name, _)| !before.contains_key(name)).collect();
    all.extend(theirs);
    Held { id: source.id, content: Content::Namespace { elements: elements.clone(), properties: all } }
}

/// What one source commit, or all of them squashed, does to the target. What conflicts is done too.
struct Part {
    taken: Changes,
    details: Details,
    system_conflicts: BTreeSet<String>,
    concerns: Concerns,
    /// Namespaces made of both sides.
    joined: BTreeSet<ContentKey>,
    /// Whether a content given instead of the source's is none that may stand there.
    foreign: bool,
}

impl Part {
    fn of(
        before: &State,
        parent: &State,
        changes: &Changes,
        target: &State,
        Counting { options, torn }: &Counting,
        kind: Kind,
        joined_before: &BTreeSet<ContentKey>,
    ) -> Result<Self, Refusal> {
        let mut part = Self {
            taken: Changes::default(),
            details: Details::new(),
            system_conflicts: BTreeSet::new(),
            concerns: Concerns::default(),
            joined: BTreeSet::new(),
            foreign: false,
        };
        let mut resolved: Vec<(&ContentKey, Held, [Option<&Held>; 2])> = Vec::new();
        for (path, source) in &changes.system {
            if path.elements().first().is_some_and(|first| &**first == NOT_MERGED) {
                continue;
            }
            let (base, head) = (before.system.get(path), target.system.get(path));
            if base == head {
                part.taken.system.insert(path.clone(), source.clone());
            } else if head != source.as_ref() {
                part.system_conflicts.insert(path.to_string());
            }
        }
        for (key, source) in &changes.contents {
            let own = options.keys.get(key);
            let mode = options.mode_of(key);
            let change = Change { base: before.contents.get(key), source: source.as_ref() };
            let head = target.contents.get(key);
            // A namespace that an earlier commit has joined is where the source left it, as far as the source goes.
            let ours = joined_before.contains(key) && own.is_none_or(|own| own.expected.is_none());
            let verdict = match judge(&change, if ours { change.base } else { head }, mode, own, kind)? {
                Verdict::Takes(wanted, true) if torn.contains(key) => {
                    Verdict::Conflict(ConflictKind::KeyConflict, wanted)
                }
                verdict => verdict,
            };
            let conflict = if let Verdict::Conflict(conflict, _) = &verdict { Some(*conflict) } else { None };
            match verdict {
                Verdict::Stays(told) => {
                    if told {
                        part.details.insert(key.clone(), (mode, None));
                    }
                }
                Verdict::Conflict(_, wanted) => {
                    part.take(key, head, wanted);
                    part.details.insert(key.clone(), (mode, conflict));
                }
                Verdict::Takes(mut wanted, told) => {
                    if own.is_some_and(|own| own.resolved.is_some()) {
                        resolved.extend(wanted.clone().map(|given| (key, given, [head, source.as_ref()])));
                    }
                    if ours && let (Some(base), Some(source), Some(head)) = (change.base, &wanted, head) {
                        wanted = Some(joined(Some(base), source, head));
                    }
                    let both = head.is_some_and(Held::is_namespace)
                        && wanted.as_ref().is_some_and(Held::is_namespace);
                    if both && (ours || !told) {
                        part.joined.insert(key.clone());
                    }
                    part.take(key, head, wanted);
                    if told {
                        part.details.insert(key.clone(), (mode, None));
                    }
                }
            }
        }
        for key in doubled(before, parent, &part.taken, target, options) {
            let told = part.details.entry(key.clone()).or_insert((options.mode_of(&key), None));
            told.1.get_or_insert(ConflictKind::KeyConflict);
        }
        // It is a state of what the target or the source has there, and of nothing that goes elsewhere.
        part.foreign = resolved.into_iter().any(|(key, given, known)| {
            let is_of = |held: &&Held| held.id == given.id && held.content_type() == given.content_type();
            let goes = |(at, held): (&ContentKey, &Option<Held>)| {
                at != key && held.as_ref().is_some_and(|held| held.id == given.id)
            };
            !known.iter().flatten().any(is_of) || part.taken.contents.iter().any(goes)
        });
        Ok(part)
    }

    fn take(&mut self, key: &ContentKey, head: Option<&Held>, wanted: Option<Held>) {
        let ends = head.is_some_and(Held::is_namespace) && !wanted.as_ref().is_some_and(Held::is_namespace);
        if ends {
            self.concerns.ended.insert(key.clone());
        }
        match &wanted {
            None => {
                self.concerns.deleted.insert(key.clone());
            }
            Some(wanted) if head.is_none() => {
                self.concerns.new.insert(key.clone(), wanted.content_type());
            }
            Some(_) => {}
        }
        self.taken.contents.insert(key.clone(), wanted);
    }

    fn check_foreign(&self) -> Result<(), Refusal> {
        if self.foreign { Err(Refusal::Bad) } else { Ok(()) }
    }

    fn conflicts(&self) -> bool {
        !self.system_conflicts.is_empty() || self.details.values().any(|(_, conflict)| conflict.is_some())
    }
}

fn check_namespaces(target: &State, concerns: &Concerns) -> Result<(), Refusal> {
    let conflicts: Conflicts = namespaces::check(target, concerns);
    if conflicts.is_empty() { Ok(()) } else { Err(Refusal::Conflicts(conflicts)) }
}

/// What concerns namespaces in a source commit as it stands.
fn concerns_of(before: &State, changes: &Changes, target: &State) -> Concerns {
    let mut concerns = Concerns::default();
    for (key, source) in &changes.contents {
        match source {
            Some(held) if !target.contents.contains_key(key) => {
                concerns.new.insert(key.clone(), held.content_type());
            }
            Some(_) => {}
            None => {
                concerns.deleted.insert(key.clone());
                if before.contents.get(key).is_some_and(Held::is_namespace) {
                    concerns.ended.insert(key.clone());
                }
            }
        }
    }
    concerns
}

fn planned(changes: &Changes) -> Planned {
    let contents = &changes.contents;
    Planned {
        contents: contents.iter().map(|(key, held)| (key.clone(), held.clone().map(Wanted::from))).collect(),
        system: changes.system.clone(),
    }
}

/// What can be refused by looking at nothing but the options.
fn check_alone(options: &Options) -> Result<(), Refusal> {
    let bad =
        |own: &KeyBehavior| own.resolved.is_some() && (own.expected.is_none() || own.mode != Mode::Normal);
    if options.keys.values().any(bad) { Err(Refusal::Bad) } else { Ok(()) }
}

/// A merge of `from` into `head` over `base`, their merge base.
pub fn merge(
    graph: &Graph,
    head: CommitId,
    from: CommitId,
    base: CommitId,
    options: &Options,
) -> Result<Answer, Refusal> {
    let nothing = Answer {
        commits: Vec::new(),
        successful: true,
        details: Details::new(),
        system_conflicts: BTreeSet::new(),
    };
    if base == from {
        return Ok(nothing);
    }
    check_alone(options)?;
    let (before, after, target) = (graph.state(base), graph.state(from), graph.state(head));
    let changes = Changes::between(&before, &after);
    let counting = counting(&before.contents, &changes, options);
    let part = Part::of(&before, &before, &changes, &target, &counting, Kind::Merge, &BTreeSet::new())?;
    let for_nothing = |(key, own): (&ContentKey, &KeyBehavior)| {
        let Some(Some(put)) = changes.contents.get(key) else { return false };
        let resolved = held(own.resolved.as_ref()).ok().flatten();
        let is_new =
            resolved.is_some_and(|resolved| resolved != *put && before.contents.get(key) != Some(&resolved));
        is_new && !target.contents.contains_key(key)
    };
    if options.keys.iter().any(for_nothing) {
        return Err(Refusal::Bad);
    }
    let mut merged = changes.clone();
    merged.contents.retain(|key, _| counting.options.mode_of(key) != Mode::Drop);
    check_namespaces(&target, &concerns_of(&before, &merged, &target))?;
    let is_there = |key: &ContentKey| before.contents.contains_key(key) || after.contents.contains_key(key);
    let in_vain = |(key, own): (&ContentKey, &KeyBehavior)| match changes.contents.get(key) {
        None => own.mode != Mode::Drop || !is_there(key),
        Some(source) => source.is_none() && own.resolved.is_some(),
    };
    if options.keys.iter().any(in_vain) {
        return Err(Refusal::Bad);
    }
    let successful = !part.conflicts();
    if successful {
        check_namespaces(&target, &part.concerns)?;
        if !options.dry_run {
            part.check_foreign()?;
        }
    }
    let planned = planned(&part.taken);
    let writes = successful && !options.dry_run && !planned.is_empty();
    Ok(Answer {
        commits: if writes { vec![planned] } else { Vec::new() },
        successful,
        details: part.details,
        system_conflicts: part.system_conflicts,
    })
}

/// A transplant of commits onto `head`, oldest first.
pub fn transplant(
    graph: &Graph,
    head: CommitId,
    commits: &[CommitId],
    options: &Options,
) -> Result<Answer, Refusal> {
    check_alone(options)?;
    let mut target = (*graph.state(head)).clone();
    let mut answer = Answer {
        commits: Vec::new(),
        successful: true,
        details: Details::new(),
        system_conflicts: BTreeSet::new(),
    };
    let mut joined = BTreeSet::new();
    // The state that contents are compared with; one that is left out is none.
    let mut last: Option<CommitId> = None;
    for id in commits {
        let made = graph.get(*id).ok_or(Refusal::NoCommit)?;
        let parent = made.parents.first().copied().unwrap_or(CommitId::NO_ANCESTOR);
        let last_is_parent = last.is_none_or(|last| last == parent);
        let contents = graph.state(*last.get_or_insert(parent)).contents.clone();
        let on = graph.state(parent);
        let before = State { contents, system: on.system.clone() };
        let counting = counting(&on.contents, &made.changes, options);
        let gone = |(key, source): (&ContentKey, &Option<Held>)| {
            let expected = options.keys.get(key).is_some_and(|own| own.expected.is_some());
            let looked_at = expected || counting.options.mode_of(key) != Mode::Drop;
            source.is_none() && looked_at && !before.contents.contains_key(key)
        };
        if !last_is_parent && made.changes.contents.iter().any(gone) {
            return Err(Refusal::Bad);
        }
        check_namespaces(&target, &concerns_of(&before, &made.changes, &target))?;
        let part = Part::of(&before, &on, &made.changes, &target, &counting, Kind::Transplant, &joined)?;
        if answer.successful && !part.conflicts() {
            check_namespaces(&target, &part.concerns)?;
            part.check_foreign()?;
        }
        answer.successful &= !part.conflicts();
        for (key, (mode, conflict)) in part.details {
            if conflict.is_some() || !answer.details.contains_key(&key) {
                answer.details.insert(key, (mode, conflict));
            }
        }
        answer.system_conflicts.extend(part.system_conflicts);
        let deleted = |key: &ContentKey| made.changes.contents.get(key).is_some_and(Option::is_none);
        joined.retain(|key| !deleted(key));
        joined.extend(part.joined);
        let planned = planned(&part.taken);
        if !planned.is_empty() {
            answer.commits.push(planned);
            last = Some(*id);
        }
        target = part.taken.on(&target);
    }
    if options.dry_run || !answer.successful {
        answer.commits.clear();
    }
    Ok(answer)
}

/// What of a transplant can be refused without looking at the target: no commits, unknown ones, gaps.
pub fn check_sources(graph: &Graph, commits: &[CommitId]) -> Result<(), Refusal> {
    if commits.is_empty() {
        return Err(Refusal::Bad);
    }
    let mut last: Option<CommitId> = None;
    for id in commits {
        let made = graph.get(*id).ok_or(Refusal::NoCommit)?;
        if last.is_some_and(|last| made.parents.first() != Some(&last)) {
            return Err(Refusal::Bad);
        }
        last = Some(*id);
    }
    Ok(())
}

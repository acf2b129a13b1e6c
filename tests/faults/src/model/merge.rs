//! What merges and transplants mean (Nessie API, 9), with what Lochan does otherwise.

use std::collections::{BTreeMap, BTreeSet};

use lochan_storage_engine::merge::{KeyBehavior, Mode, Options};
use lochan_storage_model::{CommitId, ConflictKind, Content, ContentKey};

use super::commit::{Conflicts, Refusal, differs};
use super::graph::Graph;
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
    /// It conflicts; what follows is judged as if the target held this.
    Conflict(ConflictKind, Option<Held>),
}

fn held(given: &(lochan_storage_model::ContentId, Content)) -> Held {
    Held { id: given.0, content: given.1.clone() }
}

fn judge(
    change: &Change<'_>,
    head: Option<&Held>,
    mode: Mode,
    own: Option<&KeyBehavior>,
    kind: Kind,
) -> Verdict {
    let expected = own.and_then(|own| own.expected.as_ref());
    if mode == Mode::Drop && (kind == Kind::Merge || expected.is_none()) {
        return Verdict::Stays(true);
    }
    let resolved = own.and_then(|own| own.resolved.as_ref()).map(held);
    let wanted = change.source.map(|source| resolved.unwrap_or_else(|| source.clone()));
    if let Some(expected) = expected {
        // It takes the place of the base and holds under every mode.
        return match differs(&held(expected), head) {
            Some(conflict) => Verdict::Conflict(conflict, wanted),
            None if mode == Mode::Drop => Verdict::Stays(true),
            None => Verdict::Takes(wanted, true),
        };
    }
    let conflict = match (change.base, head) {
        (None, None) => None,
        (None, Some(_)) => Some(ConflictKind::KeyExists),
        (Some(base), Some(head)) if kind == Kind::Transplant => match change.source {
            // What is put says which type and id are to be found.
            Some(put) if put.content_type() != head.content_type() => Some(ConflictKind::PayloadDiffers),
            Some(put) if put.id != head.id => Some(ConflictKind::ContentIdDiffers),
            Some(_) => (base != head).then_some(ConflictKind::ValueDiffers),
            None => differs(base, Some(head)),
        },
        (Some(base), head) => differs(base, head),
    };
    let Some(conflict) = conflict else { return Verdict::Takes(wanted, true) };
    if let (None, Some(source), Some(head)) = (change.base, change.source, head) {
        if source == head {
            return Verdict::Stays(false);
        }
        if source.is_namespace() && head.is_namespace() {
            return Verdict::Takes(Some(joined(source, head)), false);
        }
    }
    if mode == Mode::Force { Verdict::Takes(wanted, true) } else { Verdict::Conflict(conflict, wanted) }
}

/// A namespace put on both sides: the source's id, the properties of both, the source's value where both name one.
fn joined(source: &Held, head: &Held) -> Held {
    let (Content::Namespace { elements, properties: theirs }, Content::Namespace { properties: ours, .. }) =
        (&source.content, &head.content)
    else {
        return source.clone();
    };
    let mut properties = ours.clone();
    for (name, value) in theirs {
        properties.insert(name.clone(), value.clone());
    }
    Held { id: source.id, content: Content::Namespace { elements: elements.clone(), properties } }
}

/// What one source commit, or all of them squashed, does to the target.
struct Part {
    taken: Changes,
    details: Details,
    system_conflicts: BTreeSet<String>,
    concerns: Concerns,
}

impl Part {
    fn of(before: &State, changes: &Changes, target: &State, options: &Options, kind: Kind) -> Self {
        let mut part = Self {
            taken: Changes::default(),
            details: Details::new(),
            system_conflicts: BTreeSet::new(),
            concerns: Concerns::default(),
        };
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
            let mode = own.map_or(options.default_mode, |own| own.mode);
            let change = Change { base: before.contents.get(key), source: source.as_ref() };
            let head = target.contents.get(key);
            match judge(&change, head, mode, own, kind) {
                Verdict::Stays(told) => {
                    if told {
                        part.details.insert(key.clone(), (mode, None));
                    }
                }
                Verdict::Conflict(conflict, wanted) => {
                    part.take(key, head, wanted);
                    part.details.insert(key.clone(), (mode, Some(conflict)));
                }
                Verdict::Takes(wanted, told) => {
                    part.take(key, head, wanted);
                    if told {
                        part.details.insert(key.clone(), (mode, None));
                    }
                }
            }
        }
        part
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
            Some(wanted) if head.is_none_or(|head| head.id != wanted.id) => {
                self.concerns.new.insert(key.clone(), wanted.content_type());
            }
            Some(_) => {}
        }
        self.taken.contents.insert(key.clone(), wanted);
    }

    fn conflicts(&self) -> bool {
        !self.system_conflicts.is_empty() || self.details.values().any(|(_, conflict)| conflict.is_some())
    }

    fn namespaces(&self, target: &State) -> Result<(), Refusal> {
        let conflicts: Conflicts = namespaces::check(target, &self.concerns);
        if conflicts.is_empty() { Ok(()) } else { Err(Refusal::Conflicts(conflicts)) }
    }
}

fn planned(changes: &Changes) -> Planned {
    let contents = &changes.contents;
    Planned {
        contents: contents.iter().map(|(key, held)| (key.clone(), held.clone().map(Wanted::from))).collect(),
        system: changes.system.clone(),
    }
}

/// What can be refused without looking at any state.
pub fn check_alone(options: &Options) -> Result<(), Refusal> {
    let bad =
        |own: &KeyBehavior| own.resolved.is_some() && (own.expected.is_none() || own.mode != Mode::Normal);
    if options.keys.values().any(bad) { Err(Refusal::Bad) } else { Ok(()) }
}

/// A merge of `from` into `head` over `base`, which must be one of their merge bases.
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
    let (before, target) = (graph.state(base), graph.state(head));
    let changes = Changes::between(&before, &graph.state(from));
    let part = Part::of(&before, &changes, &target, options, Kind::Merge);
    part.namespaces(&target)?;
    for (key, own) in &options.keys {
        match changes.contents.get(key) {
            Some(source) if source.is_some() || own.resolved.is_none() => {}
            _ => return Err(Refusal::Bad),
        }
    }
    let successful = !part.conflicts();
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
    let mut target = (*graph.state(head)).clone();
    let mut answer = Answer {
        commits: Vec::new(),
        successful: true,
        details: Details::new(),
        system_conflicts: BTreeSet::new(),
    };
    for id in commits {
        let made = graph.get(*id).ok_or(Refusal::NoCommit)?;
        let before = graph.state(made.parents.first().copied().unwrap_or(CommitId::NO_ANCESTOR));
        let part = Part::of(&before, &made.changes, &target, options, Kind::Transplant);
        part.namespaces(&target)?;
        answer.successful &= !part.conflicts();
        for (key, (mode, conflict)) in part.details {
            if conflict.is_some() || mode != Mode::Normal || !answer.details.contains_key(&key) {
                answer.details.insert(key, (mode, conflict));
            }
        }
        answer.system_conflicts.extend(part.system_conflicts);
        let planned = planned(&part.taken);
        if !planned.is_empty() {
            answer.commits.push(planned);
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

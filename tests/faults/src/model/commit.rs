//! What a commit means (Nessie API, 8).

use std::collections::{BTreeMap, BTreeSet};

use lochan_storage_engine::commit::{GivenId, Operation, Request};
use lochan_storage_model::{ConflictKind, ContentId, ContentKey, ContentType};

use super::namespaces::{self, Concerns};
use super::state::{Held, Planned, State, Wanted, WantedId};

/// Conflicts as a set: kind, and key or path as text.
pub type Conflicts = BTreeSet<(ConflictKind, String)>;

/// Why a write is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request contradicts itself or the state it names (400).
    Bad,
    /// It conflicts with the head (409).
    Conflicts(Conflicts),
    /// The reference is a tag.
    NotABranch,
    /// The expected commit is not in the history of the branch.
    NotOnBranch,
    /// No such commit.
    NoCommit,
    /// No such reference.
    NoReference,
    /// The reference exists.
    Exists,
    /// The reference is elsewhere.
    UnexpectedHash,
    /// A record that was relied on is another.
    RecordChanged,
}

/// What a key is expected to hold at the head.
enum Expected {
    Nothing,
    Exactly(Held),
    /// Something, although the client saw nothing: a delete of what was not there.
    Something,
}

impl Expected {
    fn as_seen(seen: Option<&Held>) -> Self {
        seen.cloned().map_or(Self::Something, Self::Exactly)
    }
}

/// The first difference, by type, id, value.
pub fn differs(expected: &Held, head: Option<&Held>) -> Option<ConflictKind> {
    match head {
        None => Some(ConflictKind::KeyDoesNotExist),
        Some(head) if head.content_type() != expected.content_type() => Some(ConflictKind::PayloadDiffers),
        Some(head) if head.id != expected.id => Some(ConflictKind::ContentIdDiffers),
        Some(head) if head.content != expected.content => Some(ConflictKind::ValueDiffers),
        Some(_) => None,
    }
}

fn against(expected: &Expected, head: Option<&Held>) -> Option<ConflictKind> {
    match (expected, head) {
        (Expected::Nothing, None) => None,
        (Expected::Nothing, Some(_)) => Some(ConflictKind::KeyExists),
        (Expected::Exactly(held), head) => differs(held, head),
        (Expected::Something, None) => Some(ConflictKind::KeyDoesNotExist),
        (Expected::Something, Some(_)) => Some(ConflictKind::PayloadDiffers),
    }
}

/// Structural rules (8.2): no key twice, but for a delete followed by a put of a new content.
fn has_duplicates(operations: &[Operation]) -> bool {
    let mut seen: BTreeMap<&ContentKey, Vec<&Operation>> = BTreeMap::new();
    for operation in operations {
        seen.entry(operation.key()).or_default().push(operation);
    }
    let good = |same: &[&Operation]| {
        matches!(same, [_] | [Operation::Delete(_), Operation::Put { id: GivenId::New, .. }])
    };
    !seen.values().all(|same| good(same))
}

/// What becomes of a key that must be unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchanged {
    /// The client has seen the head itself: nothing to look at.
    Seen,
    /// The head is another: it is looked at as for a delete.
    AsForDelete,
    /// Planned on the head that the client has seen and put on another one since: it must be what it was, were it nothing.
    Rebased,
}

/// What the request does on `head`, of a client that has seen `seen`.
pub fn plan(request: &Request, seen: &State, head: &State, unchanged: Unchanged) -> Result<Planned, Refusal> {
    check_alone(request)?;
    if has_duplicates(&request.operations) {
        return Err(Refusal::Bad);
    }
    let mut free: BTreeMap<ContentId, (&ContentKey, ContentType)> = BTreeMap::new();
    let mut other_type = false;
    let mut deleted: BTreeSet<&ContentKey> = BTreeSet::new();
    for operation in &request.operations {
        if let Operation::Delete(key) = operation {
            deleted.insert(key);
            free.extend(seen.contents.get(key).map(|held| (held.id, (key, held.content_type()))));
        }
    }
    let mut planned = Planned::default();
    let mut concerns = Concerns::default();
    let mut expected: Vec<(&ContentKey, Expected)> = Vec::new();
    for operation in &request.operations {
        let key = operation.key();
        let held = seen.contents.get(key);
        match operation {
            Operation::Put { content, id, .. } => {
                let wanted = match (held, id) {
                    // The deletion of the same key speaks for it, whatever was seen there.
                    (_, GivenId::New) if deleted.contains(key) => WantedId::New,
                    (None, GivenId::New) => {
                        expected.push((key, Expected::Nothing));
                        WantedId::New
                    }
                    // A rename: the id moves to one key only, and its old key is not filled anew behind it.
                    (None, GivenId::Id(id)) => {
                        let (old, was) = free.remove(id).ok_or(Refusal::Bad)?;
                        other_type |= was != content.content_type();
                        deleted.remove(old);
                        expected.push((key, Expected::Nothing));
                        WantedId::Is(*id)
                    }
                    (Some(held), GivenId::Id(id)) if held.id == *id => {
                        // A content keeps its type; but conflicts are told first.
                        other_type |= held.content_type() != content.content_type();
                        expected.push((key, Expected::Exactly(held.clone())));
                        WantedId::Is(*id)
                    }
                    _ => return Err(Refusal::Bad),
                };
                let is_update = matches!((held, id), (Some(_), GivenId::Id(_)));
                if !is_update {
                    concerns.new.insert(key.clone(), content.content_type());
                }
                planned.contents.insert(key.clone(), Some(Wanted { id: wanted, content: content.clone() }));
            }
            Operation::Delete(_) => {
                if held.is_some() {
                    concerns.deleted.insert(key.clone());
                }
                if held.is_some_and(Held::is_namespace) {
                    concerns.ended.insert(key.clone());
                }
                expected.push((key, Expected::as_seen(held)));
                planned.contents.entry(key.clone()).or_insert(None);
            }
            Operation::Unchanged(_) => {
                let rebased_nothing = unchanged == Unchanged::Rebased && held.is_none();
                match unchanged {
                    Unchanged::Seen => {}
                    _ if rebased_nothing => expected.push((key, Expected::Nothing)),
                    _ => expected.push((key, Expected::as_seen(held))),
                }
            }
        }
    }
    let conflicts = namespaces::check(head, &concerns);
    if !conflicts.is_empty() {
        return Err(Refusal::Conflicts(conflicts));
    }
    let mut conflicts: Conflicts = expected
        .iter()
        .filter_map(|(key, expected)| Some((against(expected, head.contents.get(key))?, key.to_string())))
        .collect();
    for relied in &request.expected_system {
        if head.system.get(&relied.path).map(Vec::as_slice) != relied.value.as_deref() {
            conflicts.insert((ConflictKind::SystemValueDiffers, relied.path.to_string()));
        }
    }
    if !conflicts.is_empty() {
        return Err(Refusal::Conflicts(conflicts));
    }
    if other_type {
        return Err(Refusal::Bad);
    }
    for put in &request.system {
        planned.system.insert(put.path.clone(), put.value.as_ref().map(|json| json.to_vec()));
    }
    Ok(planned)
}

/// What can be refused without looking at any state.
pub fn check_alone(request: &Request) -> Result<(), Refusal> {
    let nothing = request.operations.is_empty() && request.system.is_empty();
    let paths: BTreeSet<_> = request.system.iter().map(|put| &put.path).collect();
    if nothing || paths.len() < request.system.len() {
        return Err(Refusal::Bad);
    }
    Ok(())
}

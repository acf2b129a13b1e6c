//! The engine's answers and stored commits in the model's words.

use std::collections::{BTreeMap, BTreeSet};

use futures::FutureExt;
use lochan_storage_engine::index::Range;
use lochan_storage_engine::merge::Outcome;
use lochan_storage_engine::{Engine, Error};
use lochan_storage_model::key::DomainKey;
use lochan_storage_model::{Commit, Conflict, Content, Entry, IndexKey, ObjectKind, Value};
use lochan_storage_odb::Store;
use lochan_storage_odb::memory::Memory;

use super::commit::{Conflicts, Refusal};
use super::merge::Details;
use super::state::{Changes, Held, State};

/// What went wrong, for people.
pub type Fault = String;

/// The refusal that an error stands for; `None` for errors that are no answer to the request.
pub fn refusal(error: &Error) -> Option<Refusal> {
    Some(match error {
        Error::BadRequest(_) | Error::KeysNotUsed { .. } => Refusal::Bad,
        Error::Conflicts(conflicts) => Refusal::Conflicts(as_set(conflicts)),
        Error::NotABranch(_) => Refusal::NotABranch,
        Error::NotOnBranch { .. } => Refusal::NotOnBranch,
        Error::CommitNotFound(_) => Refusal::NoCommit,
        Error::ReferenceNotFound(_) => Refusal::NoReference,
        Error::ReferenceExists(_) => Refusal::Exists,
        Error::UnexpectedHash { .. } => Refusal::UnexpectedHash,
        Error::RecordChanged => Refusal::RecordChanged,
        _ => return None,
    })
}

fn as_set(conflicts: &[Conflict]) -> Conflicts {
    let of = |conflict: &Conflict| {
        let key = conflict.key.as_ref().map(ToString::to_string);
        (conflict.kind, key.or_else(|| conflict.path.as_ref().map(ToString::to_string)).unwrap_or_default())
    };
    conflicts.iter().map(of).collect()
}

/// What an outcome says of keys.
pub fn details(outcome: &Outcome) -> Details {
    let of = |detail: &lochan_storage_engine::merge::Detail| {
        (detail.key.clone(), (detail.mode, detail.conflict.as_ref().map(|conflict| conflict.kind)))
    };
    outcome.details.iter().map(of).collect()
}

/// The paths of the system map that an outcome says are in conflict, each once.
pub fn system_conflicts(outcome: &Outcome) -> Result<BTreeSet<String>, Fault> {
    let mut paths = BTreeSet::new();
    for conflict in &outcome.system_conflicts {
        let path = conflict.path.as_ref().ok_or_else(|| format!("{conflict:?} has no path"))?;
        if !paths.insert(path.to_string()) {
            return Err(format!("{path} is told twice"));
        }
    }
    Ok(paths)
}

/// Everything that the engine shows at a commit.
pub async fn listing(engine: &Engine, commit: lochan_storage_model::CommitId) -> Result<State, Error> {
    let at = engine.at(commit).await?;
    let mut state = State::default();
    let mut entries = at.entries(&Range::all()).await?;
    while let Some(item) = entries.next().await? {
        let content = at.content_of(&item.entry).await?;
        add(&mut state, &item.key, &item.entry, content).map_err(Error::BadRequest)?;
    }
    Ok(state)
}

fn add(state: &mut State, key: &IndexKey, entry: &Entry, content: Content) -> Result<(), Fault> {
    match (key.decode().map_err(|e| e.to_string())?, content) {
        (DomainKey::System(path), Content::System(json)) => {
            state.system.insert(path, json);
        }
        (DomainKey::Content(key), content) => {
            state.contents.insert(key, Held { id: entry.content_id, content });
        }
        (DomainKey::System(path), _) => return Err(format!("system path {path} holds a content")),
    }
    Ok(())
}

/// A stored commit.
pub fn load(store: &Memory, id: lochan_storage_model::CommitId) -> Result<Commit, Fault> {
    let bytes = object(store, ObjectKind::Commit, id.object())?;
    Commit::decode(&bytes).map_err(|e| format!("commit {id}: {e}"))
}

fn object(
    store: &Memory,
    kind: ObjectKind,
    id: lochan_storage_model::ObjectId,
) -> Result<bytes::Bytes, Fault> {
    let found = store.object(kind, id).now_or_never().ok_or("the memory store waited")?;
    found.map_err(|e| e.to_string())?.ok_or_else(|| format!("object {id} is missing"))
}

/// What a stored commit says it did.
pub fn changes(store: &Memory, commit: &Commit) -> Result<Changes, Fault> {
    let mut puts = State::default();
    let mut changes = Changes::default();
    for operation in &commit.operations {
        if let Some(entry) = operation.entry() {
            let bytes = match &entry.value {
                Value::Inline(bytes) => bytes.to_vec(),
                Value::Stored(id) => object(store, ObjectKind::Value, *id)?.to_vec(),
            };
            let content = Content::decode(entry.content_type, &bytes).map_err(|e| e.to_string())?;
            add(&mut puts, operation.key(), entry, content)?;
            continue;
        }
        match operation.key().decode().map_err(|e| e.to_string())? {
            DomainKey::Content(key) => drop(changes.contents.insert(key, None)),
            DomainKey::System(path) => drop(changes.system.insert(path, None)),
        }
    }
    changes.contents.extend(puts.contents.into_iter().map(|(key, held)| (key, Some(held))));
    changes.system.extend(puts.system.into_iter().map(|(path, json)| (path, Some(json))));
    Ok(changes)
}

/// The first difference of two maps, for people.
pub fn first_difference<K: Ord + std::fmt::Debug, V: PartialEq + std::fmt::Debug>(
    found: &BTreeMap<K, V>,
    wanted: &BTreeMap<K, V>,
) -> Option<Fault> {
    let key = found.keys().chain(wanted.keys()).find(|key| found.get(key) != wanted.get(key))?;
    Some(format!("{key:?} is {:?}, not {:?}", found.get(key), wanted.get(key)))
}

/// Whether a state is the wanted one.
pub fn check_state(found: &State, wanted: &State) -> Result<(), Fault> {
    let contents = first_difference(&found.contents, &wanted.contents);
    contents.or_else(|| first_difference(&found.system, &wanted.system)).map_or(Ok(()), Err)
}

//! Namespace rules (Nessie API, 8.4), for commits and merges alike.

use std::collections::{BTreeMap, BTreeSet};

use lochan_storage_model::{ConflictKind, ContentKey, ContentType};

use super::commit::Conflicts;
use super::state::State;

/// What concerns namespaces in a commit.
#[derive(Debug, Default)]
pub struct Concerns {
    /// Keys that get a content that was not there, with its type.
    pub new: BTreeMap<ContentKey, ContentType>,
    /// Keys at which a namespace ends.
    pub ended: BTreeSet<ContentKey>,
    /// Keys deleted.
    pub deleted: BTreeSet<ContentKey>,
}

/// Everything that stands against it on `head`.
pub fn check(head: &State, concerns: &Concerns) -> Conflicts {
    let mut conflicts = Conflicts::new();
    for key in concerns.new.keys() {
        let comes_along = |parent: &ContentKey| concerns.new.get(parent) == Some(&ContentType::Namespace);
        if key.parent().as_ref().is_some_and(comes_along) {
            continue;
        }
        let mut above = key.parent();
        while let Some(parent) = above {
            match head.contents.get(&parent) {
                None => {
                    conflicts.insert((ConflictKind::NamespaceAbsent, parent.to_string()));
                    above = parent.parent();
                }
                Some(held) => {
                    if !held.is_namespace() {
                        conflicts.insert((ConflictKind::NotANamespace, parent.to_string()));
                    }
                    above = None;
                }
            }
        }
    }
    for namespace in &concerns.ended {
        let left = |key: &&ContentKey| key.is_below(namespace) && !concerns.deleted.contains(*key);
        if head.contents.keys().any(|key| left(&key)) {
            conflicts.insert((ConflictKind::NamespaceNotEmpty, namespace.to_string()));
        }
    }
    conflicts
}

//! Namespace rules, decided on the head (Nessie API, 8.4).

use std::collections::{BTreeMap, HashSet};

use lochan_storage_model::{Conflict, ConflictKind, ContentKey, ContentType, Entry, IndexKey};

use crate::{
    error::Error,
    index::{Range, Scan, Tree},
    state::Core,
};

/// What a commit does that concerns namespaces.
#[derive(Debug, Default)]
pub(crate) struct NamespaceCheck {
    /// Keys that hold something new, with its type.
    pub(crate) new: BTreeMap<ContentKey, ContentType>,
    /// Namespaces deleted.
    pub(crate) deleted_namespaces: Vec<ContentKey>,
    /// All keys deleted.
    pub(crate) deleted: HashSet<ContentKey>,
}

/// What the check has read: it must still be so when the commit lands.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) entries: Vec<(IndexKey, Option<Entry>)>,
    pub(crate) prefixes: Vec<Vec<u8>>,
}

/// Every new key needs its parents to be namespaces, at the head or in the commit; a deleted namespace must be empty.
/// Missing ancestors are listed nearest first.
pub(crate) async fn check_namespaces(
    core: &Core,
    head: &Tree,
    check: &NamespaceCheck,
) -> Result<(Vec<Conflict>, Read), Error> {
    let mut conflicts: Vec<Conflict> = Vec::new();
    let mut read = Read::default();
    let mut checked: HashSet<ContentKey> = HashSet::new();
    for key in check.new.keys() {
        let mut parent = key.parent();
        // A parent that comes with the commit is good; its own parents are checked because it is new itself.
        if parent.as_ref().is_some_and(|at| check.new.get(at) == Some(&ContentType::Namespace)) {
            continue;
        }
        while let Some(at) = parent {
            if !checked.insert(at.clone()) {
                break;
            }
            let index_key = at.index_key();
            let entry = head.get(&core.nodes, &index_key).await?;
            let held = entry.as_ref().map(|entry| entry.content_type);
            read.entries.push((index_key, entry));
            match held {
                None => {
                    conflicts.push(Conflict::on_key(ConflictKind::NamespaceAbsent, &at));
                    parent = at.parent();
                }
                Some(ContentType::Namespace) => break,
                Some(_) => {
                    conflicts.push(Conflict::on_key(ConflictKind::NotANamespace, &at));
                    break;
                }
            }
        }
    }
    for namespace in &check.deleted_namespaces {
        let index_key = namespace.index_key();
        read.prefixes.push(index_key.children_prefix());
        let mut below = Scan::new(head, &core.nodes, &Range::below(&index_key)).await?;
        while let Some(item) = below.next(&core.nodes).await? {
            let gone = item.key.content().is_some_and(|key| check.deleted.contains(&key));
            if !gone {
                conflicts.push(Conflict::on_key(ConflictKind::NamespaceNotEmpty, namespace));
                break;
            }
        }
    }
    Ok((conflicts, read))
}

//! A whole index.

use std::sync::LazyLock;

use lochan_storage_model::{Entry, IndexKey, ObjectId, ObjectKind};

use super::{
    node::{Link, Node},
    nodes::Nodes,
};
use crate::error::Error;

static EMPTY: LazyLock<ObjectId> =
    LazyLock::new(|| ObjectId::of(ObjectKind::IndexNode, &Node::Leaf(Vec::new()).encode()));

/// An immutable index. Cheap to clone; edits give a new one that shares what did not change.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    root: Option<Link>,
}

impl Tree {
    pub(crate) const fn from_root(root: Option<Link>) -> Self {
        Self { root }
    }

    /// The root link, `None` for the empty index.
    #[must_use]
    pub const fn root(&self) -> Option<&Link> {
        self.root.as_ref()
    }

    /// Id of the root: a function of the entries alone.
    #[must_use]
    pub fn id(&self) -> ObjectId {
        self.root.as_ref().map_or(*EMPTY, |link| link.id)
    }

    /// Id of the empty index.
    #[must_use]
    pub fn empty_id() -> ObjectId {
        *EMPTY
    }

    /// Number of entries in both domains.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.root.as_ref().map_or(0, |link| link.count)
    }

    /// The entry of a key.
    pub async fn get(&self, nodes: &Nodes, key: &IndexKey) -> Result<Option<Entry>, Error> {
        let Some(root) = &self.root else { return Ok(None) };
        let mut node = nodes.load(root).await?;
        loop {
            let next = match &*node {
                Node::Leaf(items) => {
                    let at = items.binary_search_by(|item| item.key.cmp(key)).ok();
                    return Ok(at.and_then(|at| items.get(at)).map(|item| item.entry.clone()));
                }
                Node::Inner(_, links) => {
                    let after = links.partition_point(|link| link.first <= *key);
                    match after.checked_sub(1).and_then(|at| links.get(at)) {
                        None => return Ok(None),
                        Some(link) => nodes.load(link).await?,
                    }
                }
            };
            node = next;
        }
    }
}

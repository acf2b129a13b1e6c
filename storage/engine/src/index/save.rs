//! Storing the nodes that a tree holds in memory only.

use std::{collections::HashSet, sync::Arc};

use bytes::Bytes;
use lochan_storage_model::ObjectId;
use lochan_storage_odb::{DerivedSpace, DerivedWrite};

use super::{
    node::{Link, Node},
    nodes::Nodes,
    tree::Tree,
};

/// Rows written in one piece while nodes are stored.
const ROWS_PER_WRITE: usize = 64;

/// The nodes of a tree that are not stored yet.
#[derive(Debug, Default)]
pub struct Unsaved {
    nodes: Vec<(ObjectId, Arc<Node>)>,
}

impl Unsaved {
    /// Collects them; costs the number found.
    #[must_use]
    pub fn of(tree: &Tree) -> Self {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut open: Vec<&Link> = tree.root().into_iter().collect();
        while let Some(link) = open.pop() {
            let Some(node) = &link.fresh else { continue };
            if !seen.insert(link.id) {
                continue;
            }
            found.push((link.id, node.clone()));
            if let Node::Inner(_, links) = &**node {
                open.extend(links);
            }
        }
        // Stored in the order of ids, which is the order of the table.
        found.sort_unstable_by_key(|(id, _)| *id);
        Self { nodes: found }
    }

    /// Their rows, in pieces of bounded size.
    pub fn rows(&self) -> impl Iterator<Item = Vec<DerivedWrite>> + '_ {
        self.nodes.chunks(ROWS_PER_WRITE).map(|chunk| {
            chunk
                .iter()
                .map(|(id, node)| DerivedWrite {
                    space: DerivedSpace::Node,
                    key: Bytes::copy_from_slice(id.as_bytes()),
                    value: Some(node.encode().into()),
                })
                .collect()
        })
    }

    /// Hands the nodes over to the cache and tells which are stored now.
    #[must_use]
    pub fn saved(self, nodes: &Nodes) -> HashSet<ObjectId> {
        self.nodes
            .into_iter()
            .map(|(id, node)| {
                nodes.keep(id, detached(&node));
                id
            })
            .collect()
    }
}

/// A node whose links hold nothing in memory.
fn detached(node: &Arc<Node>) -> Arc<Node> {
    match &**node {
        Node::Inner(height, links) if links.iter().any(|link| link.fresh.is_some()) => {
            let links = links.iter().map(|link| Link { fresh: None, ..link.clone() }).collect();
            Arc::new(Node::Inner(*height, links))
        }
        _ => node.clone(),
    }
}

/// The same tree without holding the nodes in `saved`, which are stored now. Costs the number of nodes it still holds.
#[must_use]
pub fn forget_saved(tree: &Tree, saved: &HashSet<ObjectId>) -> Tree {
    Tree::from_root(tree.root().map(|link| forget(link, saved)))
}

fn forget(link: &Link, saved: &HashSet<ObjectId>) -> Link {
    let Some(node) = &link.fresh else { return link.clone() };
    if saved.contains(&link.id) {
        return Link { fresh: None, ..link.clone() };
    }
    let Node::Inner(height, links) = &**node else { return link.clone() };
    let links = links.iter().map(|link| forget(link, saved)).collect();
    Link { fresh: Some(Arc::new(Node::Inner(*height, links))), ..link.clone() }
}

//! Walking a tree in key order, skipping what is not wanted.

use std::sync::Arc;

use lochan_storage_model::IndexKey;

use super::{
    node::{Item, Link, Node},
    nodes::Nodes,
    tree::Tree,
};
use crate::error::Error;

/// A place between the entries and nodes of a tree.
#[derive(Debug)]
pub struct Cursor {
    root: Option<Link>,
    stack: Vec<(Arc<Node>, usize)>,
}

/// What stands at a cursor.
#[derive(Debug)]
pub enum At {
    /// The end of the tree.
    End,
    /// A node not entered yet.
    Node(Link),
    /// An entry.
    Item(Arc<Item>),
}

impl Cursor {
    /// A cursor before everything.
    #[must_use]
    pub fn new(tree: &Tree) -> Self {
        Self { root: tree.root().cloned(), stack: Vec::new() }
    }

    /// A cursor before the first entry whose key is at or after `key`.
    pub async fn seek(tree: &Tree, nodes: &Nodes, key: &[u8]) -> Result<Self, Error> {
        let mut cursor = Self::new(tree);
        let Some(mut link) = cursor.root.take() else { return Ok(cursor) };
        loop {
            let node = nodes.load(&link).await?;
            match &*node {
                Node::Leaf(items) => {
                    let at = items.partition_point(|item| item.key.as_bytes() < key);
                    cursor.stack.push((node, at));
                    return Ok(cursor);
                }
                Node::Inner(_, links) => {
                    let after = links.partition_point(|link| link.first.as_bytes() <= key);
                    let Some(child) = after.checked_sub(1).and_then(|at| links.get(at)) else {
                        // Before everything: enter nothing.
                        cursor.stack.push((node, 0));
                        return Ok(cursor);
                    };
                    link = child.clone();
                    cursor.stack.push((node, after));
                }
            }
        }
    }

    /// What stands here. A root not entered yet counts as a node.
    pub fn at(&mut self) -> At {
        if let Some(root) = &self.root {
            return At::Node(root.clone());
        }
        while let Some((node, at)) = self.stack.last() {
            match &**node {
                Node::Leaf(items) => {
                    if let Some(item) = items.get(*at) {
                        return At::Item(item.clone());
                    }
                }
                Node::Inner(_, links) => {
                    if let Some(link) = links.get(*at) {
                        return At::Node(link.clone());
                    }
                }
            }
            self.stack.pop();
        }
        At::End
    }

    /// Steps over what stands here.
    pub fn skip(&mut self) {
        if self.root.take().is_some() {
            return;
        }
        if let Some((_, at)) = self.stack.last_mut() {
            *at += 1;
        }
    }

    /// Enters the node that stands here.
    pub async fn enter(&mut self, nodes: &Nodes, link: &Link) -> Result<(), Error> {
        let node = nodes.load(link).await?;
        self.skip();
        self.stack.push((node, 0));
        Ok(())
    }

    /// The next entry, stepping over it.
    pub async fn next(&mut self, nodes: &Nodes) -> Result<Option<Arc<Item>>, Error> {
        loop {
            match self.at() {
                At::End => return Ok(None),
                At::Node(link) => self.enter(nodes, &link).await?,
                At::Item(item) => {
                    self.skip();
                    return Ok(Some(item));
                }
            }
        }
    }
}

/// Whether `key` is below `end`, when there is an end.
pub(super) fn before(key: &IndexKey, end: Option<&[u8]>) -> bool {
    end.is_none_or(|end| key.as_bytes() < end)
}

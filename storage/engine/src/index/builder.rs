//! Rebuilding a tree from left to right.

use std::{mem, sync::Arc};

use super::{
    node::{Item, LEVEL_MAX, Link, Node},
    nodes::Nodes,
    tree::Tree,
};
use crate::error::Error;

/// Takes entries and whole unchanged nodes in key order and closes nodes where the levels of keys say so.
///
/// `items` is the open leaf; `lists[h]` holds the closed nodes of height `h` that their parent is still open for.
pub(super) struct Builder<'a> {
    nodes: &'a Nodes,
    items: Vec<Arc<Item>>,
    lists: Vec<Vec<Link>>,
    /// Something has been taken in.
    begun: bool,
}

impl<'a> Builder<'a> {
    pub(super) fn new(nodes: &'a Nodes) -> Self {
        Self { nodes, items: Vec::new(), lists: vec![Vec::new(); usize::from(LEVEL_MAX) + 2], begun: false }
    }

    /// Adds an entry.
    pub(super) async fn push_item(&mut self, item: Arc<Item>) -> Result<(), Error> {
        self.turn(item.level).await?;
        self.items.push(item);
        self.begun = true;
        Ok(())
    }

    /// Adds a whole node. Only its outermost path is opened, and only where a boundary before it has gone.
    pub(super) async fn push_link(&mut self, link: Link) -> Result<(), Error> {
        if self.stands(&link) {
            return self.push_whole(link).await;
        }
        // A plain loop over a stack instead of recursion: the last of `open` is next.
        let mut open = vec![link];
        while let Some(link) = open.pop() {
            if self.stands(&link) {
                self.push_whole(link).await?;
                continue;
            }
            match &*self.nodes.load(&link).await? {
                Node::Leaf(items) => {
                    for item in items {
                        self.push_item(item.clone()).await?;
                    }
                }
                Node::Inner(_, links) => open.extend(links.iter().rev().cloned()),
            }
        }
        Ok(())
    }

    /// Whether a node begins where its first key lies: at a boundary of its height, or leftmost.
    const fn stands(&self, link: &Link) -> bool {
        !self.begun || link.level > link.height
    }

    async fn push_whole(&mut self, link: Link) -> Result<(), Error> {
        self.turn(link.level).await?;
        if let Some(list) = self.lists.get_mut(usize::from(link.height)) {
            list.push(link);
        }
        self.begun = true;
        Ok(())
    }

    /// Makes room for a key of `level`: closes every node that ends before it and opens the one that goes on.
    async fn turn(&mut self, level: u8) -> Result<(), Error> {
        let level = usize::from(level);
        for height in 0..level {
            self.close(height);
        }
        // The open place of a key of level 0 is the leaf; of level n, the list of nodes of height n - 1.
        if self.has_open(level) {
            return Ok(());
        }
        let Some(from) =
            (level..self.lists.len()).find(|at| self.lists.get(*at).is_some_and(|l| !l.is_empty()))
        else {
            return Ok(());
        };
        for height in (level..=from).rev() {
            let Some(link) = self.lists.get_mut(height).and_then(Vec::pop) else { return Ok(()) };
            match &*self.nodes.load(&link).await? {
                Node::Leaf(items) => self.items.clone_from(items),
                Node::Inner(_, links) => {
                    if let Some(list) = height.checked_sub(1).and_then(|below| self.lists.get_mut(below)) {
                        list.clone_from(links);
                    }
                }
            }
        }
        Ok(())
    }

    fn has_open(&self, level: usize) -> bool {
        match level.checked_sub(1) {
            None => !self.items.is_empty(),
            Some(height) => self.lists.get(height).is_some_and(|list| !list.is_empty()),
        }
    }

    /// Closes the open node of `height` and hands it to its parent.
    fn close(&mut self, height: usize) {
        if !self.has_open(height) {
            return;
        }
        let node = match height.checked_sub(1) {
            None => Node::Leaf(mem::take(&mut self.items)),
            Some(below) => {
                let links = self.lists.get_mut(below).map(mem::take).unwrap_or_default();
                Node::Inner(height as u8, links)
            }
        };
        if let (Some(link), Some(list)) = (node.into_link(), self.lists.get_mut(height)) {
            list.push(link);
        }
    }

    /// The finished tree.
    pub(super) async fn finish(mut self) -> Result<Tree, Error> {
        let Some(top) = self.lists.iter().rposition(|list| !list.is_empty()) else {
            return Ok(Tree::from_root(Node::Leaf(self.items).into_link()));
        };
        for height in 0..=top {
            self.close(height);
        }
        if self.lists.get(top).is_some_and(|list| list.len() > 1) {
            self.close(top + 1);
        }
        let mut root = self.lists.iter_mut().rev().find_map(Vec::pop);
        // The root is the lowest node that holds everything.
        while let Some(link) = &root {
            let Node::Inner(_, links) = &*self.nodes.load(link).await? else { break };
            let [only] = links.as_slice() else { break };
            let only = only.clone();
            root = Some(only);
        }
        Ok(Tree::from_root(root))
    }
}

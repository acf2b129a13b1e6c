//! Editing a tree.

use std::{cmp::Ordering, sync::Arc};

use futures::future::BoxFuture;
use lochan_storage_model::{Entry, IndexKey};

use super::{
    builder::Builder,
    node::{Item, Link, Node},
    nodes::Nodes,
    patch::patch,
    tree::Tree,
};
use crate::error::Error;

/// Edits up to this many are tried without moving borders first; among more, one that moves one is likely.
const PATCH_EDITS_MAX: usize = 16;

/// A key and what it holds from now on; `None` removes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The key.
    pub key: IndexKey,
    /// The entry.
    pub entry: Option<Entry>,
}

impl Tree {
    /// The tree after `edits`, which must be in key order, one per key. Costs O(edits × log entries). Removing an absent
    /// key changes nothing.
    pub async fn edit(&self, nodes: &Nodes, edits: &[Edit]) -> Result<Self, Error> {
        debug_assert!(edits.is_sorted_by(|a, b| a.key < b.key), "edits are in key order");
        if edits.is_empty() {
            return Ok(self.clone());
        }
        if let Some(root) = self.root()
            && edits.len() <= PATCH_EDITS_MAX
            && let Some(patched) = patch(nodes, root, edits).await?
        {
            return Ok(Self::from_root(Some(patched)));
        }
        let mut builder = Builder::new(nodes);
        match self.root() {
            Some(root) => walk(&mut builder, nodes, root, edits).await?,
            None => merge(&mut builder, &[], edits).await?,
        }
        builder.finish().await
    }
}

fn walk<'a>(
    builder: &'a mut Builder<'_>,
    nodes: &'a Nodes,
    link: &'a Link,
    edits: &'a [Edit],
) -> BoxFuture<'a, Result<(), Error>> {
    Box::pin(async move {
        if edits.is_empty() {
            return builder.push_link(link.clone()).await;
        }
        match &*nodes.load(link).await? {
            Node::Leaf(items) => merge(builder, items, edits).await,
            Node::Inner(_, links) => {
                let mut rest = edits;
                let mut links = links.iter().peekable();
                while let Some(child) = links.next() {
                    let own = match links.peek() {
                        None => rest.len(),
                        Some(next) => rest.partition_point(|edit| edit.key < next.first),
                    };
                    let (mine, others) = rest.split_at(own);
                    rest = others;
                    if mine.is_empty() {
                        builder.push_link(child.clone()).await?;
                    } else {
                        walk(builder, nodes, child, mine).await?;
                    }
                }
                Ok(())
            }
        }
    })
}

async fn merge(builder: &mut Builder<'_>, items: &[Arc<Item>], edits: &[Edit]) -> Result<(), Error> {
    let (mut items, mut edits) = (items.iter().peekable(), edits.iter().peekable());
    loop {
        let order = match (items.peek(), edits.peek()) {
            (None, None) => return Ok(()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(item), Some(edit)) => item.key.cmp(&edit.key),
        };
        if order != Ordering::Less {
            let edit = edits.next();
            if order == Ordering::Equal {
                items.next();
            }
            if let Some(Edit { key, entry: Some(entry) }) = edit {
                builder.push_item(Arc::new(Item::new(key.clone(), entry.clone()))).await?;
            }
        } else if let Some(item) = items.next() {
            builder.push_item(item.clone()).await?;
        }
    }
}

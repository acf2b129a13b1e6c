//! The common edit: values change, or a key comes or goes inside of a leaf, and no border moves.
//!
//! Then every node on the way keeps its first key and its place, and only the way itself is made anew.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::{
    edit::Edit,
    node::{Item, Link, Node},
    nodes::Nodes,
};
use crate::error::Error;

/// The node behind `link` after `edits`, or `None` where an edit moves a border. Costs one path per touched leaf.
pub(super) fn patch<'a>(
    nodes: &'a Nodes,
    link: &'a Link,
    edits: &'a [Edit],
) -> BoxFuture<'a, Result<Option<Link>, Error>> {
    Box::pin(async move {
        match &*nodes.load(link).await? {
            Node::Leaf(items) => Ok(patch_leaf(items, edits).and_then(Node::into_link)),
            Node::Inner(height, links) => {
                let mut patched = links.clone();
                let mut rest = edits;
                while let Some(first) = rest.first() {
                    let Some(at) = links.partition_point(|link| link.first <= first.key).checked_sub(1)
                    else {
                        return Ok(None);
                    };
                    let own = match links.get(at + 1) {
                        None => rest.len(),
                        Some(next) => rest.partition_point(|edit| edit.key < next.first),
                    };
                    let (mine, others) = rest.split_at(own);
                    rest = others;
                    let (Some(child), Some(place)) = (links.get(at), patched.get_mut(at)) else {
                        return Ok(None);
                    };
                    match patch(nodes, child, mine).await? {
                        Some(made) => *place = made,
                        None => return Ok(None),
                    }
                }
                Ok(Node::Inner(*height, patched).into_link())
            }
        }
    })
}

fn patch_leaf(items: &[Arc<Item>], edits: &[Edit]) -> Option<Node> {
    let mut patched = Vec::with_capacity(items.len() + edits.len());
    patched.extend_from_slice(items);
    for edit in edits {
        let found = patched.binary_search_by(|item| item.key.cmp(&edit.key));
        match (found, &edit.entry) {
            (Ok(at), Some(entry)) => {
                let place = patched.get_mut(at)?;
                let level = place.level;
                *place = Arc::new(Item { key: edit.key.clone(), entry: entry.clone(), level });
            }
            (Err(at), Some(entry)) => {
                let item = Item::new(edit.key.clone(), entry.clone());
                if at == 0 || item.level > 0 {
                    return None;
                }
                patched.insert(at, Arc::new(item));
            }
            (Ok(at), None) => {
                if at == 0 || patched.get(at)?.level > 0 {
                    return None;
                }
                patched.remove(at);
            }
            (Err(_), None) => {}
        }
    }
    Some(Node::Leaf(patched))
}

//! Where chunks end, and the tree above them.

use super::format::{leaf, node};
use super::{LEAF_BYTES_MAX, LEAF_BYTES_TARGET, NODE_CHILDREN_MAX, NODE_CHILDREN_MIN, PartId};

/// One in so many children ends a node.
const NODE_ENDS_ONE_IN: u8 = 4;

/// Puts the items of a list as a tree of parts and gives its id; `None` for no items.
pub(super) fn tree<'a>(
    items: impl Iterator<Item = std::borrow::Cow<'a, str>>,
    put: &mut dyn FnMut(Vec<u8>) -> PartId,
) -> Option<PartId> {
    let mut level = leaves(items, put);
    while level.len() > 1 {
        level = nodes(&level, put);
    }
    level.first().copied()
}

fn leaves<'a>(
    items: impl Iterator<Item = std::borrow::Cow<'a, str>>,
    put: &mut dyn FnMut(Vec<u8>) -> PartId,
) -> Vec<PartId> {
    let (mut ids, mut open, header) = (Vec::new(), leaf(), leaf().len());
    for item in items {
        let held = open.len() - header;
        if held > 0 && held + 1 + item.len() > LEAF_BYTES_MAX {
            ids.push(put(std::mem::replace(&mut open, leaf())));
        }
        if open.len() > header {
            open.push(b',');
        }
        open.extend_from_slice(item.as_bytes());
        if ends_leaf(item.as_bytes()) {
            ids.push(put(std::mem::replace(&mut open, leaf())));
        }
    }
    if open.len() > header {
        ids.push(put(open));
    }
    ids
}

fn nodes(level: &[PartId], put: &mut dyn FnMut(Vec<u8>) -> PartId) -> Vec<PartId> {
    let (mut ids, mut open) = (Vec::new(), Vec::new());
    for child in level {
        open.push(*child);
        if open.len() >= NODE_CHILDREN_MAX || (open.len() >= NODE_CHILDREN_MIN && ends_node(child)) {
            ids.push(put(node(&open)));
            open.clear();
        }
    }
    if !open.is_empty() {
        ids.push(put(node(&open)));
    }
    ids
}

/// Whether a leaf ends after this item: the longer the item, the likelier, so that leaves have about the same size
/// whatever the items are.
fn ends_leaf(item: &[u8]) -> bool {
    let target = LEAF_BYTES_TARGET as u64;
    hash(item) % target < item.len() as u64
}

fn ends_node(child: &PartId) -> bool {
    child.last().is_some_and(|byte| byte % NODE_ENDS_ONE_IN == 0)
}

/// FNV-1a with a final mix: its low bits alone are too regular for texts that differ by counters.
fn hash(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in bytes {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}

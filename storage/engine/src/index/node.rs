//! Nodes and their canonical bytes.
//!
//! ```text
//! node   = format u8 (1) · height u8 · count varint · rows
//! row    = key bytes · entry                     at height 0
//!        = first key bytes · node id 32 · entries below varint    above
//! ```

use std::sync::Arc;

use lochan_storage_model::{
    DecodeError, Entry, IndexKey, ObjectId, ObjectKind,
    encoding::{Reader, Writer},
};

/// Format version of encoded nodes.
const FORMAT: u8 = 1;

/// Highest level of a key; also the greatest height of a node.
pub const LEVEL_MAX: u8 = 15;

/// A key with its entry.
#[derive(Debug, PartialEq, Eq)]
pub struct Item {
    /// The key.
    pub key: IndexKey,
    /// What it holds.
    pub entry: Entry,
    /// Level of the key.
    pub(crate) level: u8,
}

impl Item {
    pub(crate) fn new(key: IndexKey, entry: Entry) -> Self {
        let level = level_of(&key);
        Self { key, entry, level }
    }
}

/// A pointer to a node.
#[derive(Debug, Clone)]
pub struct Link {
    /// Id of the node.
    pub id: ObjectId,
    /// Height of the node; 0 is a leaf.
    pub height: u8,
    /// Number of entries below.
    pub count: u64,
    /// Smallest key below.
    pub first: IndexKey,
    /// Level of `first`.
    pub(crate) level: u8,
    /// The node itself while it is not stored yet.
    pub(crate) fresh: Option<Arc<Node>>,
}

/// A node.
#[derive(Debug)]
pub enum Node {
    /// Entries in key order.
    Leaf(Vec<Arc<Item>>),
    /// Nodes one lower, in key order.
    Inner(u8, Vec<Link>),
}

/// Level of a key: trailing zero nibbles of its hash.
pub(crate) fn level_of(key: &IndexKey) -> u8 {
    let hash = blake3::hash(key.as_bytes());
    let [a, b, c, d, e, f, g, h, ..] = *hash.as_bytes();
    let zeros = u64::from_le_bytes([a, b, c, d, e, f, g, h]).trailing_zeros() / 4;
    (zeros as u8).min(LEVEL_MAX)
}

impl Node {
    /// Height; 0 is a leaf.
    #[must_use]
    pub const fn height(&self) -> u8 {
        match self {
            Self::Leaf(_) => 0,
            Self::Inner(height, _) => *height,
        }
    }

    /// Rough size in memory, in bytes, for bounded caches.
    #[must_use]
    pub fn weight(&self) -> usize {
        match self {
            Self::Leaf(items) => {
                64 + items
                    .iter()
                    .map(|item| {
                        let inline = match &item.entry.value {
                            lochan_storage_model::Value::Inline(bytes) => bytes.len() + 16,
                            lochan_storage_model::Value::Stored(_) => 0,
                        };
                        136 + item.key.as_bytes().len() + inline
                    })
                    .sum::<usize>()
            }
            Self::Inner(_, links) => {
                64 + links.iter().map(|link| 104 + link.first.as_bytes().len()).sum::<usize>()
            }
        }
    }

    /// The canonical bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::Leaf(items) => {
                let mut w = Writer::with_capacity(16 + items.len() * 224);
                w.u8(FORMAT);
                w.u8(0);
                w.varint(items.len() as u64);
                for item in items {
                    w.bytes(item.key.as_bytes());
                    item.entry.write(&mut w);
                }
                w.finish()
            }
            Self::Inner(height, links) => {
                let mut w = Writer::with_capacity(16 + links.len() * 96);
                w.u8(FORMAT);
                w.u8(*height);
                w.varint(links.len() as u64);
                for link in links {
                    w.bytes(link.first.as_bytes());
                    w.raw(link.id.as_bytes());
                    w.varint(link.count);
                }
                w.finish()
            }
        }
    }

    /// Reads canonical bytes and checks the order of keys.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let found = r.u8("node format")?;
        if found != FORMAT {
            return Err(DecodeError::Version { what: "index node", found });
        }
        let height = r.u8("node height")?;
        let count = r.count("node rows")?;
        let node = if height == 0 {
            let mut items: Vec<Arc<Item>> = Vec::with_capacity(count);
            for _ in 0..count {
                let key = IndexKey::from_bytes(r.bytes("node key")?);
                if items.last().is_some_and(|last| last.key >= key) {
                    return Err(DecodeError::Invalid("order of node keys"));
                }
                items.push(Arc::new(Item::new(key, Entry::read(&mut r)?)));
            }
            Self::Leaf(items)
        } else {
            let mut links: Vec<Link> = Vec::with_capacity(count);
            for _ in 0..count {
                let first = IndexKey::from_bytes(r.bytes("node key")?);
                if links.last().is_some_and(|last| last.first >= first) {
                    return Err(DecodeError::Invalid("order of node keys"));
                }
                let id = r.object_id("child id")?;
                let count = r.varint("child count")?;
                let level = level_of(&first);
                links.push(Link { id, height: height - 1, count, first, level, fresh: None });
            }
            Self::Inner(height, links)
        };
        r.end()?;
        Ok(node)
    }

    /// A link to this node, which is not stored yet. `None` for a node without rows.
    pub(crate) fn into_link(self) -> Option<Link> {
        let id = ObjectId::of(ObjectKind::IndexNode, &self.encode());
        let (first, level, count) = match &self {
            Self::Leaf(items) => {
                let first = items.first()?;
                (first.key.clone(), first.level, items.len() as u64)
            }
            Self::Inner(_, links) => {
                let first = links.first()?;
                (first.first.clone(), first.level, links.iter().map(|link| link.count).sum())
            }
        };
        Some(Link { id, height: self.height(), count, first, level, fresh: Some(Arc::new(self)) })
    }
}

impl Link {
    /// Whether the node, which was loaded by the id of this link, is as the link describes it.
    pub(crate) fn fits(&self, node: &Node) -> bool {
        let (first, count) = match node {
            Node::Leaf(items) => (items.first().map(|item| &item.key), items.len() as u64),
            Node::Inner(_, links) => {
                (links.first().map(|link| &link.first), links.iter().map(|link| link.count).sum())
            }
        };
        node.height() == self.height && first == Some(&self.first) && count == self.count
    }

    /// Bytes of a link as a checkpoint keeps it: height, count, first key. The id is the root in the commit.
    pub(crate) fn encode_root(&self) -> Vec<u8> {
        let mut w = Writer::with_capacity(64);
        w.u8(FORMAT);
        w.u8(self.height);
        w.varint(self.count);
        w.bytes(self.first.as_bytes());
        w.finish()
    }

    /// Reads what [`Link::encode_root`] wrote.
    pub(crate) fn decode_root(id: ObjectId, bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(bytes);
        let found = r.u8("checkpoint format")?;
        if found != FORMAT {
            return Err(DecodeError::Version { what: "checkpoint", found });
        }
        let height = r.u8("checkpoint height")?;
        let count = r.varint("checkpoint count")?;
        let first = IndexKey::from_bytes(r.bytes("checkpoint key")?);
        r.end()?;
        let level = level_of(&first);
        Ok(Self { id, height, count, first, level, fresh: None })
    }
}

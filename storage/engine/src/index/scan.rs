//! Reading a range of entries.

use std::sync::Arc;

use lochan_storage_model::IndexKey;

use super::{
    cursor::{Cursor, before},
    node::Item,
    nodes::Nodes,
    tree::Tree,
};
use crate::error::Error;

/// A half-open range of key bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// First key bytes of the range.
    pub start: Vec<u8>,
    /// First key bytes behind the range.
    pub end: Option<Vec<u8>>,
}

impl Range {
    /// All content keys.
    #[must_use]
    pub fn content() -> Self {
        Self { start: IndexKey::CONTENT_START.to_vec(), end: Some(IndexKey::CONTENT_END.to_vec()) }
    }

    /// All paths of the system map.
    #[must_use]
    pub fn system() -> Self {
        Self { start: IndexKey::SYSTEM_START.to_vec(), end: Some(IndexKey::SYSTEM_END.to_vec()) }
    }

    /// Everything.
    #[must_use]
    pub const fn all() -> Self {
        Self { start: Vec::new(), end: None }
    }

    /// The keys strictly below `key`.
    #[must_use]
    pub fn below(key: &IndexKey) -> Self {
        Self::prefix(key.children_prefix())
    }

    /// The keys that start with `prefix`, whose last byte must be below 0xff.
    #[must_use]
    pub fn prefix(prefix: Vec<u8>) -> Self {
        let mut end = prefix.clone();
        match end.last_mut() {
            Some(last) => *last = last.saturating_add(1),
            None => return Self::all(),
        }
        Self { start: prefix, end: Some(end) }
    }

    /// The range without what is before `start`.
    #[must_use]
    pub fn from(mut self, start: &[u8]) -> Self {
        if self.start.as_slice() < start {
            self.start = start.to_vec();
        }
        self
    }

    /// The range without what is at or after `end`.
    #[must_use]
    pub fn until(mut self, end: &[u8]) -> Self {
        if self.end.as_deref().is_none_or(|own| end < own) {
            self.end = Some(end.to_vec());
        }
        self
    }

    /// Whether `key` is inside.
    #[must_use]
    pub fn contains(&self, key: &IndexKey) -> bool {
        key.as_bytes() >= self.start.as_slice() && before(key, self.end.as_deref())
    }
}

/// Entries of a range, in key order.
#[derive(Debug)]
pub struct Scan {
    cursor: Cursor,
    end: Option<Vec<u8>>,
}

impl Scan {
    /// A scan of `range`.
    pub async fn new(tree: &Tree, nodes: &Nodes, range: &Range) -> Result<Self, Error> {
        Ok(Self { cursor: Cursor::seek(tree, nodes, &range.start).await?, end: range.end.clone() })
    }

    /// The next entry.
    pub async fn next(&mut self, nodes: &Nodes) -> Result<Option<Arc<Item>>, Error> {
        let item = self.cursor.next(nodes).await?;
        Ok(item.filter(|item| before(&item.key, self.end.as_deref())))
    }
}

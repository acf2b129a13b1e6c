//! Comparing two trees: equal nodes are skipped whole.

use std::cmp::Ordering;

use lochan_storage_model::{Entry, IndexKey};

use super::{
    cursor::{At, Cursor, before},
    nodes::Nodes,
    scan::Range,
    tree::Tree,
};
use crate::error::Error;

/// A key that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffEntry {
    /// The key.
    pub key: IndexKey,
    /// What it holds in the first tree.
    pub from: Option<Entry>,
    /// What it holds in the second tree.
    pub to: Option<Entry>,
}

/// The keys of a range that differ between two trees, in key order. Costs O(differences × log entries).
#[derive(Debug)]
pub struct Diff {
    from: Cursor,
    to: Cursor,
    end: Option<Vec<u8>>,
}

impl Diff {
    /// Compares `from` with `to` in `range`.
    pub async fn new(from: &Tree, to: &Tree, nodes: &Nodes, range: &Range) -> Result<Self, Error> {
        let equal = from.id() == to.id();
        let (from, to) = if equal {
            (Cursor::new(&Tree::default()), Cursor::new(&Tree::default()))
        } else if range.start.is_empty() {
            (Cursor::new(from), Cursor::new(to))
        } else {
            (Cursor::seek(from, nodes, &range.start).await?, Cursor::seek(to, nodes, &range.start).await?)
        };
        Ok(Self { from, to, end: range.end.clone() })
    }

    /// The next key that differs.
    pub async fn next(&mut self, nodes: &Nodes) -> Result<Option<DiffEntry>, Error> {
        loop {
            match (self.from.at(), self.to.at()) {
                (At::End, At::End) => return Ok(None),
                (At::Node(a), At::Node(b)) => {
                    if !before(&a.first, self.end.as_deref()) && !before(&b.first, self.end.as_deref()) {
                        return Ok(None);
                    }
                    if a.id == b.id {
                        self.from.skip();
                        self.to.skip();
                        continue;
                    }
                    if a.height >= b.height {
                        self.from.enter(nodes, &a).await?;
                    }
                    if b.height >= a.height {
                        self.to.enter(nodes, &b).await?;
                    }
                }
                (At::Node(a), At::End | At::Item(_)) => self.from.enter(nodes, &a).await?,
                (At::End | At::Item(_), At::Node(b)) => self.to.enter(nodes, &b).await?,
                (At::Item(a), At::End) => {
                    self.from.skip();
                    return Ok(self.inside(DiffEntry {
                        key: a.key.clone(),
                        from: Some(a.entry.clone()),
                        to: None,
                    }));
                }
                (At::End, At::Item(b)) => {
                    self.to.skip();
                    return Ok(self.inside(DiffEntry {
                        key: b.key.clone(),
                        from: None,
                        to: Some(b.entry.clone()),
                    }));
                }
                (At::Item(a), At::Item(b)) => match a.key.cmp(&b.key) {
                    Ordering::Less => {
                        self.from.skip();
                        let entry = DiffEntry { key: a.key.clone(), from: Some(a.entry.clone()), to: None };
                        return Ok(self.inside(entry));
                    }
                    Ordering::Greater => {
                        self.to.skip();
                        let entry = DiffEntry { key: b.key.clone(), from: None, to: Some(b.entry.clone()) };
                        return Ok(self.inside(entry));
                    }
                    Ordering::Equal => {
                        self.from.skip();
                        self.to.skip();
                        if !before(&a.key, self.end.as_deref()) {
                            return Ok(None);
                        }
                        if a.entry != b.entry {
                            return Ok(Some(DiffEntry {
                                key: a.key.clone(),
                                from: Some(a.entry.clone()),
                                to: Some(b.entry.clone()),
                            }));
                        }
                    }
                },
            }
        }
    }

    fn inside(&self, entry: DiffEntry) -> Option<DiffEntry> {
        Some(entry).filter(|entry| before(&entry.key, self.end.as_deref()))
    }
}

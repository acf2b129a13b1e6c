//! Rows that are written together.

use sled::IVec;

use crate::{keys, rows::CHUNK_BYTES};

/// What a row costs in memory beside its key and value, about, in bytes.
const ROW_BYTES: usize = 128;
/// Rows that the engine takes in one piece, by their cost, in bytes: it writes a few times as much, all of which must be synced
/// before its log has gone on by two segments of 512 KiB.
pub(crate) const PIECE_BYTES: usize = 128 * 1024;
/// Rows in each of several pieces, by their cost, in bytes, and how many at most: before each of them it is seen how much the ones before
/// have really brought about.
const SMALL_PIECE_BYTES: usize = 32 * 1024;
const SMALL_PIECE_ROWS: usize = 32;

/// One row as a batch makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub key: IVec,
    /// `None` if the row goes.
    pub value: Option<IVec>,
    /// Whether the key has never been used.
    pub is_new: bool,
}

impl Row {
    /// What the engine has to do for it, in bytes of rows set. Who takes a row out of a leaf of large ones has the leaf
    /// written anew like who puts one in.
    fn cost(&self) -> usize {
        let changed = match &self.value {
            Some(value) => value.len(),
            None if keys::is_large(&self.key) => CHUNK_BYTES,
            None => 0,
        };
        ROW_BYTES + self.key.len() + changed
    }
}

/// Rows that the engine takes at once, all of them or none.
pub(crate) struct Piece<'a> {
    rows: Vec<&'a Row>,
    cost: usize,
}

/// The cost of all of some rows.
pub(crate) fn cost<'a>(rows: impl IntoIterator<Item = &'a Row>) -> usize {
    rows.into_iter().map(Row::cost).sum()
}

/// Rows in their order: in one piece, or if that is too much for the engine in several small ones.
pub(crate) fn pieces<'a>(rows: Vec<&'a Row>) -> Vec<Piece<'a>> {
    let cost = cost(rows.iter().copied());
    if cost <= PIECE_BYTES {
        return vec![Piece { rows, cost }];
    }
    let mut pieces: Vec<Piece<'a>> = Vec::new();
    for row in rows {
        let cost = row.cost();
        match pieces.last_mut() {
            Some(last) if last.rows.len() < SMALL_PIECE_ROWS && last.cost + cost <= SMALL_PIECE_BYTES => {
                last.rows.push(row);
                last.cost += cost;
            }
            _ => pieces.push(Piece { rows: vec![row], cost }),
        }
    }
    pieces
}

impl<'a> Piece<'a> {
    /// A piece of all of some rows.
    pub(crate) fn whole(rows: Vec<&'a Row>) -> Self {
        let cost = cost(rows.iter().copied());
        Self { rows, cost }
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().copied()
    }

    /// What the engine has to do for them, in bytes of rows set.
    pub(crate) const fn cost(&self) -> usize {
        self.cost
    }

    /// The rows as the engine takes them.
    pub(crate) fn batch(&self) -> sled::Batch {
        let mut batch = sled::Batch::default();
        for Row { key, value, .. } in self.rows() {
            match value {
                Some(value) => batch.insert(key.clone(), value.clone()),
                None => batch.remove(key.clone()),
            }
        }
        batch
    }
}

/// Rows in the order in which they were set.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    rows: Vec<Row>,
    bytes: usize,
}

impl Rows {
    /// Sets a row.
    pub(crate) fn insert(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) {
        self.push(key.as_ref(), Some(value.as_ref()), false);
    }

    /// Sets a row whose key has never been used.
    pub(crate) fn insert_new(&mut self, key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) {
        self.push(key.as_ref(), Some(value.as_ref()), true);
    }

    /// Removes a row.
    pub(crate) fn remove(&mut self, key: impl AsRef<[u8]>) {
        self.push(key.as_ref(), None, false);
    }

    pub(crate) fn push(&mut self, key: &[u8], value: Option<&[u8]>, is_new: bool) {
        self.bytes += ROW_BYTES + key.len() + value.map_or(0, <[u8]>::len);
        self.rows.push(Row { key: key.into(), value: value.map(IVec::from), is_new });
    }

    /// What all of them take, about, in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Row> {
        self.rows.iter()
    }

    /// Whether one of them is derived.
    pub(crate) fn has_derived(&self) -> bool {
        self.rows.iter().any(|row| keys::is_derived(&row.key))
    }

    /// Takes none of them for new any more: some may have entered the tree before a crash.
    pub(crate) fn forget_new(&mut self) {
        self.rows.iter_mut().for_each(|row| row.is_new = false);
    }
}

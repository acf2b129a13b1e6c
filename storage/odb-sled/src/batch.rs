//! Rows that are written together.

use sled::IVec;

use crate::keys;

/// What a row costs in memory beside its key and value, about, in bytes.
const ROW_BYTES: usize = 128;

/// One row as a batch makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub key: IVec,
    /// `None` if the row goes.
    pub value: Option<IVec>,
    /// Whether the key has never been used.
    pub is_new: bool,
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

    /// The rows as the engine takes them, for what counts in no sum.
    pub(crate) fn uncounted(&self) -> sled::Batch {
        let mut batch = sled::Batch::default();
        for Row { key, value, .. } in &self.rows {
            match value {
                Some(value) => batch.insert(key.clone(), value.clone()),
                None => batch.remove(key.clone()),
            }
        }
        batch
    }
}

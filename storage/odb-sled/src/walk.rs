//! Walking over rows of a tree some of whose pages cannot be read.
//!
//! The engine's own iterator ends at the first such page and does not say where the next one begins. Keys of the large
//! spaces are ascending numbers, so the place behind a bad page is found by looking up keys further and further on.

use std::{
    cmp::Ordering,
    iter::Peekable,
    panic::{AssertUnwindSafe, catch_unwind},
    vec,
};

use lochan_storage_odb::StoreError;
use sled::IVec;

use crate::error;

/// Bytes of a key, counted behind its space, that are moved on to get behind a page.
const STEP_BYTES: usize = 16;

/// A stretch of keys that cannot be read.
#[derive(Debug, Clone)]
pub(crate) struct Unreadable {
    /// Where in the files, as far as the engine says.
    pub place: String,
    /// What is wrong there.
    pub detail: String,
    /// The last key of the stretch; walking goes on behind it.
    pub last: Vec<u8>,
}

/// A row, or a stretch without any that can be read.
type Step = Result<(IVec, IVec), Unreadable>;

/// Rows from one key to another, in order; stretches that cannot be read in between. Rows that wait to enter the tree count
/// as if they had.
pub(crate) struct Walk<'a> {
    over: Peekable<vec::IntoIter<(IVec, Option<IVec>)>>,
    under: Peekable<InTree<'a>>,
}

impl<'a> Walk<'a> {
    /// Walks over the tree alone.
    pub(crate) fn new(tree: &'a sled::Tree, from: Vec<u8>, end: Vec<u8>) -> Self {
        Self::over(Vec::new(), tree, from, end)
    }

    /// Walks over the tree and what waits in that stretch.
    pub(crate) fn over(
        waiting: Vec<(IVec, Option<IVec>)>,
        tree: &'a sled::Tree,
        from: Vec<u8>,
        end: Vec<u8>,
    ) -> Self {
        let under = InTree { tree, at: from, end, rows: None };
        Self { over: waiting.into_iter().peekable(), under: under.peekable() }
    }
}

impl Iterator for Walk<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        loop {
            let order = match (self.over.peek(), self.under.peek()) {
                (None, _) => return self.under.next(),
                (Some(_), None) => Ordering::Less,
                (Some((over, _)), Some(Ok((under, _)))) => over.cmp(under),
                (Some((over, _)), Some(Err(stretch))) => over.as_ref().cmp(&stretch.last),
            };
            if order == Ordering::Greater {
                return self.under.next();
            }
            if order == Ordering::Equal && matches!(self.under.peek(), Some(Ok(_))) {
                self.under.next();
            }
            if let Some((key, Some(value))) = self.over.next() {
                return Some(Ok((key, value)));
            }
        }
    }
}

struct InTree<'a> {
    tree: &'a sled::Tree,
    at: Vec<u8>,
    end: Vec<u8>,
    rows: Option<sled::Iter>,
}

impl Iterator for InTree<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        if self.at >= self.end {
            return None;
        }
        let read = catch_unwind(AssertUnwindSafe(|| {
            let rows = self.rows.get_or_insert_with(|| self.tree.range(self.at.clone()..self.end.clone()));
            rows.next()
        }));
        let error = match read {
            Ok(None) => {
                self.at = self.end.clone();
                return None;
            }
            Ok(Some(Ok((key, value)))) => {
                self.at.clear();
                self.at.extend_from_slice(&key);
                self.at.push(0);
                return Some(Ok((key, value)));
            }
            Ok(Some(Err(error))) => error::read(error),
            Err(_) => error::panicked(),
        };
        self.rows = None;
        let (place, detail) = match error {
            StoreError::Corrupt { what, detail } => (what, detail),
            other => ("sled/db".to_owned(), other.to_string()),
        };
        self.at = self.behind();
        Some(Err(Unreadable { place, detail, last: self.at.clone() }))
    }
}

impl InTree<'_> {
    /// The nearest key found whose page can be read: twice as far with each try, then halved between.
    fn behind(&self) -> Vec<u8> {
        let Some((prefix, number)) = split(&self.at) else { return self.end.clone() };
        let (mut bad, mut step) = (number, 1u128);
        let good = loop {
            match number.checked_add(step) {
                Some(next) if join(prefix, next) < self.end => {
                    if self.is_readable(&join(prefix, next)) {
                        break next;
                    }
                    bad = next;
                    step = step.saturating_mul(2);
                }
                // Nothing of this space is left that can be read.
                _ => return crate::keys::end_of(prefix).min(self.end.clone()),
            }
        };
        let mut good = good;
        while good - bad > 1 {
            let middle = bad + (good - bad) / 2;
            if self.is_readable(&join(prefix, middle)) { good = middle } else { bad = middle }
        }
        join(prefix, good)
    }

    /// Whether walking on from `key` leads to a row or to the end. A look-up of the key would not do: it may fall into the
    /// last page before the bad one, again and again.
    fn is_readable(&self, key: &[u8]) -> bool {
        let next = || !matches!(self.tree.range(key.to_vec()..self.end.clone()).next(), Some(Err(_)));
        catch_unwind(AssertUnwindSafe(next)).unwrap_or(false)
    }
}

/// Prefix up to and with the space, and the number made of the bytes behind it.
fn split(key: &[u8]) -> Option<(&[u8], u128)> {
    let (prefix, rest) = key.split_at_checked(crate::keys::PREFIX_BYTES)?;
    let mut number = [0; STEP_BYTES];
    for (to, from) in number.iter_mut().zip(rest) {
        *to = *from;
    }
    Some((prefix, u128::from_be_bytes(number)))
}

fn join(prefix: &[u8], number: u128) -> Vec<u8> {
    [prefix, &number.to_be_bytes()].concat()
}

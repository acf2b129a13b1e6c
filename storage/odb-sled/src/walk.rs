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
pub(crate) type Step = Result<(IVec, IVec), Unreadable>;

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
        self.at = behind(&self.at, &self.end, |key| self.is_readable(key));
        Some(Err(Unreadable { place, detail, last: self.at.clone() }))
    }
}

impl InTree<'_> {
    /// Whether walking on from `key` leads to a row or to the end. A look-up of the key would not do: it may fall into the
    /// last page before the bad one, again and again.
    fn is_readable(&self, key: &[u8]) -> bool {
        let next = || !matches!(self.tree.range(key.to_vec()..self.end.clone()).next(), Some(Err(_)));
        catch_unwind(AssertUnwindSafe(next)).unwrap_or(false)
    }
}

/// The nearest key found behind a bad one, before `end`, from which on can be read: twice as far with each try, then halved
/// between.
fn behind(at: &[u8], end: &[u8], is_readable: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let Some((prefix, number)) = split(at) else { return end.to_vec() };
    let last = split(end).filter(|(of, _)| *of == prefix).map_or(u128::MAX, |(_, last)| last);
    let (mut bad, mut step) = (number, 1u128);
    let mut good = loop {
        let next = number.saturating_add(step).min(last);
        if next <= bad {
            // Nothing of this space is left that can be read.
            return crate::keys::end_of(prefix).min(end.to_vec());
        }
        if is_readable(&join(prefix, next)) {
            break next;
        }
        bad = next;
        step = step.saturating_mul(2);
    };
    while good - bad > 1 {
        let middle = bad + (good - bad) / 2;
        if is_readable(&join(prefix, middle)) { good = middle } else { bad = middle }
    }
    join(prefix, good)
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

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: [u8; 3] = [0, 0, 7];
    const END: [u8; 3] = [0, 0, 10];

    fn at(number: u128) -> Vec<u8> {
        join(&SPACE, number)
    }

    #[test]
    fn the_place_behind_a_bad_page_is_found() {
        for (from, good) in [(0, 1), (0, 2), (0, u128::MAX), (5, 6), (5, 1 << 100), (1 << 127, u128::MAX)] {
            let found = behind(&at(from), &END, |key| key >= at(good).as_slice());
            assert_eq!(found, at(good), "from {from}");
        }
        // Behind it, and not behind the end that is looked for.
        let end = at(1_000);
        for good in [41, 900, 999] {
            assert_eq!(behind(&at(40), &end, |key| key >= at(good).as_slice()), at(good));
        }
        assert_eq!(behind(&at(40), &end, |key| key >= end.as_slice()), end);
    }

    #[test]
    fn a_space_without_anything_to_read_is_left() {
        for from in [SPACE.to_vec(), at(0), at(1), at(u128::MAX - 1), at(u128::MAX)] {
            assert_eq!(behind(&from, &END, |_| false), [0, 0, 8], "from {from:?}");
            let end = at(u128::MAX);
            assert_eq!(behind(&from, &end, |_| false), end, "from {from:?}");
        }
    }
}

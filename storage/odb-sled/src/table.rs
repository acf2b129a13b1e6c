//! The rows as they stand: those of the tree, and over them what waits to enter it.

use std::{cmp::Ordering, iter::Peekable, sync::Arc};

use sled::IVec;

use crate::{pending::Pending, walk::Walk};

/// One row with its key.
type Pair = (IVec, IVec);

/// The one tree, seen through what waits.
pub(crate) struct Table {
    /// What has arrived in the engine. Right for what is written past the journal, and for everything once it is settled.
    pub(crate) tree: sled::Tree,
    pub(crate) pending: Arc<Pending>,
}

impl Table {
    /// The row at `key`.
    pub(crate) fn get(&self, key: impl AsRef<[u8]>) -> sled::Result<Option<IVec>> {
        match self.pending.get(key.as_ref()) {
            Some(found) => Ok(found),
            // Rows leave what waits after they have entered the tree.
            None => self.tree.get(key),
        }
    }

    /// The rows from `start` to before `end`, in order.
    pub(crate) fn range(&self, start: &[u8], end: &[u8]) -> impl Iterator<Item = sled::Result<Pair>> + use<> {
        let over = self.pending.range(start, end).into_iter();
        Merged::new(over, self.tree.range(start..end), Ordering::Less)
    }

    /// The first key from `start` to before `end`.
    pub(crate) fn first_key(&self, start: &[u8], end: &[u8]) -> sled::Result<Option<IVec>> {
        let mut from = start.to_vec();
        loop {
            let under = self.tree.range(from.as_slice()..end).next().transpose()?.map(|(key, _)| key);
            match (self.pending.first(&from, end), under) {
                (Some((over, is_set)), under) if under.as_ref().is_none_or(|under| over <= *under) => {
                    if is_set {
                        return Ok(Some(over));
                    }
                    // A row that goes: on behind it.
                    from = over.to_vec();
                    from.push(0);
                }
                (_, under) => return Ok(under),
            }
        }
    }

    /// The rows from `start` to before `end`, with stretches that cannot be read.
    pub(crate) fn walk(&self, start: Vec<u8>, end: Vec<u8>) -> Walk<'_> {
        Walk::over(self.pending.range(&start, &end), &self.tree, start, end)
    }

    /// The rows from `start` to before `end`, the last one first.
    pub(crate) fn range_back(
        &self,
        start: &[u8],
        end: &[u8],
    ) -> impl Iterator<Item = sled::Result<Pair>> + use<> {
        let over = self.pending.range(start, end).into_iter().rev();
        Merged::new(over, self.tree.range(start..end).rev(), Ordering::Greater)
    }
}

/// Two sequences in one order; of two rows with one key the upper one counts.
struct Merged<O: Iterator, U: Iterator> {
    over: Peekable<O>,
    under: Peekable<U>,
    /// How each key compares to the one behind it.
    order: Ordering,
}

impl<O, U> Merged<O, U>
where
    O: Iterator<Item = (IVec, Option<IVec>)>,
    U: Iterator<Item = sled::Result<Pair>>,
{
    fn new(over: O, under: U, order: Ordering) -> Self {
        Self { over: over.peekable(), under: under.peekable(), order }
    }
}

impl<O, U> Iterator for Merged<O, U>
where
    O: Iterator<Item = (IVec, Option<IVec>)>,
    U: Iterator<Item = sled::Result<Pair>>,
{
    type Item = sled::Result<Pair>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let order = match (self.over.peek(), self.under.peek()) {
                (None, _) | (_, Some(Err(_))) => return self.under.next(),
                (Some(_), None) => self.order,
                (Some((over, _)), Some(Ok((under, _)))) => over.cmp(under),
            };
            if order == self.order.reverse() {
                return self.under.next();
            }
            if order == Ordering::Equal {
                self.under.next();
            }
            if let Some((key, Some(value))) = self.over.next() {
                return Some(Ok((key, value)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(keys: &[u8], value: u8) -> Vec<Pair> {
        keys.iter().map(|key| (IVec::from(&[*key]), IVec::from(&[value]))).collect()
    }

    fn merged(over: &[(u8, bool)], under: &[u8], back: bool) -> Vec<(u8, u8)> {
        let mut over: Vec<_> = over
            .iter()
            .map(|(key, is_set)| (IVec::from(&[*key]), is_set.then(|| IVec::from(&[1]))))
            .collect();
        let mut under = pairs(under, 0);
        if back {
            over.reverse();
            under.reverse();
        }
        let order = if back { Ordering::Greater } else { Ordering::Less };
        let found = Merged::new(over.into_iter(), under.into_iter().map(Ok), order);
        found.map(|row| row.map(|(key, value)| (key[0], value[0])).unwrap()).collect()
    }

    #[test]
    fn the_upper_row_counts_and_a_removed_one_hides_the_lower() {
        let over = [(1, true), (3, false), (4, true), (6, false), (9, true)];
        let expected = [(1, 1), (2, 0), (4, 1), (5, 0), (9, 1)];
        assert_eq!(merged(&over, &[2, 3, 4, 5], false), expected);
        let mut back = merged(&over, &[2, 3, 4, 5], true);
        back.reverse();
        assert_eq!(back, expected);
        assert_eq!(merged(&[], &[2, 3], true), [(3, 0), (2, 0)]);
        assert_eq!(merged(&[(7, false)], &[], false), []);
    }
}

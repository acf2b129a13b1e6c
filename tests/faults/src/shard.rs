//! Parts of a run, so that each fits in an hour.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// The `index`-th of `count` parts of a run, from 1 on: `2/8` is the second of eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    pub(crate) index: u64,
    pub(crate) count: u64,
}

impl Shard {
    /// Everything.
    pub const WHOLE: Self = Self { index: 1, count: 1 };

    /// The `index`-th of `count`; `None` if there is no such part.
    #[must_use]
    pub fn new(index: u64, count: u64) -> Option<Self> {
        (1..=count).contains(&index).then_some(Self { index, count })
    }

    /// Its part of `total` numbers from 0 on, in one piece.
    #[must_use]
    pub fn part(self, total: u64) -> Range<u64> {
        let at = |shard: u64| total / self.count * shard + (total % self.count).min(shard);
        at(self.index - 1)..at(self.index)
    }

    /// Whether the case with this number belongs to it, where cases are dealt out one by one.
    #[must_use]
    pub const fn has(self, number: u64) -> bool {
        number % self.count == self.index - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        parts
            .and_then(|(index, count)| Self::new(index, count))
            .ok_or_else(|| format!("'{text}' is no shard such as 2/5"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parts_that_there_are_can_be_named() {
        assert_eq!("2/3".parse::<Shard>().unwrap().to_string(), "2/3");
        assert!("0/3".parse::<Shard>().is_err() && "4/3".parse::<Shard>().is_err());
    }
}

//! What the store holds, counted and summed up, so that nothing can get lost without a trace. `FORMAT.md`, *Damage*.

use lochan_storage_model::{
    DecodeError,
    encoding::{Reader, Writer},
};
use lochan_storage_odb::{Damage, StoreError};

use crate::{
    batch::{Piece, Row},
    error,
    keys::{self, Space},
    objects, parts,
    walk::{Step, Walk},
};

const FORMAT: u8 = 1;
/// What of most rows counts, at most, in bytes.
const COUNTED_BYTES: usize = 512;
/// Names of the groups, as findings show them.
const GROUPS: [&str; 3] = ["objects", "references and their log", "records"];
/// Whoever looks at all rows that are counted: is asked for each part of them, from several threads at once.
pub(crate) type Onlooker<'a> = dyn Fn() -> Box<dyn FnMut(&Step) + 'a> + Sync + 'a;

/// For a count that nobody looks at.
pub(crate) static NOBODY: &Onlooker<'static> = &|| Box::new(|_| {});

/// Number and sum of the rows of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sum {
    count: u64,
    sum: u128,
}

/// What the state row says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct State {
    /// Number of the last batch that is whole in the tree.
    pub batch: u64,
    pub groups: [Sum; GROUPS.len()],
}

impl State {
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut w = Writer::with_capacity(80);
        w.u8(FORMAT);
        w.varint(self.batch);
        for group in self.groups {
            w.varint(group.count);
            w.raw(&group.sum.to_be_bytes());
        }
        w.finish()
    }

    pub(crate) fn read(row: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(row);
        match r.u8("state format")? {
            FORMAT => {}
            found => return Err(DecodeError::Version { what: "the state row", found }),
        }
        let mut state = Self { batch: r.varint("state batch")?, ..Self::default() };
        for group in &mut state.groups {
            group.count = r.varint("state count")?;
            group.sum = u128::from_be_bytes(r.array("state sum")?);
        }
        r.end()?;
        Ok(state)
    }

    fn add(&mut self, group: usize, digest: u128) {
        if let Some(group) = self.groups.get_mut(group) {
            group.count = group.count.wrapping_add(1);
            group.sum = group.sum.wrapping_add(digest);
        }
    }

    fn take(&mut self, group: usize, digest: u128) {
        if let Some(group) = self.groups.get_mut(group) {
            group.count = group.count.wrapping_sub(1);
            group.sum = group.sum.wrapping_sub(digest);
        }
    }

    /// What the store holds once a piece of rows is in its tree too, and every batch up to `batch` is whole there.
    pub(crate) fn with(&self, tree: &sled::Tree, piece: &Piece<'_>, batch: u64) -> Result<Self, StoreError> {
        let mut state = Self { batch, ..*self };
        for Row { key, value, is_new } in piece.rows() {
            if let Some(of) = self::group(key) {
                if !is_new && let Some(old) = tree.get(key).map_err(error::read)? {
                    state.take(of, digest(key, &old));
                }
                if let Some(value) = value {
                    state.add(of, digest(key, value));
                }
            }
        }
        Ok(state)
    }

    /// Counts the rows of a tree, and shows each of them to `onlooker`. What cannot be read is told instead.
    pub(crate) fn count(tree: &sled::Tree, batch: u64, onlooker: &Onlooker<'_>) -> Result<Self, Vec<Damage>> {
        // Between the two lies what counts in no sum.
        let others = (keys::key(Space::Reference, &[]), keys::key(Space::Derived, &[]));
        let mut state = Self { batch, ..Self::default() };
        let mut damage = Vec::new();
        for part in parts::each(tree, vec![others], |(from, to)| Self::count_part(tree, from, to, onlooker)) {
            match part {
                Ok(part) => state.merge(&part),
                Err(found) => damage.extend(found),
            }
        }
        if damage.is_empty() { Ok(state) } else { Err(damage) }
    }

    fn count_part(
        tree: &sled::Tree,
        from: Vec<u8>,
        to: Vec<u8>,
        onlooker: &Onlooker<'_>,
    ) -> Result<Self, Vec<Damage>> {
        let mut state = Self::default();
        let mut damage = Vec::new();
        let mut look = onlooker();
        let mut counted = Vec::with_capacity(COUNTED_BYTES);
        for row in Walk::new(tree, from, to) {
            look(&row);
            match row {
                Ok((key, value)) => {
                    if let Some(group) = group(&key) {
                        state.add(group, digest_in(&mut counted, &key, &value));
                    }
                }
                Err(found) => damage.push(Damage { what: found.place, detail: found.detail }),
            }
        }
        if damage.is_empty() { Ok(state) } else { Err(damage) }
    }

    fn merge(&mut self, other: &Self) {
        for (group, other) in self.groups.iter_mut().zip(&other.groups) {
            group.count = group.count.wrapping_add(other.count);
            group.sum = group.sum.wrapping_add(other.sum);
        }
    }

    /// Counts the rows of a tree, showing them to `onlooker`; everything in which they are not what this row says.
    pub(crate) fn audit(&self, tree: &sled::Tree, onlooker: &Onlooker<'_>) -> Vec<Damage> {
        match Self::count(tree, self.batch, onlooker) {
            Ok(counted) => self.differences(&counted),
            Err(damage) => damage,
        }
    }

    /// Where the rows of a tree, just counted, are not those that this row says.
    fn differences(&self, counted: &Self) -> Vec<Damage> {
        let pairs = GROUPS.iter().zip(self.groups.iter().zip(&counted.groups));
        let differing = pairs.filter(|(_, (said, found))| said != found);
        differing
            .map(|(name, (said, found))| {
                let detail = match said.count == found.count {
                    true => format!(
                        "{} rows as they should be, but some of them hold an older state",
                        found.count
                    ),
                    false => format!("there are {} rows where there should be {}", found.count, said.count),
                };
                Damage { what: format!("{name} in sled/db"), detail }
            })
            .collect()
    }
}

/// The group that a row counts in.
fn group(key: &[u8]) -> Option<usize> {
    match key.get(keys::PREFIX_BYTES - 1)? {
        1 => Some(0),
        // The row that holds the sums is no part of them.
        5 if key.len() == keys::PREFIX_BYTES => None,
        4..=7 => Some(1),
        8 | 9 => Some(2),
        _ => None,
    }
}

fn digest(key: &[u8], value: &[u8]) -> u128 {
    digest_in(&mut Vec::with_capacity(COUNTED_BYTES), key, value)
}

/// The digest of a row, put together in `counted`.
fn digest_in(counted: &mut Vec<u8>, key: &[u8], value: &[u8]) -> u128 {
    counted.clear();
    counted.extend_from_slice(&u16::try_from(key.len()).unwrap_or(u16::MAX).to_be_bytes());
    counted.extend_from_slice(key);
    if key.get(keys::PREFIX_BYTES - 1) == Some(&(Space::Object as u8)) {
        objects::counted(value, counted);
    } else {
        counted.extend_from_slice(value);
    }
    let hash = blake3::hash(counted);
    u128::from_le_bytes(hash.as_bytes().first_chunk().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use lochan_storage_model::{ObjectId, ObjectKind};

    use super::*;
    use crate::objects::ObjectHeader;

    #[test]
    fn the_row_is_as_drawn_and_comes_back() {
        let mut state = State { batch: 300, ..State::default() };
        state.add(0, 1);
        state.add(2, u128::MAX);
        state.add(2, 2);
        let row = state.write();
        assert_eq!(row[..4], [1, 0xac, 2, 1]);
        assert_eq!(row.len(), 3 + 3 * 17);
        assert_eq!(State::read(&row).unwrap(), state);
        assert!(State::read(&row[1..]).is_err());
        state.take(2, 2);
        assert_eq!(state.groups[2], Sum { count: 1, sum: u128::MAX });
    }

    #[test]
    fn an_epoch_counts_for_nothing_and_a_name_for_much() {
        let key = [&[0, 0, 1][..], &[7; 12]].concat();
        let row: Vec<u8> = (0..60).collect();
        let mut renewed = row.clone();
        renewed[5] ^= 1;
        assert_eq!(digest(&key, &row), digest(&key, &renewed));
        renewed[9] ^= 1;
        assert_ne!(digest(&key, &row), digest(&key, &renewed));
        assert_ne!(digest(b"\0\0\x04ab", b"c"), digest(b"\0\0\x04a", b"bc"));

        let id = |n| ObjectId::from_bytes([n; 32]);
        let header = |n| ObjectHeader { kind: ObjectKind::Commit, epoch: 1, id: id(n), size: 1 };
        let packed = |ids: &[u8]| {
            let mut pack = objects::Pack::default();
            ids.iter().for_each(|n| pack.push(&header(*n), b"x"));
            pack.row().to_vec()
        };
        let row = packed(&[1, 2]);
        let mut renewed = row.clone();
        objects::renew(&mut renewed, id(2), 5).unwrap();
        assert_ne!(row, renewed);
        assert_eq!(digest(&key, &row), digest(&key, &renewed));
        assert_ne!(digest(&key, &row), digest(&key, &packed(&[1, 3])));
        assert_ne!(digest(&key, &row), digest(&key, &packed(&[1])));
    }
}

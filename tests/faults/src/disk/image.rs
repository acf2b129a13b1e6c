//! What a disk shows after a power cut.

use std::{collections::BTreeMap, path::Path};

use anyhow::Result;

use super::model::{Change, Disk, Id, Names, Node, ROOT, rename, write};
use crate::rng::Rng;

/// In which pieces unsynced bytes are kept or lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tear {
    /// Sectors.
    Bytes512,
    /// Pages.
    Bytes4096,
}

/// What becomes of everything that was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// All of it is lost.
    Dropped,
    /// All of it is there.
    Kept,
    /// Each piece and each name for itself, as the seed decides.
    Torn(Tear, u64),
}

impl Fate {
    /// The fate with number `number` of a seed: each kind comes up, and every number differs.
    #[must_use]
    pub fn of(seed: u64, number: u64) -> Self {
        let mut rng = Rng::part(seed, number, 77);
        match rng.below(8) {
            0 => Self::Dropped,
            1 => Self::Kept,
            2..=4 => Self::Torn(Tear::Bytes512, rng.draw()),
            _ => Self::Torn(Tear::Bytes4096, rng.draw()),
        }
    }
}

/// Decides, in the order in which it is asked.
struct Chance {
    fate: Fate,
    rng: Rng,
    /// Of 8 pieces so many are kept.
    kept_of_8: u64,
    /// How names fare: 0 all lost, 1 all kept, 2 the first ones kept, else each for itself.
    names: u64,
}

impl Chance {
    fn new(fate: Fate) -> Self {
        let mut rng = Rng::new(if let Fate::Torn(_, seed) = fate { seed } else { 0 });
        let kept_of_8 = [1, 4, 7].get(rng.below(3) as usize).copied().unwrap_or(4);
        let names = rng.below(4);
        Self { fate, rng, kept_of_8, names }
    }

    fn piece(&mut self) -> bool {
        match self.fate {
            Fate::Dropped => false,
            Fate::Kept => true,
            Fate::Torn(..) => self.rng.below(8) < self.kept_of_8,
        }
    }

    const fn piece_bytes(&self) -> u64 {
        match self.fate {
            Fate::Torn(Tear::Bytes512, _) => 512,
            _ => 4096,
        }
    }
}

impl Disk {
    /// Writes what a power cut now would leave into `folder`, which is empty.
    pub fn write_image(&self, fate: Fate, folder: &Path) -> Result<()> {
        let mut chance = Chance::new(fate);
        let names = self.names_after(&mut chance);
        let mut below: BTreeMap<Id, Vec<(&str, Id)>> = BTreeMap::new();
        for ((at, name), id) in &names {
            below.entry(*at).or_default().push((name, *id));
        }
        let mut open = vec![(ROOT, folder.to_owned())];
        while let Some((id, path)) = open.pop() {
            for (name, child) in below.get(&id).into_iter().flatten() {
                let path = path.join(name);
                match self.nodes.get(*child) {
                    Some(Node::Folder) => {
                        std::fs::create_dir(&path)?;
                        open.push((*child, path));
                    }
                    Some(Node::File(content)) => {
                        let mut bytes = content.durable.clone();
                        for (_, change) in &content.pending {
                            keep_part(&mut bytes, change, &mut chance);
                        }
                        std::fs::write(&path, &bytes)?;
                    }
                    None => {}
                }
            }
        }
        Ok(())
    }

    fn names_after(&self, chance: &mut Chance) -> Names {
        let mut names = self.durable_names.clone();
        let first = chance.rng.below(self.pending_names.len() as u64 + 1) as usize;
        for (number, (_, change)) in self.pending_names.iter().enumerate() {
            let kept = match (chance.fate, chance.names) {
                (Fate::Dropped, _) => false,
                (Fate::Kept, _) => true,
                (_, 0) => false,
                (_, 1) => true,
                (_, 2) => number < first,
                _ => chance.rng.below(2) == 0,
            };
            if kept {
                rename(&mut names, change);
            }
        }
        names
    }
}

fn keep_part(bytes: &mut Vec<u8>, change: &Change, chance: &mut Chance) {
    match change {
        Change::Length(size) => {
            if chance.piece() {
                bytes.resize(*size as usize, 0);
            }
        }
        Change::Write { offset, data } => {
            let piece_bytes = chance.piece_bytes();
            let mut rest: &[u8] = data;
            let mut at = *offset;
            while !rest.is_empty() {
                let until_border = (piece_bytes - at % piece_bytes) as usize;
                let (piece, behind) = rest.split_at(until_border.min(rest.len()));
                if chance.piece() {
                    write(bytes, at, piece);
                }
                at += piece.len() as u64;
                rest = behind;
            }
        }
    }
}

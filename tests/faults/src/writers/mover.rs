//! Creates, moves, commits to, and deletes branches and tags that nobody else touches.

use std::collections::BTreeMap;

use super::desk::{Desk, Gone, Refusal};
use super::{CROWD, MAIN};
use crate::client::{Client, Write};
use crate::record::{CommitHash, Key, Kind, Model, Position, Put};

/// References of one mover.
const NAMES: u64 = 5;
/// Commits that it moves references among.
const KNOWN_MAX: usize = 32;
/// One move in so many looks for new commits first.
const LOOK_ONE_IN: u64 = 6;

pub(super) async fn run(desk: &mut Desk, model: &Model) -> Result<(), Gone> {
    let mut known: Vec<CommitHash> = Vec::new();
    let prefix = format!("moved-{:02}-", desk.number());
    let mut own: BTreeMap<String, Position> = model
        .references
        .iter()
        .filter(|(name, _)| name.starts_with(&prefix))
        .map(|(name, position)| (name.clone(), position.clone()))
        .collect();
    loop {
        if known.is_empty() || desk.rng.below(LOOK_ONE_IN) == 0 {
            for branch in [MAIN, CROWD] {
                let found = desk.read(async |client: &Client| client.reference(branch).await).await?;
                known.extend(found.map(|p| p.hash));
            }
            let extra = known.len().saturating_sub(KNOWN_MAX);
            known.drain(..extra);
        }
        let name = format!("{prefix}{}", desk.rng.below(NAMES));
        let Some(hash) = desk.rng.pick(&known).cloned() else { return Err(Gone) };
        match own.get(&name).cloned() {
            None => {
                let kind = if desk.rng.below(2) == 0 { Kind::Branch } else { Kind::Tag };
                let to = Position { kind, hash };
                desk.create(&name, &to).await?;
                own.insert(name, to);
            }
            Some(at) => match desk.rng.below(8) {
                0 | 1 => {
                    desk.delete(&name, &at.hash).await?;
                    own.remove(&name);
                }
                2 | 3 if at.kind == Kind::Branch => {
                    let key = Key::new("faults-n", desk.new_table());
                    let version = desk.next_version();
                    let write = Write { put: Put { key, version }, id: None };
                    if let Some(done) = desk.commit(&name, &at.hash, &[write], Refusal::Wrong).await? {
                        own.insert(name, Position { kind: at.kind, hash: done.hash });
                    }
                }
                _ => {
                    let to = Position { kind: at.kind, hash };
                    desk.assign(&name, &at.hash, &to, Refusal::Wrong).await?;
                    own.insert(name, to);
                }
            },
        }
    }
}

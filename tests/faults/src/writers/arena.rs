//! A branch on which writers conflict and which is reset while they write.

use std::time::Duration;

use super::ARENA;
use super::desk::{Desk, Gone, Refusal};
use crate::client::{Client, Write};
use crate::record::{Key, Kind, Model, Position, Put};

/// Commits that a reset looks back over.
const RESET_DEPTH: usize = 8;
/// Longest pause between two resets, in milliseconds: short enough to meet commits, long enough for some to land.
const RESET_PAUSE_MS_MAX: u64 = 30;

/// Table that all writers of the arena set.
pub(super) fn hot_key() -> Key {
    Key::new("faults-m", "hot")
}

/// Table of one writer.
pub(super) fn own_key(number: usize) -> Key {
    Key::new("faults-a", format!("arena-{number:02}"))
}

/// Reads, then sets the writer's own table and the hot one; a conflict is an answer like any other.
pub(super) async fn commit(desk: &mut Desk) -> Result<(), Gone> {
    let keys = [own_key(desk.number()), hot_key()];
    loop {
        let read = desk.read(async |client: &Client| client.tables(ARENA, &keys).await).await?;
        let version = desk.next_version();
        let writes: Vec<Write> = keys
            .iter()
            .map(|key| Write {
                put: Put { key: key.clone(), version },
                id: read.tables.get(key).map(|t| t.id.clone()),
            })
            .collect();
        desk.commit(ARENA, &read.hash, &writes, Refusal::Possible).await?;
    }
}

/// Resets the arena by a few commits, never below where the round began.
pub(super) async fn reset(desk: &mut Desk, model: &Model) -> Result<(), Gone> {
    let Some(floor) = model.head(ARENA) else { return Err(Gone) };
    loop {
        let last = desk.read(async |client: &Client| client.last(ARENA, RESET_DEPTH).await).await?;
        let mut hashes: Vec<_> = last.into_iter().map(|commit| commit.hash).collect();
        if let Some(at) = hashes.iter().position(|hash| hash == floor) {
            hashes.truncate(at + 1);
        }
        let mut hashes = hashes.into_iter();
        if let Some(head) = hashes.next() {
            let earlier: Vec<_> = hashes.collect();
            if let Some(hash) = desk.rng.pick(&earlier).cloned() {
                let to = Position { kind: Kind::Branch, hash };
                desk.assign(ARENA, &head, &to, Refusal::Possible).await?;
            }
        }
        let pause = desk.rng.below(RESET_PAUSE_MS_MAX);
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
}

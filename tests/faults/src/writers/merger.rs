//! Branches off `main`, commits there once or twice, merges back, deletes the branch.

use std::collections::BTreeMap;

use super::desk::{Desk, Gone, Refusal};
use super::{MAIN, MERGER_TABLES};
use crate::client::{Client, Write};
use crate::record::{Key, Kind, Model, Position, Put};

/// Tables that every merge of this writer brings.
pub(super) fn keys(number: usize) -> Vec<Key> {
    (0..MERGER_TABLES).map(|i| Key::new("faults-m", format!("w{number:02}-{i}"))).collect()
}

pub(super) async fn run(desk: &mut Desk, model: &Model) -> Result<(), Gone> {
    let work = format!("work-{:02}", desk.number());
    if let Some(left) = model.head(&work) {
        desk.delete(&work, left).await?;
    }
    let keys = keys(desk.number());
    let read = desk.read(async |client: &Client| client.tables(MAIN, &keys).await).await?;
    let mut base = read.hash;
    let write = |key: &Key, version| Write {
        put: Put { key: key.clone(), version },
        id: read.tables.get(key).map(|t| t.id.clone()),
    };
    loop {
        desk.create(&work, &Position { kind: Kind::Branch, hash: base.clone() }).await?;
        let version = desk.next_version();
        let mut writes: Vec<Write> = keys.iter().map(|key| write(key, version)).collect();
        let key = Key::new("faults-n", desk.new_table());
        writes.push(Write { put: Put { key, version }, id: None });
        let mut brought: BTreeMap<Key, i64> =
            writes.iter().map(|w| (w.put.key.clone(), w.put.version)).collect();
        let Some(committed) = desk.commit(&work, &base, &writes, Refusal::Wrong).await? else {
            return Err(Gone);
        };
        let mut head = committed.hash;
        if desk.rng.below(2) == 0 {
            let version = desk.next_version();
            let again: Vec<Write> = keys.iter().skip(2).map(|key| write(key, version)).collect();
            brought.extend(again.iter().map(|w| (w.put.key.clone(), w.put.version)));
            let Some(committed) = desk.commit(&work, &head, &again, Refusal::Wrong).await? else {
                return Err(Gone);
            };
            head = committed.hash;
        }
        let puts = brought.into_iter().map(|(key, version)| Put { key, version }).collect();
        base = desk.merge(MAIN, &base, &work, &head, puts).await?;
        desk.delete(&work, &head).await?;
    }
}

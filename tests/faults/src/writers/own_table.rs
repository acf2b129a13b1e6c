//! Commits to two tables that nobody else writes, and now and then a new one: never a conflict.

use super::desk::{Desk, Gone, Refusal};
use crate::client::{Client, Write};
use crate::record::{Key, Put};

/// One commit in so many adds a table.
const NEW_TABLE_ONE_IN: u64 = 8;

/// The writer's tables, at both ends of the key order.
pub(super) fn keys(number: usize) -> [Key; 2] {
    [Key::new("faults-a", format!("w{number:02}")), Key::new("faults-z", format!("w{number:02}"))]
}

pub(super) async fn run(desk: &mut Desk, branch: &str) -> Result<(), Gone> {
    let keys = keys(desk.number());
    let read = desk.read(async |client: &Client| client.tables(branch, &keys).await).await?;
    let mut expected = read.hash;
    loop {
        let version = desk.next_version();
        let mut writes: Vec<Write> = keys
            .iter()
            .map(|key| Write {
                put: Put { key: key.clone(), version },
                id: read.tables.get(key).map(|t| t.id.clone()),
            })
            .collect();
        if desk.rng.below(NEW_TABLE_ONE_IN) == 0 {
            let key = Key::new("faults-n", desk.new_table());
            writes.push(Write { put: Put { key, version }, id: None });
        }
        if let Some(committed) = desk.commit(branch, &expected, &writes, Refusal::Wrong).await? {
            expected = committed.hash;
        }
    }
}

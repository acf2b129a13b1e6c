//! The writers of a round and who does what.

mod arena;
mod desk;
mod merger;
mod mover;
mod own_table;
mod setter;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, Result, bail};

pub use desk::{Desk, Gone};

use crate::client::{Client, Reply, Write};
use crate::record::{Event, Key, Kind, Model, Position, Put, Setting};

/// Branch of the mergers and of some writers of own tables.
pub const MAIN: &str = "main";
/// Branch of writers of own tables alone.
pub const CROWD: &str = "crowd";
/// Branch with conflicts and resets.
pub const ARENA: &str = "arena";
/// Branches with several writers.
pub const SHARED: [&str; 3] = [MAIN, CROWD, ARENA];

/// Namespaces, far apart in key order.
const NAMESPACES: [&str; 4] = ["faults-a", "faults-m", "faults-n", "faults-z"];
/// Tables that one merger brings along every time.
const MERGER_TABLES: usize = 4;
/// Version of every table before the first round.
const FIRST_VERSION: i64 = 1;

/// What a writer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Commits to two tables of its own on a shared branch.
    OwnTable(&'static str),
    /// Branches off `main`, commits, merges back, deletes the branch.
    Merger,
    /// Commits to its own table and one that others write, too.
    Arena,
    /// Resets the arena to an earlier commit.
    Resetter,
    /// Creates, moves, deletes branches and tags of its own.
    Mover,
    /// Replaces the setting.
    Setter,
}

/// What sixteen writers do; more of them repeat it.
const ROLES: [Role; 16] = [
    Role::Setter,
    Role::Setter,
    Role::OwnTable(CROWD),
    Role::OwnTable(CROWD),
    Role::OwnTable(CROWD),
    Role::OwnTable(MAIN),
    Role::OwnTable(MAIN),
    Role::OwnTable(MAIN),
    Role::Merger,
    Role::Merger,
    Role::Merger,
    Role::Arena,
    Role::Arena,
    Role::Resetter,
    Role::Mover,
    Role::Mover,
];

/// What one writer brings back.
#[derive(Debug, Default)]
pub struct Log {
    /// Its requests in order.
    pub events: Vec<Event>,
    /// Its requests to replace the setting.
    pub settings: Vec<Setting>,
    /// Answers that should not have come.
    pub surprises: Vec<String>,
}

/// Writers by number, with what each does.
fn roles(count: usize) -> impl Iterator<Item = (usize, Role)> {
    ROLES.into_iter().cycle().take(count).enumerate()
}

/// Starts `count` writers against one server; they run until it is gone.
pub fn start(
    client: &Client,
    model: &Arc<Model>,
    seed: u64,
    round: u64,
    killed: &Arc<AtomicBool>,
    count: usize,
) -> Vec<tokio::task::JoinHandle<Log>> {
    let start_one = |(number, role): (usize, Role)| {
        let mut desk = Desk::new(client.clone(), seed, round, number, Arc::clone(killed));
        let model = Arc::clone(model);
        tokio::spawn(async move {
            // However a writer ends, what it recorded says why.
            let _gone: Result<(), Gone> = match role {
                Role::OwnTable(branch) => own_table::run(&mut desk, branch).await,
                Role::Merger => merger::run(&mut desk, &model).await,
                Role::Arena => arena::commit(&mut desk).await,
                Role::Resetter => arena::reset(&mut desk, &model).await,
                Role::Mover => mover::run(&mut desk, &model).await,
                Role::Setter => setter::run(&mut desk).await,
            };
            desk.into_log()
        })
    };
    roles(count).map(start_one).collect()
}

/// Makes the namespaces, all tables that `count` writers expect, and the shared branches; returns the first state.
pub async fn set_up(client: &Client, count: usize) -> Result<Model> {
    let main = client.reference(MAIN).await?.context("no default branch")?;
    let mut keys: Vec<Key> = vec![arena::hot_key()];
    for (number, role) in roles(count) {
        match role {
            Role::OwnTable(_) => keys.extend(own_table::keys(number)),
            Role::Merger => keys.extend(merger::keys(number)),
            Role::Arena => keys.push(arena::own_key(number)),
            Role::Resetter | Role::Mover | Role::Setter => {}
        }
    }
    let writes: Vec<Write> = keys
        .iter()
        .map(|key| Write { put: Put { key: key.clone(), version: FIRST_VERSION }, id: None })
        .collect();
    let head = match client.commit(MAIN, &main.hash, "set-up", &NAMESPACES, &writes).await {
        Reply::Done(committed) => Position { kind: Kind::Branch, hash: committed.hash },
        other => bail!("the first commit failed: {other:?}"),
    };
    let mut model = Model::default();
    for branch in SHARED {
        if branch != MAIN {
            match client.create(branch, &head).await {
                Reply::Done(_) => {}
                other => bail!("creating {branch} failed: {other:?}"),
            }
        }
        model.references.insert(branch.to_owned(), head.clone());
        let versions = keys.iter().map(|key| (key.clone(), FIRST_VERSION)).collect();
        model.versions.insert(branch.to_owned(), versions);
    }
    Ok(model)
}

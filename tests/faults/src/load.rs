//! Writers that only commit, each on a branch of its own, and what they were told: enough to fill a store, and to say what
//! it must hold at any moment.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use crate::client::{Client, Reply, Write};
use crate::record::{CommitHash, Key, Kind, Position, Put};
use crate::rng::Rng;

/// Tables that a writer goes round.
const TABLES: u64 = 40;
/// Most tables in one commit.
const PUTS_MAX: u64 = 3;
/// Namespace of all tables.
const NAMESPACE: &str = "load";

/// One acknowledged commit: the head after it, and every table of the branch then.
#[derive(Clone, Debug)]
pub struct Step {
    /// The head.
    pub hash: CommitHash,
    /// Tables and their versions.
    pub tables: BTreeMap<Key, i64>,
}

/// What the writers were told, by branch, oldest first.
pub type Told = Arc<Vec<Mutex<Vec<Step>>>>;

/// Writers at work.
pub struct Load {
    /// What they were told so far.
    pub told: Told,
    stop: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<Result<()>>>,
}

/// Name of a writer's branch.
pub fn branch(writer: usize) -> String {
    format!("writer-{writer}")
}

impl Load {
    /// Starts writers that go on from what `told` says.
    pub fn start(client: &Client, told: &Told, seed: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let tasks = (0..told.len())
            .map(|writer| {
                let (client, told, stop) = (client.clone(), Arc::clone(told), Arc::clone(&stop));
                tokio::spawn(async move { write(&client, writer, &told, seed, &stop).await })
            })
            .collect();
        Self { told: Arc::clone(told), stop, tasks }
    }

    /// Lets every writer finish its commit.
    pub async fn stop(self) -> Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        for task in self.tasks {
            task.await.context("a writer panicked")??;
        }
        Ok(())
    }

    /// Whether a writer has ended by itself, which none should.
    pub fn is_ended(&self) -> bool {
        self.tasks.iter().any(JoinHandle::is_finished)
    }

    /// Ends the writers at once, for a server that is about to be killed.
    pub fn abandon(self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

/// No commits yet, by so many writers.
pub fn nothing_told(writers: usize) -> Told {
    Arc::new((0..writers).map(|_| Mutex::default()).collect())
}

/// How many commits each writer was told of.
pub async fn lengths(told: &Told) -> Vec<usize> {
    let mut found = Vec::new();
    for steps in told.iter() {
        found.push(steps.lock().await.len());
    }
    found
}

async fn write(client: &Client, writer: usize, told: &Told, seed: u64, stop: &AtomicBool) -> Result<()> {
    let branch = branch(writer);
    let steps = told.get(writer).context("no such writer")?;
    let mut rng = Rng::part(seed, 1, writer as u64);
    let mut head = match client.reference(&branch).await? {
        Some(position) => position.hash,
        None => {
            let main = client.reference("main").await?.context("no default branch")?;
            match client.create(&branch, &Position { kind: Kind::Branch, hash: main.hash.clone() }).await {
                Reply::Done(_) => main.hash,
                other => bail!("creating {branch}: {other:?}"),
            }
        }
    };
    let mut tables: BTreeMap<Key, i64> =
        steps.lock().await.last().map(|step| step.tables.clone()).unwrap_or_default();
    let known: Vec<Key> = tables.keys().cloned().collect();
    let mut ids: BTreeMap<Key, String> = BTreeMap::new();
    if !known.is_empty() {
        let read = client.tables(&branch, &known).await?;
        ids.extend(read.tables.into_iter().map(|(key, table)| (key, table.id)));
    }
    let mut number = steps.lock().await.len() as i64;
    while !stop.load(Ordering::Relaxed) {
        number += 1;
        let mut writes: BTreeMap<Key, Write> = BTreeMap::new();
        for _ in 0..=rng.below(PUTS_MAX) {
            let key = Key::new(NAMESPACE, format!("{writer}-{}", rng.below(TABLES)));
            let put = Put { key: key.clone(), version: number };
            let id = ids.get(&key).cloned();
            writes.insert(key, Write { put, id });
        }
        let writes: Vec<Write> = writes.into_values().collect();
        // The text makes commits of all sizes.
        let message = format!("{writer}/{number} {}", "x".repeat(rng.below(700) as usize));
        let spaces: &[&str] = if tables.is_empty() { &[NAMESPACE] } else { &[] };
        match client.commit(&branch, &head, &message, spaces, &writes).await {
            Reply::Done(done) => {
                ids.extend(done.added);
                tables.extend(writes.into_iter().map(|write| (write.put.key, write.put.version)));
                head = done.hash.clone();
                steps.lock().await.push(Step { hash: done.hash, tables: tables.clone() });
            }
            other => bail!("a commit on {branch}: {other:?}"),
        }
    }
    Ok(())
}

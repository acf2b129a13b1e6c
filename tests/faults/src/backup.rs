//! Backups taken while writers are at work, put back, and compared with what the writers were told.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tokio::time::sleep;

use crate::load::{self, Load, Told};
use crate::process::{Place, Server};
use crate::record::Key;
use crate::rng::Rng;

/// Writers at work.
const WRITERS: usize = 8;
/// Shortest and longest time between the first commit of a round and its backup, in milliseconds.
const BEFORE_MS: (u64, u64) = (100, 500);

/// What to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The server binary.
    pub program: PathBuf,
    /// Folder of everything.
    pub folder: PathBuf,
    /// Number of backups.
    pub rounds: u64,
    /// Seed of all choices.
    pub seed: u64,
}

/// What happened in a round.
#[derive(Clone, Debug)]
pub struct Round {
    /// Its number, from 1.
    pub number: u64,
    /// Commits acknowledged before the backup was asked for, on all branches, in all rounds.
    pub before: usize,
    /// Commits in the backup.
    pub kept: usize,
    /// How long the backup took.
    pub took: Duration,
}

/// Runs all rounds; a violation is an error.
pub async fn run(plan: &Plan, mut tell: impl FnMut(&Round)) -> Result<()> {
    let place = Place::new(plan.program.clone(), &plan.folder);
    let backup = plan.folder.join("backup").display().to_string();
    let told = load::nothing_told(WRITERS);
    let mut server = Server::spawn(&place)?;
    let (client, _) = server.first_read(&place).await?;
    for number in 1..=plan.rounds {
        let mut rng = Rng::part(plan.seed, number, 0);
        let load = Load::start(&client, &told, plan.seed ^ number);
        sleep(Duration::from_millis(BEFORE_MS.0 + rng.below(BEFORE_MS.1 - BEFORE_MS.0))).await;
        let before = load::lengths(&told).await;
        let begun = Instant::now();
        place.run(&["backup", &backup], &place.data).await?.well()?;
        let took = begun.elapsed();
        // What is acknowledged by now, and one commit of each that may be in flight.
        let after: Vec<usize> = load::lengths(&told).await.into_iter().map(|length| length + 1).collect();
        load.stop().await?;
        let kept = check(plan, number, &backup, &told, &before, &after)
            .await
            .with_context(|| format!("round {number}"))?;
        tell(&Round { number, before: before.iter().sum(), kept, took });
    }
    server.stop().await?;
    place.fsck().await
}

/// Puts the backup back and compares; returns how many commits it holds.
async fn check(
    plan: &Plan,
    number: u64,
    backup: &str,
    told: &Told,
    before: &[usize],
    after: &[usize],
) -> Result<usize> {
    let folder = plan.folder.join(format!("restored-{number}"));
    std::fs::create_dir(&folder)?;
    let place = Place::new(plan.program.clone(), &folder);
    place.run(&["verify", backup], &place.data).await?.well()?;
    place.run(&["restore", backup], &place.data).await?.well()?;
    place.fsck().await.context("the restored store")?;
    let mut server = Server::spawn(&place)?;
    let (client, _) = server.first_read(&place).await?;
    let mut kept = 0;
    for (writer, steps) in told.iter().enumerate() {
        let steps = steps.lock().await;
        let branch = load::branch(writer);
        let (least, most) = (before.get(writer).copied(), after.get(writer).copied());
        let (least, most) = (least.unwrap_or_default(), most.unwrap_or_default());
        let head = client.reference(&branch).await?;
        let length = match &head {
            None => 0,
            Some(head) => steps.iter().position(|step| step.hash == head.hash).map_or(0, |at| at + 1),
        };
        ensure!(
            (least..=most).contains(&length),
            "{branch} is at its commit {length}, but {least} were acknowledged before and at most {most} could be in it"
        );
        kept += length;
        let Some(step) = length.checked_sub(1).and_then(|at| steps.get(at)) else { continue };
        let keys: Vec<Key> = step.tables.keys().cloned().collect();
        let found = client.tables(&branch, &keys).await?.tables;
        let found: std::collections::BTreeMap<Key, i64> =
            found.into_iter().map(|(key, table)| (key, table.version)).collect();
        ensure!(found == step.tables, "{branch} holds {found:?} instead of {:?}", step.tables);
        let history = client.last(&branch, length).await?;
        let expected = steps.iter().take(length).rev().map(|step| &step.hash);
        ensure!(
            history.iter().map(|commit| &commit.hash).eq(expected),
            "the history of {branch} is another one"
        );
    }
    server.stop().await?;
    std::fs::remove_dir_all(&folder)?;
    Ok(kept)
}

//! Reads from a restarted server what the checks need.

use std::collections::{BTreeMap, VecDeque};

use anyhow::{Context, Result};

use crate::check;
use crate::client::Client;
use crate::record::{Action, CommitHash, Event, Key, Model, Observed, Outcome, Put, Sample, Walk};
use crate::rng::Rng;
use crate::writers::SHARED;

/// Commits of a round whose tables are read at the commit itself.
const SAMPLES_OF_ROUND: usize = 64;
/// The same for commits of earlier rounds.
const SAMPLES_OF_EARLIER: usize = 16;
/// Commits of earlier rounds that are remembered.
const REMEMBERED_MAX: usize = 2000;

/// Acknowledged commits of earlier rounds.
#[derive(Default)]
pub struct Remembered(VecDeque<(CommitHash, Vec<Put>)>);

impl Remembered {
    /// Remembers some commits of a round and forgets the oldest beyond the bound.
    pub fn add(&mut self, events: &[Event], rng: &mut Rng) {
        self.0.extend(some(&acknowledged(events), SAMPLES_OF_ROUND, rng));
        let extra = self.0.len().saturating_sub(REMEMBERED_MAX);
        self.0.drain(..extra);
    }
}

fn acknowledged(events: &[Event]) -> Vec<(CommitHash, Vec<Put>)> {
    events.iter().filter_map(|e| Some((e.acknowledged_commit()?.clone(), e.action.puts().to_vec()))).collect()
}

fn some<T: Clone>(all: &[T], count: usize, rng: &mut Rng) -> Vec<T> {
    if all.len() <= count {
        return all.to_vec();
    }
    (0..count).filter_map(|_| rng.pick(all).cloned()).collect()
}

/// Reads everything once.
pub async fn observe(
    client: &Client,
    model: &Model,
    events: &[Event],
    remembered: &Remembered,
    rng: &mut Rng,
) -> Result<Observed> {
    let references = client.references().await.context("listing references")?;
    let setting = client.setting().await.context("reading the setting")?;
    let mut observed = Observed { references, setting, ..Observed::default() };
    for branch in SHARED {
        shared_branch(client, model, branch, events, &mut observed).await.context(branch)?;
    }
    for event in events.iter().filter(|e| e.outcome == Outcome::Unknown && e.action.makes_commit()) {
        let name = event.action.reference();
        if !SHARED.contains(&name) && observed.references.contains_key(name) {
            let last = client.last(name, 1).await?.into_iter().next().context("an empty log")?;
            observed.heads.insert(name.to_owned(), last);
        }
    }
    let mut commits = some(&acknowledged(events), SAMPLES_OF_ROUND, rng);
    let earlier: Vec<_> = remembered.0.iter().cloned().collect();
    commits.extend(some(&earlier, SAMPLES_OF_EARLIER, rng));
    for (commit, puts) in commits {
        let keys: Vec<Key> = puts.iter().map(|p| p.key.clone()).collect();
        let read = client.tables(&format!("@{commit}"), &keys).await?;
        observed.samples.extend(puts.into_iter().map(|put| {
            let found = read.tables.get(&put.key).map(|t| t.version);
            Sample { commit: commit.clone(), put, found }
        }));
    }
    Ok(observed)
}

async fn shared_branch(
    client: &Client,
    model: &Model,
    branch: &str,
    events: &[Event],
    observed: &mut Observed,
) -> Result<()> {
    // A branch that is gone is found by the check of references.
    let Some(head) = observed.references.get(branch).map(|p| p.hash.clone()) else { return Ok(()) };
    let before = model.head(branch).context("a shared branch without state")?;
    let walk = walk_until(client, &format!("{branch}@{head}"), before).await?;
    observed.walks.insert(branch.to_owned(), walk);
    for event in events.iter().filter(|e| e.action.reference() == branch) {
        if let Action::Assign { from, to, .. } = &event.action
            && event.outcome != Outcome::Refused
        {
            let left = walk_until(client, &format!("@{from}"), &to.hash).await?;
            let left = left.commits.into_iter().map(|c| c.hash).collect();
            observed.left_behind.insert(event.id.clone(), left);
        }
    }
    let keys: Vec<Key> = check::touched(branch, events).into_iter().collect();
    let mut versions = BTreeMap::new();
    if !keys.is_empty() {
        let read = client.tables(&format!("{branch}@{head}"), &keys).await?;
        versions.extend(read.tables.into_iter().map(|(key, table)| (key, table.version)));
    }
    observed.versions.insert(branch.to_owned(), versions);
    Ok(())
}

async fn walk_until(client: &Client, spec: &str, limit: &CommitHash) -> Result<Walk> {
    let mut commits = client.log_until(spec, limit).await?;
    let reached = commits.last().is_some_and(|c| c.hash == *limit);
    if reached {
        commits.pop();
    }
    Ok(Walk { commits, reached })
}

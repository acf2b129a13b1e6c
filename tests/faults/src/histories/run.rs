//! Records one history against a real server and judges it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};

use super::client::{ARENA, Desk, MAIN, NAMESPACE, Shared, keys};
use super::judge;
use super::nemesis::{self, Deed};
use super::record::{Answer, Ask, Event, History, Values};
use crate::client::{Client, Reply, Write};
use crate::process::{Place, Server};
use crate::record::{CommitHash, Kind, Position, Put};
use crate::rng::Rng;

/// Clients of a history.
const CLIENTS: usize = 16;
/// Longest history, in seconds.
const HISTORY_S_MAX: u64 = 1_800;
/// Commits read at once around one that is on no branch any more.
const COMMITS_AROUND: usize = 50;
/// Version of every table at the beginning.
const FIRST_VERSION: i64 = 1;

/// What to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The server binary.
    pub program: PathBuf,
    /// Folder for data and logs.
    pub folder: PathBuf,
    /// Seed of clients and interventions.
    pub seed: u64,
    /// Requests in all.
    pub requests: u64,
}

/// What a history held.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts {
    /// Requests recorded, the last reads included.
    pub requests: u64,
    /// Commits and merges acknowledged.
    pub made: u64,
    /// References created, moved, deleted.
    pub moved: u64,
    /// Reads.
    pub read: u64,
    /// Refused.
    pub refused: u64,
    /// Of unknown outcome.
    pub unknown: u64,
    /// Kills.
    pub kills: u64,
    /// Pauses.
    pub pauses: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.made += other.made;
        self.moved += other.moved;
        self.read += other.read;
        self.refused += other.refused;
        self.unknown += other.unknown;
        self.kills += other.kills;
        self.pauses += other.pauses;
    }
}

/// Records and judges one history; returns what it held and what is wrong with it.
pub async fn run(plan: &Plan) -> Result<(Counts, Vec<String>)> {
    let place = Place::new(plan.program.clone(), &plan.folder);
    let mut server = Server::spawn(&place)?;
    let (client, _) = server.first_read(&place).await?;
    let (mut history, ids) = set_up(&client).await.context("setting up")?;
    let deeds = nemesis::plan(plan.seed, plan.requests);
    let (points, mut reached) = mpsc::unbounded_channel();
    let shared = Arc::new(Shared {
        clock: AtomicU64::new(1),
        left: AtomicU64::new(plan.requests),
        fresh: AtomicU64::new(1_000),
        ids,
        events: Mutex::default(),
        points,
        tell_at: deeds.iter().map(|(left, _)| *left).collect(),
    });
    let (tell, told) = watch::channel(client);
    let desk = |number| Desk {
        number,
        rng: Rng::part(plan.seed, 1, number as u64),
        shared: Arc::clone(&shared),
        server: told.clone(),
    };
    let clients: Vec<_> = (0..CLIENTS).map(|number| tokio::spawn(desk(number).run())).collect();
    let mut counts = Counts::default();
    let all = async {
        for (_, deed) in &deeds {
            reached.recv().await.context("the clients ended early")?;
            intervene(*deed, &mut server, &place, &tell, &mut counts).await?;
        }
        for client in clients {
            client.await.context("a client failed")?;
        }
        anyhow::Ok(())
    };
    timeout(Duration::from_secs(HISTORY_S_MAX), all).await.context("a history that does not end")??;
    let client = tell.borrow().clone();
    history.events = std::mem::take(&mut *shared.events.lock().unwrap_or_else(PoisonError::into_inner));
    // A failed read tells nothing.
    history.events.retain(|event| {
        !matches!((&event.ask, &event.answer), (Ask::Head(_) | Ask::Keys(_), Answer::Unknown))
    });
    look_back(&client, &mut history).await.context("reading back")?;
    server.stop().await?;
    let mut faults = judge::check(&history);
    if let Err(error) = place.fsck().await {
        faults.push(format!("{error:#}"));
    }
    count(&history, &mut counts);
    Ok((counts, faults))
}

async fn intervene(
    deed: Deed,
    server: &mut Server,
    place: &Place,
    tell: &watch::Sender<Client>,
    counts: &mut Counts,
) -> Result<()> {
    if let Deed::Pause(ms) | Deed::PauseAndKill(ms) = deed {
        server.pause()?;
        sleep(Duration::from_millis(ms)).await;
        counts.pauses += 1;
    }
    if let Deed::Pause(_) = deed {
        return server.go_on();
    }
    server.kill().await?;
    counts.kills += 1;
    *server = Server::spawn(place)?;
    let (client, _) = server.first_read(place).await?;
    tell.send_replace(client);
    Ok(())
}

/// All tables, and the arena beside the default branch; returns the history's beginning and the content ids.
async fn set_up(client: &Client) -> Result<(History, BTreeMap<crate::record::Key, String>)> {
    let main = client.reference(MAIN).await?.context("no default branch")?;
    let put = |key| Write { put: Put { key, version: FIRST_VERSION }, id: None };
    let writes: Vec<Write> = keys().into_iter().map(put).collect();
    let committed = match client.commit(MAIN, &main.hash, "set-up", &[NAMESPACE], &writes).await {
        Reply::Done(committed) => committed,
        other => bail!("the first commit failed: {other:?}"),
    };
    let at = Position { kind: Kind::Branch, hash: committed.hash.clone() };
    if !matches!(client.create(ARENA, &at).await, Reply::Done(_)) {
        bail!("no {ARENA}");
    }
    let mut history = History::default();
    let values: Values = keys().into_iter().map(|key| (key, FIRST_VERSION)).collect();
    for branch in [MAIN, ARENA] {
        history.references.insert(branch.into(), committed.hash.clone());
        history.values.insert(branch.into(), values.clone());
    }
    Ok((history, committed.added))
}

/// Reads every reference and every key of the shared branches once more, and all commits.
async fn look_back(client: &Client, history: &mut History) -> Result<()> {
    let mut time = history.events.iter().map(|event| event.returned).max().unwrap_or(0);
    let mut note = |ask, answer| {
        time += 2;
        Event { client: CLIENTS, invoked: time - 1, returned: time, ask, answer }
    };
    let references = client.references().await?;
    let names = history.events.iter().map(|event| event.ask.reference().to_owned());
    let names: std::collections::BTreeSet<String> = names.chain(references.keys().cloned()).collect();
    let mut last = Vec::new();
    for name in names {
        let found = references.get(&name).map(|at| at.hash.clone());
        last.push(note(Ask::Head(name), Answer::Head(found)));
    }
    for branch in [MAIN, ARENA] {
        let read = client.tables(branch, &keys()).await?;
        let values = read.tables.iter().map(|(key, table)| (key.clone(), table.version)).collect();
        last.push(note(Ask::Keys(branch.into()), Answer::Keys(read.hash, values)));
    }
    let set_up = history.references.get(MAIN).cloned().context("no beginning")?;
    for name in references.keys() {
        for commit in client.log_until(name, &set_up).await? {
            history.commits.insert(commit.hash.clone(), commit);
        }
    }
    history.events.extend(last);
    // What is on no branch any more, by the hashes that anybody was told.
    let told: Vec<CommitHash> = history.events.iter().filter_map(told_hash).collect();
    for hash in told {
        if !history.commits.contains_key(&hash) {
            for commit in client.last(&format!("@{hash}"), COMMITS_AROUND).await? {
                history.commits.entry(commit.hash.clone()).or_insert(commit);
            }
        }
    }
    Ok(())
}

fn told_hash(event: &Event) -> Option<CommitHash> {
    match &event.answer {
        Answer::Head(found) => found.clone(),
        Answer::Keys(hash, _) | Answer::Made(hash) => Some(hash.clone()),
        _ => None,
    }
}

fn count(history: &History, counts: &mut Counts) {
    counts.requests += history.events.len() as u64;
    for event in &history.events {
        let number = match event.answer {
            Answer::Head(_) | Answer::Keys(..) => &mut counts.read,
            Answer::Made(_) => &mut counts.made,
            Answer::Done => &mut counts.moved,
            Answer::Conflict | Answer::Absent => &mut counts.refused,
            Answer::Unknown => &mut counts.unknown,
        };
        *number += 1;
    }
}

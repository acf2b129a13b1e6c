//! Rounds of writing, killing, restarting and checking.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::{sleep, timeout};

use crate::check;
use crate::client::Client;
use crate::observe::{Remembered, observe};
use crate::process::{Place, Server};
use crate::record::{Action, Event, Model, Outcome, Setting};
use crate::rng::Rng;
use crate::schedule::{self, PART_SAMPLES};
use crate::writers::{self, Log, SHARED};

/// Longest wait for the writers after a kill, in seconds.
const WRITERS_WAIT_S_MAX: u64 = 120;
/// Most violations kept of one round; the first ones tell the story.
const VIOLATIONS_MAX: usize = 20;

/// What to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The server binary.
    pub program: PathBuf,
    /// Folder for data and logs.
    pub folder: PathBuf,
    /// Number of writers.
    pub writers: usize,
    /// Number of rounds, each with one kill or more.
    pub kills: u64,
    /// Seed of the schedule.
    pub seed: u64,
    /// Longest time from the first request of a round to its kill, in milliseconds.
    pub kill_after_ms_max: u64,
    /// Runs `fsck --full` after every so many kills as well; 0 for only at the end.
    pub fsck_every: u64,
    /// Longest time from a spawn after a kill to the first answered read.
    pub restart_max: Duration,
}

/// What one round did.
#[derive(Clone, Debug, Default)]
pub struct Round {
    /// Number of the round.
    pub number: u64,
    /// Time from the first request to the kill.
    pub kill_after: Duration,
    /// Whether the server was killed once more while it started.
    pub killed_twice: bool,
    /// Acknowledged commits.
    pub commits: usize,
    /// Acknowledged merges.
    pub merges: usize,
    /// Acknowledged creations, moves and deletions of references.
    pub moves: usize,
    /// Acknowledged replacements of the setting.
    pub settings: usize,
    /// Refused requests.
    pub refused: usize,
    /// Requests without an answer.
    pub in_flight: usize,
    /// Time from the spawn to the first answered read.
    pub restart: Duration,
}

/// What all rounds did.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Kills, those during a start among them.
    pub kills: u64,
    /// Acknowledged requests.
    pub acknowledged: usize,
    /// Longest restart.
    pub restart_max: Duration,
    /// What must never be; empty when all is well.
    pub violations: Vec<String>,
}

/// Runs all rounds, telling of each; ends early after a round with violations, so that its data can be looked at.
pub async fn run(plan: &Plan, tell: impl Fn(&Round)) -> Result<Report> {
    let place = Place::new(plan.program.clone(), &plan.folder);
    let mut report = Report::default();
    let mut server = Server::spawn(&place)?;
    let (mut client, _) = server.first_read(&place).await?;
    let mut model = Arc::new(writers::set_up(&client, plan.writers).await.context("setting up")?);
    let mut remembered = Remembered::default();
    for number in 0..plan.kills {
        let moments = schedule::moments(plan.seed, number, plan.kill_after_ms_max);
        let logs = write_and_kill(plan, number, moments.kill_after, &client, &model, &mut server).await?;
        report.kills += 1;
        let (events, settings) = collect(logs, &mut report.violations);
        if plan.fsck_every > 0 && (number + 1) % plan.fsck_every == 0 {
            fsck(&place, &mut report.violations).await;
        }
        if let Some(after) = moments.kill_during_start {
            let mut starting = Server::spawn(&place)?;
            sleep(after).await;
            starting.kill().await.context("killing during the start")?;
            report.kills += 1;
        }
        let restart_time;
        (server, client, restart_time) = match restart(&place, plan.restart_max, &mut report).await {
            Ok(restarted) => restarted,
            Err(e) => {
                report.violations.push(format!("no restart after a kill: {e:#}"));
                fsck(&place, &mut report.violations).await;
                return Ok(report);
            }
        };
        let mut rng = Rng::part(plan.seed, number, PART_SAMPLES);
        let told = Told { events: &events, settings: &settings, remembered: &remembered };
        let next = read_back(&client, &model, told, &mut rng, &mut report.violations).await;
        let mut round = count(told, &mut report.acknowledged);
        (round.number, round.kill_after, round.restart) = (number, moments.kill_after, restart_time);
        round.killed_twice = moments.kill_during_start.is_some();
        tell(&round);
        remembered.add(&events, &mut rng);
        match next {
            Some(next) if report.violations.is_empty() => model = Arc::new(next),
            _ => break,
        }
    }
    if let Err(e) = server.stop().await {
        report.violations.push(format!("the last stop: {e:#}"));
    }
    fsck(&place, &mut report.violations).await;
    Ok(report)
}

/// Lets the writers write, kills the server, and returns what the writers noted.
async fn write_and_kill(
    plan: &Plan,
    number: u64,
    after: Duration,
    client: &Client,
    model: &Arc<Model>,
    server: &mut Server,
) -> Result<Vec<Log>> {
    let killed = Arc::new(AtomicBool::new(false));
    let logs = writers::start(client, model, plan.seed, number, &killed, plan.writers);
    sleep(after).await;
    killed.store(true, Ordering::SeqCst);
    server.kill().await?;
    let all = async {
        let mut done = Vec::with_capacity(logs.len());
        for log in logs {
            done.push(log.await.context("a writer failed")?);
        }
        Ok(done)
    };
    timeout(Duration::from_secs(WRITERS_WAIT_S_MAX), all).await.context("a writer never ended")?
}

/// What the writers were told.
#[derive(Clone, Copy)]
struct Told<'a> {
    events: &'a [Event],
    settings: &'a [Setting],
    /// Commits of earlier rounds.
    remembered: &'a Remembered,
}

fn collect(logs: Vec<Log>, violations: &mut Vec<String>) -> (Vec<Event>, Vec<Setting>) {
    let (mut events, mut settings) = (Vec::new(), Vec::new());
    for log in logs {
        events.extend(log.events);
        settings.extend(log.settings);
        violations.extend(log.surprises);
    }
    (events, settings)
}

async fn restart(place: &Place, bar: Duration, report: &mut Report) -> Result<(Server, Client, Duration)> {
    let mut server = Server::spawn(place)?;
    let (client, time) = server.first_read(place).await?;
    report.restart_max = report.restart_max.max(time);
    if time > bar {
        let text = format!("served again after {} ms, more than {} ms", time.as_millis(), bar.as_millis());
        report.violations.push(text);
    }
    Ok((server, client, time))
}

/// Reads back and checks one round; the state for the next one, if it could be read.
async fn read_back(
    client: &Client,
    model: &Model,
    told: Told<'_>,
    rng: &mut Rng,
    violations: &mut Vec<String>,
) -> Option<Model> {
    match observe(client, model, told.events, told.remembered, rng).await {
        Ok(observed) => {
            let mut found = check::round(model, &SHARED, told.events, &observed);
            found.extend(check::setting(model, told.settings, &observed));
            violations.extend(found.iter().take(VIOLATIONS_MAX).map(ToString::to_string));
            if found.len() > VIOLATIONS_MAX {
                violations.push(format!("and {} more", found.len() - VIOLATIONS_MAX));
            }
            Some(check::next_model(model, &SHARED, &observed))
        }
        Err(e) => {
            violations.push(format!("reading back failed: {e:#}"));
            None
        }
    }
}

async fn fsck(place: &Place, violations: &mut Vec<String>) {
    if let Err(e) = place.fsck().await {
        violations.push(format!("{e:#}"));
    }
}

fn count(told: Told<'_>, acknowledged: &mut usize) -> Round {
    let mut round = Round::default();
    for set in told.settings {
        match set.outcome {
            Outcome::Unknown => round.in_flight += 1,
            Outcome::Refused => round.refused += 1,
            Outcome::Acknowledged(_) => round.settings += 1,
        }
    }
    for event in told.events {
        match (&event.outcome, &event.action) {
            (Outcome::Unknown, _) => round.in_flight += 1,
            (Outcome::Refused, _) => round.refused += 1,
            (Outcome::Acknowledged(_), Action::Commit { .. }) => round.commits += 1,
            (Outcome::Acknowledged(_), Action::Merge { .. }) => round.merges += 1,
            (Outcome::Acknowledged(_), _) => round.moves += 1,
        }
    }
    *acknowledged += round.commits + round.merges + round.moves + round.settings;
    round
}

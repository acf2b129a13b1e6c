//! `lochan-faults kill-point`: the process dies at a named point of the writer, at the rename of a snapshot, or at the k-th
//! write or sync, before it is done.

use std::{collections::BTreeMap, os::unix::process::ExitStatusExt, time::Duration, time::Instant};

use anyhow::{Context, Result, bail, ensure};
use lochan_tests_faults::{
    child::{self, Ending},
    disk::{self, Action, Calls, EventKind, Preload, Strike, read_record},
    rng::Rng,
    shard::Shard,
    work::{CrowdCheck, Death, POINTS, ScriptCheck, Thoroughness, When, marks},
};

use super::{Cases, Scratch, report, seed_or_now, work_command};

/// Longest run, in seconds.
const WAIT_S_MAX: u64 = 120;
const SIGKILL: i32 = 9;
/// Operations of the script, and commits of each writer of the crowd.
const OPERATIONS: u64 = 200;
const COMMITS: u64 = 12;
/// The same where the log must become long.
const COMMITS_OF_SUMMARY: u64 = 50;
/// One run in so many is the script's, the others are a crowd's.
const SCRIPT_ONE_IN: u64 = 4;
/// Fewest and most writers of a crowd.
const WRITERS: (u64, u64) = (16, 64);
/// Writes and syncs until the kill, at most; a run that ends before it is a run without a kill.
const CALLS_MAX: u64 = 900;
/// How often a point comes up at most before the kill; a run may have fewer.
const JOBS_MAX: u64 = 150;
const BATCHES_MAX: u64 = 20;
const GROUPS_MAX: u64 = 4;
const CHECKPOINTS_MAX: u64 = 8;
const SUMMARIES_MAX: u64 = 2;
/// Renames of a start: the end of the log that is kept, and the snapshot.
const RENAMES: u64 = 2;
/// Operations before the start in which the process is killed.
const OPERATIONS_BEFORE: u64 = 60;
/// What is killed at beside the points of the writer.
const SNAPSHOT: &str = "snapshot";
const CALL: &str = "call";

/// Flags of the subcommand.
#[derive(clap::Args)]
pub struct Args {
    /// Kills.
    #[arg(long, default_value_t = 2000)]
    kills: u64,
    /// Only at this point of the writer, `snapshot`, or `call`; without it at all by turns.
    #[arg(long)]
    point: Option<String>,
    /// Part of the run, such as 1/8.
    #[arg(long, default_value = "1/1")]
    shard: Shard,
    /// Seed; without it the time. The report names it.
    #[arg(long)]
    seed: Option<u64>,
}

/// Runs all kills, ending early at the first violation.
pub fn run(args: &Args) -> Result<bool> {
    let seed = seed_or_now(args.seed)?;
    let scratch = Scratch::new(None)?;
    let library = disk::build(scratch.path())?;
    let began = Instant::now();
    let names: Vec<&str> = POINTS.iter().map(|(name, _)| *name).chain([SNAPSHOT, CALL]).collect();
    let points = match &args.point {
        None => names,
        Some(wanted) => names.into_iter().filter(|name| name == wanted).collect(),
    };
    ensure!(!points.is_empty(), "there is no such point");
    let mut kills: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let mut acknowledged = 0;
    let cases =
        Cases { scratch: &scratch, library: &library, shard: args.shard, count: args.kills, word: "kill" };
    let violations = cases.run(|preload, number| {
        let at = points.get(number as usize % points.len()).copied().unwrap_or(CALL);
        let (was_killed, acks) = one(preload, at, seed, number).with_context(|| format!("at {at}"))?;
        let (killed, tried) = kills.entry(at).or_default();
        (*killed, *tried) = (*killed + u64::from(was_killed), *tried + 1);
        acknowledged += acks;
        Ok(())
    })?;
    let at = kills.iter().map(|(at, (killed, tried))| format!("{at} {killed}/{tried}"));
    let text = format!(
        "kill-point: seed {seed}, shard {}: {} kills in {} s ({}), {acknowledged} acknowledged",
        args.shard,
        kills.values().map(|(killed, _)| killed).sum::<u64>(),
        began.elapsed().as_secs(),
        at.collect::<Vec<_>>().join(", ")
    );
    let well = report(&text, &violations)?;
    scratch.end(well);
    Ok(well)
}

/// One run until its kill, and a look at what it leaves. Whether it was killed, and what was acknowledged.
fn one(preload: &Preload, at: &str, seed: u64, number: u64) -> Result<(bool, u64)> {
    let mut rng = Rng::part(seed, number, 9);
    let when = POINTS.iter().find(|(name, _)| *name == at).map(|(_, when)| *when);
    let at_start = when == Some(When::Start) || at == SNAPSHOT;
    let is_script = match when {
        Some(When::Start | When::Checkpoint) => true,
        Some(When::Summary) => false,
        _ => at_start || rng.below(SCRIPT_ONE_IN) == 0,
    };
    let writers = if is_script { 0 } else { WRITERS.0 + rng.below(WRITERS.1 - WRITERS.0 + 1) };
    let count = match when {
        Some(When::Summary) => COMMITS_OF_SUMMARY,
        _ if is_script => OPERATIONS,
        _ => COMMITS,
    };
    if at_start {
        let mut command = work_command(preload, OPERATIONS_BEFORE, 0, rng.draw())?;
        preload.prepare(&mut command, true)?;
        let ending = child::run(&mut command, Duration::from_secs(WAIT_S_MAX), || Ok(()))?;
        ensure!(matches!(&ending, Ending::Ended(status, _) if status.success()), "before: {ending:?}");
    }
    let mut command = work_command(preload, count, writers, rng.draw())?;
    let control = preload.prepare(&mut command, true)?;
    match when {
        Some(when) => {
            let most = match when {
                When::Job => JOBS_MAX,
                When::Batch => BATCHES_MAX,
                When::Group => GROUPS_MAX,
                When::Checkpoint => CHECKPOINTS_MAX,
                When::Summary => SUMMARIES_MAX,
                When::Start => 1,
            };
            let death = Death { point: at.to_owned(), nth: 1 + rng.below(most) };
            command.arg("--die").arg(death.to_string());
        }
        None => {
            let (calls, most) =
                if at == SNAPSHOT { (Calls::Rename, RENAMES) } else { (Calls::WriteOrSync, CALLS_MAX) };
            control.strike(&Strike {
                calls,
                nth: 1 + rng.below(most),
                action: Action::Kill,
                is_lasting: false,
                lose: 0,
                seed,
                late_ms: 0,
            })?;
        }
    }
    let was_killed = match child::run(&mut command, Duration::from_secs(WAIT_S_MAX), || Ok(()))? {
        Ending::Ended(status, _) if status.signal() == Some(SIGKILL) => true,
        Ending::Ended(status, told) => {
            ensure!(status.success(), "it ended with {status}: {told}");
            false
        }
        Ending::Hung(told) => bail!("it hung: {told}"),
    };
    let events = read_record(&preload.record)?;
    let (end, marks) = (events.len(), marks(&events)?);
    let synced = events.iter().any(|event| matches!(event.kind, EventKind::SyncEnd { .. }));
    ensure!(synced || was_killed, "nothing was synced");
    if is_script {
        let check = ScriptCheck::new(&marks);
        check.check(&preload.data, end, Thoroughness::Full)?;
        Ok((was_killed, check.acknowledged() as u64))
    } else {
        let check = CrowdCheck::new(marks, writers);
        check.check(&preload.data, end, Thoroughness::Full)?;
        Ok((was_killed, check.acknowledged()))
    }
}

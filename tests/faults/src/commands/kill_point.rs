//! `lochan-faults kill-point`: the process dies at the k-th write or sync, before it is done.

use std::{os::unix::process::ExitStatusExt, time::Duration, time::Instant};

use anyhow::{Result, bail, ensure};
use lochan_tests_faults::{
    child::{self, Ending},
    disk::{self, Action, Calls, EventKind, Preload, Strike, read_record},
    rng::Rng,
    shard::Shard,
    work::{CrowdCheck, ScriptCheck, Thoroughness, marks},
};

use super::{Cases, Scratch, report, seed_or_now, work_command};

/// Longest run, in seconds.
const WAIT_S_MAX: u64 = 120;
const SIGKILL: i32 = 9;
/// Operations of the script, and commits of each writer of the crowd.
const OPERATIONS: u64 = 200;
const COMMITS: u64 = 12;
/// One run in so many is the script's, the others are a crowd's.
const SCRIPT_ONE_IN: u64 = 4;
/// Fewest and most writers of a crowd.
const WRITERS: (u64, u64) = (16, 64);
/// Writes and syncs until the kill, at most; a run that ends before it is a run without a kill.
const CALLS_MAX: u64 = 900;

/// Flags of the subcommand.
#[derive(clap::Args)]
pub struct Args {
    /// Kills.
    #[arg(long, default_value_t = 2000)]
    kills: u64,
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
    let (mut kills, mut acknowledged) = (0, 0);
    let cases =
        Cases { scratch: &scratch, library: &library, shard: args.shard, count: args.kills, word: "kill" };
    let violations = cases.run(|preload, number| {
        let (was_killed, acks) = one(preload, seed, number)?;
        kills += u64::from(was_killed);
        acknowledged += acks;
        Ok(())
    })?;
    let text = format!(
        "kill-point: seed {seed}, shard {}: {kills} kills in {} s, {acknowledged} acknowledged",
        args.shard,
        began.elapsed().as_secs()
    );
    let well = report(&text, &violations)?;
    scratch.end(well);
    Ok(well)
}

/// One run until its kill, and a look at what it leaves. Whether it was killed, and what was acknowledged.
fn one(preload: &Preload, seed: u64, number: u64) -> Result<(bool, u64)> {
    let mut rng = Rng::part(seed, number, 9);
    let is_script = rng.below(SCRIPT_ONE_IN) == 0;
    let writers = if is_script { 0 } else { WRITERS.0 + rng.below(WRITERS.1 - WRITERS.0 + 1) };
    let count = if is_script { OPERATIONS } else { COMMITS };
    let mut command = work_command(preload, count, writers, rng.draw())?;
    let control = preload.prepare(&mut command, true)?;
    control.strike(&Strike {
        calls: Calls::WriteOrSync,
        nth: 1 + rng.below(CALLS_MAX),
        action: Action::Kill,
        is_lasting: false,
        lose: 0,
        seed,
    })?;
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

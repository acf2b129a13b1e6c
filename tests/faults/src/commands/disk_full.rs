//! `lochan-faults disk-full`: the disk is full for a while, at a random point, in the middle of a batch or before one.

use std::{time::Duration, time::Instant};

use anyhow::{Result, bail, ensure};
use lochan_tests_faults::{
    child::{self, Ending},
    cuts::{self, Cut},
    disk::{self, Fate, Preload, read_record},
    rng::Rng,
    shard::Shard,
    work::{Outcome, ScriptCheck, marks},
};

use super::{Cases, Scratch, report, seed_or_now, work_command};

/// Longest run, in seconds.
const WAIT_S_MAX: u64 = 120;
const OPERATIONS: u64 = 200;
/// Bytes that can be written before the disk is full, at most.
const ROOM_BYTES_MAX: u64 = 3_000_000;
/// How long it stays full, at most.
const FULL_MS_MAX: u64 = 300;
/// What a disk says that has less than the reserve.
const FREE_BYTES: u64 = 1 << 20;
/// Disks checked of each run.
const CUTS: u64 = 12;

/// Flags of the subcommand.
#[derive(clap::Args)]
pub struct Args {
    /// Runs, each with a full disk.
    #[arg(long, default_value_t = 200)]
    runs: u64,
    /// Part of the run, such as 1/8.
    #[arg(long, default_value = "1/1")]
    shard: Shard,
    /// Seed; without it the time. The report names it.
    #[arg(long)]
    seed: Option<u64>,
}

/// Runs all, ending early at the first violation.
pub fn run(args: &Args) -> Result<bool> {
    let seed = seed_or_now(args.seed)?;
    let scratch = Scratch::new(None)?;
    let library = disk::build(scratch.path())?;
    let began = Instant::now();
    let (mut runs, mut unknown, mut refused) = (0, 0, 0);
    let cases =
        Cases { scratch: &scratch, library: &library, shard: args.shard, count: args.runs, word: "run" };
    let violations = cases.run(|preload, number| {
        let check = one(&scratch, preload, seed, number)?;
        runs += 1;
        // The first state of a process counts as unknown.
        unknown += check.count(Outcome::Unknown).saturating_sub(1);
        refused += check.count(Outcome::Refused);
        Ok(())
    })?;
    let text = format!(
        "disk-full: seed {seed}, shard {}: {runs} runs in {} s; {unknown} unknown, {refused} refused",
        args.shard,
        began.elapsed().as_secs()
    );
    let well = report(&text, &violations)?;
    scratch.end(well);
    Ok(well)
}

fn one(scratch: &Scratch, preload: &Preload, seed: u64, number: u64) -> Result<ScriptCheck> {
    let mut rng = Rng::part(seed, number, 11);
    let in_batch = rng.below(3) > 0;
    let room = rng.below(ROOM_BYTES_MAX);
    let wait = Duration::from_millis(rng.below(FULL_MS_MAX));
    let mut command = work_command(preload, OPERATIONS, 0, rng.draw())?;
    let control = preload.prepare(&mut command, true)?;
    if in_batch {
        control.set_room(Some(room))?;
    }
    let begun = Instant::now();
    let mut full_since = None;
    let mut is_over = false;
    let ending = child::run(&mut command, Duration::from_secs(WAIT_S_MAX), || {
        if !in_batch && full_since.is_none() && begun.elapsed() > wait {
            control.set_free(FREE_BYTES)?;
            full_since = Some(Instant::now());
        }
        if in_batch && full_since.is_none() && control.counted()?.1 > 0 {
            full_since = Some(Instant::now());
        }
        if !is_over && full_since.is_some_and(|since: Instant| since.elapsed() > wait) {
            control.set_room(None)?;
            control.set_free(0)?;
            is_over = true;
        }
        Ok(())
    })?;
    let opened = !marks(&read_record(&preload.record)?)?.is_empty();
    match ending {
        Ending::Hung(told) => bail!("it hung: {told}"),
        Ending::Ended(status, told) => ensure!(status.success() || !opened, "it ended with {status}: {told}"),
    }
    let events = read_record(&preload.record)?;
    let check = ScriptCheck::new(&marks(&events)?);
    check.check_itself()?;
    let mut cuts: Vec<Cut> = (0..CUTS)
        .map(|cut| Cut { at: rng.below(events.len() as u64 + 1) as usize, fate: Fate::of(rng.draw(), cut) })
        .collect();
    cuts.push(Cut { at: events.len(), fate: Fate::Dropped });
    cuts.sort_by_key(|cut| cut.at);
    let found = cuts::run(&events, &preload.data, &cuts, scratch.path(), 1, |data, at, how| {
        check.check(data, at, how)
    })?;
    ensure!(found.violations.is_empty(), "{}", found.violations.join("; "));
    Ok(check)
}

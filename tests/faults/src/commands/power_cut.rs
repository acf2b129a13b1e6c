//! `lochan-faults power-cut`: disks after a power cut at any moment.

use std::{path::PathBuf, process::Command, time::Instant};

use anyhow::{Context, Result, ensure};
use lochan_tests_faults::{
    cuts::{self, Cut, Found},
    disk::{self, Event, EventKind, Fate, Preload, REUSE_BYTES, read_record, unsynced_at_reuse},
    rng::Rng,
    shard::Shard,
    work::{CrowdCheck, Mark, ScriptCheck, marks},
};

use super::{Scratch, report, seed_or_now, work_command};

/// What is recorded, and the names of the folders for it.
const SCRIPT: &str = "script";
const LARGE: &str = "large-rows";
/// Where the engine keeps pieces that are too large for its log.
const PIECES: &str = "/sled/blobs/";

/// Flags of the subcommand.
#[derive(clap::Args)]
pub struct Args {
    /// Operations of the script; the power is cut at every recorded call of it.
    #[arg(long, default_value_t = 500)]
    operations: u64,
    /// Disks per call of the script.
    #[arg(long, default_value_t = 4)]
    fates: u64,
    /// Operations of a second script, whose rows are as long as they may be.
    #[arg(long, default_value_t = 100)]
    large_operations: u64,
    /// Writers of the crowd.
    #[arg(long, default_value_t = 64)]
    writers: u64,
    /// Commits of each.
    #[arg(long, default_value_t = 30)]
    commits: u64,
    /// Cuts at random points of the crowd.
    #[arg(long, default_value_t = 100_000)]
    random: u64,
    /// Part of the run, such as 1/8.
    #[arg(long, default_value = "1/1")]
    shard: Shard,
    /// Threads that check disks.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Seed; without it the time. The report names it.
    #[arg(long)]
    seed: Option<u64>,
    /// Folder for disks; without it one in memory, if there is one.
    #[arg(long)]
    scratch: Option<PathBuf>,
}

/// Runs both parts.
pub fn run(args: &Args) -> Result<bool> {
    let seed = seed_or_now(args.seed)?;
    let scratch = Scratch::new(args.scratch.as_deref())?;
    let library = disk::build(scratch.path())?;
    let mut all_well = true;
    for (what, operations) in [(SCRIPT, args.operations), (LARGE, args.large_operations)] {
        if args.fates == 0 || operations == 0 {
            continue;
        }
        let run = Recorded::of(&scratch, &library, what, operations, 0, seed)?;
        let check = ScriptCheck::new(&run.marks);
        ensure!(check.acknowledged() as u64 == operations, "the script did not come to its end");
        let calls = 0..=run.events.len();
        let cuts: Vec<Cut> = calls
            .flat_map(|at| (0..args.fates).map(move |fate| (at, at as u64 * args.fates + fate)))
            .filter(|(_, number)| args.shard.has(*number))
            .map(|(at, number)| Cut { at, fate: Fate::of(seed, number) })
            .collect();
        let began = Instant::now();
        let found =
            cuts::run(&run.events, &run.preload.data, &cuts, scratch.path(), args.jobs, |data, at, how| {
                check.check(data, at, how)
            })?;
        all_well &= tell(what, args, seed, &run, &found, began)?;
    }
    if args.random > 0 {
        let run = Recorded::of(&scratch, &library, "crowd", args.commits, args.writers, seed)?;
        let check = CrowdCheck::new(run.marks.clone(), args.writers);
        let mut rng = Rng::part(seed, 0, 1);
        let mut cuts: Vec<Cut> = (0..args.random)
            .map(|number| (number, rng.below(run.events.len() as u64 + 1)))
            .filter(|(number, _)| args.shard.has(*number))
            .map(|(number, at)| Cut { at: at as usize, fate: Fate::of(!seed, number) })
            .collect();
        cuts.sort_by_key(|cut| cut.at);
        let began = Instant::now();
        let found =
            cuts::run(&run.events, &run.preload.data, &cuts, scratch.path(), args.jobs, |data, at, how| {
                check.check(data, at, how)
            })?;
        all_well &= tell("crowd", args, seed, &run, &found, began)?;
    }
    scratch.end(all_well);
    Ok(all_well)
}

fn tell(what: &str, args: &Args, seed: u64, run: &Recorded, found: &Found, began: Instant) -> Result<bool> {
    let unsynced = unsynced_at_reuse(&run.events);
    let text = format!(
        "power-cut {what}: seed {seed}, shard {}: {} recorded calls, at most {} KiB unsynced when a segment was used anew, \
         {} disks in {} s",
        args.shard,
        run.events.len(),
        unsynced / 1024,
        found.disks,
        began.elapsed().as_secs()
    );
    let mut violations = found.violations.clone();
    if unsynced > REUSE_BYTES {
        violations
            .push("a segment of the log may have been used anew before what frees it was synced".into());
    }
    report(&text, &violations)
}

/// One run of the work, recorded.
struct Recorded {
    preload: Preload,
    events: Vec<Event>,
    marks: Vec<(usize, Mark)>,
}

impl Recorded {
    fn of(
        scratch: &Scratch,
        library: &std::path::Path,
        name: &str,
        count: u64,
        writers: u64,
        seed: u64,
    ) -> Result<Self> {
        let preload = Preload::new(library, &scratch.path().join(name))?;
        let mut command: Command = work_command(&preload, count, writers, seed)?;
        if name == LARGE {
            command.arg("--large");
        }
        preload.prepare(&mut command, true)?;
        let output = command.output().context("the work cannot be started")?;
        ensure!(output.status.success(), "the {name} failed: {}", String::from_utf8_lossy(&output.stderr));
        let events = read_record(&preload.record)?;
        // The engine syncs no file that it makes for a large piece; rows are cut so that there are none.
        let own = events.iter().find_map(|event| match &event.kind {
            EventKind::Open { path, is_made: true, .. } if path.contains(PIECES) => Some(path),
            _ => None,
        });
        ensure!(own.is_none(), "a leaf became a file of its own: {}", own.map_or("", String::as_str));
        let marks = marks(&events)?;
        Ok(Self { preload, events, marks })
    }
}

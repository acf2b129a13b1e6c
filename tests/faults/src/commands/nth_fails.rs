//! `lochan-faults nth-fails`: the n-th call of each kind fails, for every n.

use std::{path::Path, process::Command, sync::Mutex, sync::PoisonError, time::Duration, time::Instant};

use anyhow::{Context, Result, bail, ensure};
use lochan_tests_faults::{
    child::{self, Ending},
    disk::{self, Action, Calls, Disk, Event, EventKind, Fate, Preload, Strike, read_record},
    rng::Rng,
    shard::Shard,
    work::{Outcome, ScriptCheck, Thoroughness, marks},
};

use super::{Scratch, report, seed_or_now, work_command};

/// Longest run of the script, in seconds.
const SCRIPT_WAIT_S_MAX: u64 = 120;
/// Operations after the restart.
const OPERATIONS_AFTER: u64 = 5;
/// Disks cut at random behind the failure.
const CUTS_BEHIND: u64 = 3;
/// Violations after which no more cases are tried.
const VIOLATIONS_MAX: usize = 8;
/// How much later every second failure is told, in milliseconds.
const LATE_MS: u32 = 5;
const EIO: u32 = 5;
const ENOSPC: u32 = 28;

/// Flags of the subcommand.
#[derive(clap::Args)]
pub struct Args {
    /// Operations of the script.
    #[arg(long, default_value_t = 500)]
    operations: u64,
    /// Tries every so manieth call only.
    #[arg(long, default_value_t = 1)]
    every: u64,
    /// Part of the run, such as 1/8.
    #[arg(long, default_value = "1/1")]
    shard: Shard,
    /// Scripts at once.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Seed; without it the time. The report names it.
    #[arg(long)]
    seed: Option<u64>,
    /// Only the case with this number, told in a violation.
    #[arg(long)]
    case: Option<u64>,
}

/// Runs every case.
pub fn run(args: &Args) -> Result<bool> {
    let seed = seed_or_now(args.seed)?;
    let scratch = Scratch::new(None)?;
    let library = disk::build(scratch.path())?;
    let cases = cases(&scratch, &library, args, seed)?;
    let wanted = |(number, _): &(u64, Strike)| match args.case {
        Some(case) => *number == case,
        None => number % args.every == 0 && args.shard.has(number / args.every),
    };
    let open: Vec<(u64, Strike)> = (0..).zip(cases.iter().copied()).filter(wanted).collect();
    let tally = Mutex::new(Tally::default());
    let began = Instant::now();
    let work = |job: usize| {
        for (number, strike) in open.iter().skip(job).step_by(args.jobs) {
            let folder = scratch.path().join(format!("case-{number}"));
            let tried = std::fs::create_dir(&folder)
                .map_err(anyhow::Error::from)
                .and_then(|()| one(&library, &folder, args.operations, seed, *number, strike));
            let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
            match tried {
                Ok(done) => {
                    tally.add(&done);
                    let _ = std::fs::remove_dir_all(&folder);
                }
                Err(error) => tally.violations.push(format!("case {number}, {strike:?}: {error:#}")),
            }
            if tally.violations.len() >= VIOLATIONS_MAX {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        let work = &work;
        for job in 0..args.jobs {
            scope.spawn(move || work(job));
        }
    });
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    let text = format!(
        "nth-fails: seed {seed}, shard {}, every {}: {} cases of {} in {} s, {} disks; {} unknown, {} refused, {} ended \
         at their opening",
        args.shard,
        args.every,
        open.len(),
        cases.len(),
        began.elapsed().as_secs(),
        tally.disks,
        tally.unknown,
        tally.refused,
        tally.not_opened
    );
    let well = report(&text, &tally.violations)?;
    scratch.end(well);
    Ok(well)
}

#[derive(Default)]
struct Done {
    disks: u64,
    unknown: u64,
    refused: u64,
    not_opened: u64,
}

#[derive(Default)]
struct Tally {
    disks: u64,
    unknown: u64,
    refused: u64,
    not_opened: u64,
    violations: Vec<String>,
}

impl Tally {
    fn add(&mut self, done: &Done) {
        self.disks += done.disks;
        self.unknown += done.unknown;
        self.refused += done.refused;
        self.not_opened += done.not_opened;
    }
}

/// Every call of a run without failures, each with a way to fail.
fn cases(scratch: &Scratch, library: &Path, args: &Args, seed: u64) -> Result<Vec<Strike>> {
    let preload = Preload::new(library, &scratch.path().join("count"))?;
    let mut command = work_command(&preload, args.operations, 0, seed)?;
    preload.prepare(&mut command, true)?;
    match child::run(&mut command, Duration::from_secs(SCRIPT_WAIT_S_MAX), || Ok(()))? {
        Ending::Ended(status, told) => ensure!(status.success(), "without failures: {told}"),
        Ending::Hung(told) => bail!("it hangs without failures: {told}"),
    }
    let events = read_record(&preload.record)?;
    let mut cases = Vec::new();
    for calls in Calls::KINDS {
        let count = events.iter().filter(|event| is_one(calls, &event.kind)).count() as u64;
        for nth in 1..=count {
            let action = match (calls, nth % 3) {
                (Calls::Write, 0) => Action::Short(nth as u32 % 700),
                (Calls::Write, 1) => Action::Fail(ENOSPC),
                _ => Action::Fail(EIO),
            };
            let lose = if calls == Calls::Sync { (nth % 3) as u32 } else { 0 };
            // By turns, so that each way to fail comes late too.
            let late_ms = if nth / 3 % 2 == 0 { LATE_MS } else { 0 };
            cases.push(Strike { calls, nth, action, is_lasting: false, lose, seed: seed ^ nth, late_ms });
        }
    }
    Ok(cases)
}

const fn is_one(calls: Calls, event: &EventKind) -> bool {
    matches!(
        (calls, event),
        (Calls::Open, EventKind::Open { .. })
            | (Calls::Write, EventKind::Write { .. })
            | (Calls::Truncate, EventKind::Truncate { .. })
            | (Calls::Rename, EventKind::Rename { .. })
            | (Calls::Unlink, EventKind::Unlink { .. })
            | (Calls::MakeFolder, EventKind::MakeFolder { .. })
            | (Calls::Sync, EventKind::SyncBegin { .. })
            | (Calls::Range, EventKind::Range)
    )
}

/// The script with one failure, then a restart and some operations more; then disks after power cuts.
fn one(
    library: &Path,
    folder: &Path,
    operations: u64,
    seed: u64,
    number: u64,
    strike: &Strike,
) -> Result<Done> {
    let preload = Preload::new(library, folder)?;
    let mut done = Done::default();
    let mut command = work_command(&preload, operations, 0, seed)?;
    let control = preload.prepare(&mut command, true)?;
    control.strike(strike)?;
    let ending = child::run(&mut command, Duration::from_secs(SCRIPT_WAIT_S_MAX), || Ok(()))?;
    let opened = !marks(&read_record(&preload.record)?)?.is_empty();
    match ending {
        Ending::Hung(told) => bail!("it hung: {told}"),
        Ending::Ended(status, _) if status.success() => {}
        Ending::Ended(status, told) if opened => bail!("it ended with {status}: {told}"),
        Ending::Ended(..) => done.not_opened = 1,
    }
    let mut command: Command = work_command(&preload, OPERATIONS_AFTER, 0, seed + 1)?;
    preload.prepare(&mut command, true)?;
    match child::run(&mut command, Duration::from_secs(SCRIPT_WAIT_S_MAX), || Ok(()))? {
        Ending::Ended(status, told) => ensure!(status.success(), "after the restart: {told}"),
        Ending::Hung(told) => bail!("it hung after the restart: {told}"),
    }
    let events = read_record(&preload.record)?;
    let check = ScriptCheck::new(&marks(&events)?);
    check.check_itself()?;
    done.unknown = check.count(Outcome::Unknown).saturating_sub(2) as u64;
    done.refused = check.count(Outcome::Refused) as u64;
    let struck = events.iter().position(|event| event.kind == EventKind::Struck).unwrap_or_default();
    let mut rng = Rng::part(seed, number, 5);
    let mut cuts: Vec<(usize, Fate)> = (0..CUTS_BEHIND)
        .map(|cut| {
            (struck + rng.below((events.len() - struck) as u64 + 1) as usize, Fate::of(rng.draw(), cut))
        })
        .collect();
    cuts.sort_by_key(|(at, _)| *at);
    cuts.extend([(events.len(), Fate::Dropped), (events.len(), Fate::of(rng.draw(), number))]);
    done.disks = cut(&events, &preload, &cuts, folder, &check)?;
    Ok(done)
}

fn cut(
    events: &[Event],
    preload: &Preload,
    cuts: &[(usize, Fate)],
    folder: &Path,
    check: &ScriptCheck,
) -> Result<u64> {
    let mut disk = Disk::new(&preload.data.to_string_lossy());
    let mut taken = 0;
    for (number, (at, fate)) in cuts.iter().enumerate() {
        for event in events.get(taken..*at).unwrap_or_default() {
            disk.apply(&event.kind)?;
        }
        taken = taken.max(*at);
        let image = folder.join(format!("disk-{number}"));
        std::fs::create_dir(&image)?;
        disk.write_image(*fate, &image)?;
        check
            .check(&image, *at, Thoroughness::Plain)
            .with_context(|| format!("{fate:?}, {}", image.display()))?;
        std::fs::remove_dir_all(&image)?;
    }
    Ok(cuts.len() as u64)
}

//! `lochan-faults kill`: SIGKILL at random moments.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use lochan_tests_faults::run::{self, Plan, Round};
use lochan_tests_faults::schedule::KILL_AFTER_MS_MAX;

use super::{report, seed_or_now, server};

/// Flags of the subcommand.
#[derive(clap::Args)]
pub struct Args {
    /// Number of rounds; each ends with a kill.
    #[arg(long, default_value_t = 200)]
    kills: u64,
    /// Writers, at least the sixteen that differ from one another.
    #[arg(long, default_value_t = 16)]
    writers: usize,
    /// Seed of the schedule; without it the time. The report names it.
    #[arg(long)]
    seed: Option<u64>,
    /// Server binary; without it `LOCHAN_SERVER_BIN`, else `lochan-server` beside this program.
    #[arg(long)]
    server: Option<PathBuf>,
    /// Runs `fsck --full` after every so many rounds, too; 0 for only at the end.
    #[arg(long, default_value_t = 0)]
    fsck_every: u64,
    /// Longest time from a start to the first answered read in milliseconds.
    #[arg(long, default_value_t = 1000)]
    restart_ms_max: u64,
    /// Longest time from the first request of a round to its kill in milliseconds.
    #[arg(long, default_value_t = KILL_AFTER_MS_MAX)]
    kill_after_ms_max: u64,
    /// Keeps data and logs even when all is well.
    #[arg(long)]
    keep: bool,
}

/// Runs all rounds.
pub fn run(args: &Args) -> Result<bool> {
    let program = server(args.server.as_ref())?;
    let seed = seed_or_now(args.seed)?;
    let folder = tempfile::Builder::new().prefix("lochan-faults-").tempdir()?;
    println!("seed {seed}, {} rounds, server {}", args.kills, program.display());
    let plan = Plan {
        program,
        folder: folder.path().to_owned(),
        writers: args.writers,
        kills: args.kills,
        seed,
        kill_after_ms_max: args.kill_after_ms_max,
        fsck_every: args.fsck_every,
        restart_max: Duration::from_millis(args.restart_ms_max),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(run::run(&plan, tell));
    let well = outcome.as_ref().is_ok_and(|report| report.violations.is_empty());
    if args.keep || !well {
        println!("data and logs are kept in {}", folder.keep().display());
    }
    let told = outcome.with_context(|| format!("seed {seed}"))?;
    let text = format!(
        "seed {seed}: {} kills, {} requests acknowledged, slowest restart {} ms",
        told.kills,
        told.acknowledged,
        told.restart_max.as_millis()
    );
    report(&text, &told.violations)
}

fn tell(round: &Round) {
    println!(
        "round {:>3}: killed after {:>4} ms{}; acknowledged {} commits, {} merges, {} moves, {} settings; {} refused, {} in flight; \
         served again after {} ms",
        round.number,
        round.kill_after.as_millis(),
        if round.killed_twice { " and while starting" } else { "" },
        round.commits,
        round.merges,
        round.moves,
        round.settings,
        round.refused,
        round.in_flight,
        round.restart.as_millis()
    );
}

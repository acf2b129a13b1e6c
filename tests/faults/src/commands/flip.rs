//! `lochan-faults flip`: flipped bits and cut files.

use std::path::PathBuf;

use anyhow::{Context, Result};
use lochan_tests_faults::flip::{self, Plan, Report};
use lochan_tests_faults::shard::Shard;

use super::{report, seed_or_now, server};

/// Flags of the subcommand.
#[derive(clap::Args)]
pub struct Args {
    /// Number of trials, over all shards.
    #[arg(long, default_value_t = 1000)]
    trials: u64,
    /// Seed of all choices; without it the time. The report names it.
    #[arg(long)]
    seed: Option<u64>,
    /// Runs only the i-th of n parts, such as 2/5.
    #[arg(long, default_value = "1/1")]
    shard: Shard,
    /// Server binary; without it `LOCHAN_SERVER_BIN`, else `lochan-server` beside this program.
    #[arg(long)]
    server: Option<PathBuf>,
}

/// Runs all trials.
pub fn run(args: &Args) -> Result<bool> {
    let program = server(args.server.as_ref())?;
    let seed = seed_or_now(args.seed)?;
    let folder = tempfile::Builder::new().prefix("lochan-faults-").tempdir()?;
    let plan = Plan { program, folder: folder.path().to_owned(), trials: args.shard.part(args.trials), seed };
    println!("seed {seed}, trials {:?}", plan.trials);
    // The engine panics on many a damaged file; that is caught, and a panic that gets out is a violation.
    std::panic::set_hook(Box::new(|_| {}));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(flip::run(&plan));
    let Report { counts, violations } = outcome.with_context(|| format!("seed {seed}"))?;
    for ((file, verdict), count) in &counts {
        println!("{file:<16} {:<12} {count}", format!("{verdict:?}").to_lowercase());
    }
    report(&format!("seed {seed}: {} trials", plan.trials.end - plan.trials.start), &violations)
}

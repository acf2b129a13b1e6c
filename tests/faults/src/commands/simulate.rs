//! `lochan-faults simulate`: the writer on a simulated disk, clock and clients.

use anyhow::Result;
use lochan_tests_faults::seeds::Seeds;
use lochan_tests_faults::shard::Shard;
use lochan_tests_faults::simulate::run;

use super::{Words, over_seeds, progress, seed_or_now, threads};

/// Flags of the subcommand.
#[derive(clap::Args)]
pub struct Args {
    /// Number of seeds, each a run of its own; over all shards.
    #[arg(long, default_value_t = 300)]
    seeds: u64,
    /// First seed; without it the time. A failed run is named by its seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Runs only the i-th of n parts, such as 2/5.
    #[arg(long, default_value = "1/1")]
    shard: Shard,
    /// Number of threads; without it one per core.
    #[arg(long)]
    jobs: Option<usize>,
}

/// Runs all seeds.
pub fn run(args: &Args) -> Result<bool> {
    let first = seed_or_now(args.seed)?;
    let seeds = Seeds { first, count: args.seeds, shard: args.shard, threads: threads(args.jobs) };
    let again = "simulate --seeds 1".to_owned();
    let words = Words { runs: "runs", faults: "violations", again };
    Ok(over_seeds(&seeds, &words, run::seed, |done| progress(done, "seeds")))
}

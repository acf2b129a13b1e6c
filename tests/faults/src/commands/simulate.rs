//! `lochan-faults simulate`: the writer on a simulated disk, clock and clients.

use anyhow::Result;
use lochan_tests_faults::seeds::{Seeds, Shard, built_from};
use lochan_tests_faults::simulate::run;

use super::{progress, seed_or_now, threads};

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
    Ok(match seeds.run(run::seed, |done| progress(done, "seeds")) {
        Ok((counts, seeds)) => {
            println!(
                "seeds from {first} on, commit {}: {seeds} runs, {counts:?}, 0 violations",
                built_from()
            );
            true
        }
        Err(failed) => {
            println!("seed {}, commit {}: {}", failed.seed, built_from(), failed.fault);
            println!("again: lochan-faults simulate --seeds 1 --seed {}", failed.seed);
            false
        }
    })
}

//! `lochan-faults model`: random cases against the naive model.

use anyhow::Result;
use lochan_tests_faults::model::run;
use lochan_tests_faults::seeds::Seeds;
use lochan_tests_faults::shard::Shard;

use super::{Words, over_seeds, progress, seed_or_now, threads};

/// Flags of the subcommand.
#[derive(clap::Args)]
pub struct Args {
    /// Number of cases, each with some twenty requests; over all shards.
    #[arg(long, default_value_t = 5_000)]
    cases: u64,
    /// Seed of the first case, the next one has the next seed; without it the time. A failed case is named by its seed.
    #[arg(long)]
    seed: Option<u64>,
    /// Runs only the i-th of n parts, such as 2/5.
    #[arg(long, default_value = "1/1")]
    shard: Shard,
    /// Number of threads; without it one per core.
    #[arg(long)]
    jobs: Option<usize>,
}

/// Runs all cases.
pub fn run(args: &Args) -> Result<bool> {
    let first = seed_or_now(args.seed)?;
    let seeds = Seeds { first, count: args.cases, shard: args.shard, threads: threads(args.jobs) };
    let again = "model --cases 1".to_owned();
    let words = Words { runs: "cases", faults: "differences", again };
    Ok(over_seeds(&seeds, &words, run::case, |done| progress(done, "cases")))
}

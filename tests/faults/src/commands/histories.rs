//! `lochan-faults histories`: recorded histories with kills and pauses.

use std::path::PathBuf;

use anyhow::Result;
use lochan_tests_faults::histories::run::{self, Counts, Plan};
use lochan_tests_faults::seeds::Seeds;
use lochan_tests_faults::shard::Shard;

use super::{Words, over_seeds, seed_or_now, server};

/// Flags of the subcommand.
#[derive(clap::Args)]
pub struct Args {
    /// Number of histories, over all shards.
    #[arg(long, default_value_t = 20)]
    histories: u64,
    /// Requests of each history.
    #[arg(long, default_value_t = 1_000)]
    requests: u64,
    /// Seed of the first history, the next one has the next seed; without it the time.
    #[arg(long)]
    seed: Option<u64>,
    /// Runs only the i-th of n parts, such as 2/5.
    #[arg(long, default_value = "1/1")]
    shard: Shard,
    /// Server binary; without it `LOCHAN_SERVER_BIN`, else `lochan-server` beside this program.
    #[arg(long)]
    server: Option<PathBuf>,
    /// Histories at a time.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
}

/// Records and judges all histories.
pub fn run(args: &Args) -> Result<bool> {
    let program = server(args.server.as_ref())?;
    let first = seed_or_now(args.seed)?;
    let seeds = Seeds { first, count: args.histories, shard: args.shard, threads: args.jobs };
    let one = |seed| history(seed, args.requests, &program).map_err(|e| format!("{e:#}"));
    let told = |done: u64| println!("{done} histories");
    let again = format!("histories --histories 1 --requests {}", args.requests);
    let words = Words { runs: "histories", faults: "anomalies", again };
    Ok(over_seeds(&seeds, &words, one, told))
}

fn history(seed: u64, requests: u64, program: &std::path::Path) -> Result<Counts> {
    let folder = tempfile::Builder::new().prefix("lochan-faults-").tempdir()?;
    let plan = Plan { program: program.to_owned(), folder: folder.path().to_owned(), seed, requests };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (counts, faults) = runtime.block_on(run::run(&plan))?;
    if faults.is_empty() {
        return Ok(counts);
    }
    let kept = folder.keep();
    anyhow::bail!("data and log are kept in {}\n{}", kept.display(), faults.join("\n"))
}

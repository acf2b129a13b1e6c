//! `lochan-faults backup`: backups under load, put back and compared.

use std::path::PathBuf;

use anyhow::{Context, Result};
use lochan_tests_faults::backup::{self, Plan};
use lochan_tests_faults::shard::Shard;

use super::{seed_or_now, server};

/// Flags of the subcommand.
#[derive(clap::Args)]
pub struct Args {
    /// Number of backups, over all shards.
    #[arg(long, default_value_t = 200)]
    rounds: u64,
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

/// Runs all rounds.
pub fn run(args: &Args) -> Result<bool> {
    let program = server(args.server.as_ref())?;
    let part = args.shard.part(args.rounds);
    // A shard is a run of its own.
    let seed = seed_or_now(args.seed)?.wrapping_add(part.start);
    let folder = tempfile::Builder::new().prefix("lochan-faults-").tempdir()?;
    println!("seed {seed}, {} backups", part.end - part.start);
    let plan = Plan { program, folder: folder.path().to_owned(), rounds: part.end - part.start, seed };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let outcome = runtime.block_on(backup::run(&plan, |round| {
        println!(
            "round {:>3}: {} commits acknowledged before, {} in the backup, which took {} ms",
            round.number,
            round.before,
            round.kept,
            round.took.as_millis()
        );
    }));
    if outcome.is_err() {
        println!("everything is kept in {}", folder.keep().display());
    }
    outcome.with_context(|| format!("seed {seed}"))?;
    println!("seed {seed}: {} backups came back as they were taken", plan.rounds);
    Ok(true)
}

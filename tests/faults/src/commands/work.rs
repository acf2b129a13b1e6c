//! `lochan-faults work`: does work on a store; the other subcommands start it with a library preloaded.

use std::path::PathBuf;

use anyhow::Result;
use lochan_tests_faults::work::{crowd, script};

/// Flags of the subcommand.
#[derive(clap::Args)]
pub struct Args {
    /// Data folder.
    #[arg(long)]
    data: PathBuf,
    /// File to tell of every operation in.
    #[arg(long)]
    marks: PathBuf,
    /// Operations, each writer's.
    #[arg(long)]
    count: u64,
    /// Writers; 0 for a script of every kind of operation.
    #[arg(long, default_value_t = 0)]
    writers: u64,
    /// Seed of the script.
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

/// Runs to the end.
pub fn run(args: &Args) -> Result<bool> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        match args.writers {
            0 => script(&args.data, &args.marks, args.count, args.seed).await,
            writers => crowd(&args.data, &args.marks, writers, args.count).await,
        }
    })?;
    Ok(true)
}

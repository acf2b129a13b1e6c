//! `lochan-faults work`: does work on a store; the other subcommands start it with a library preloaded.

use std::path::PathBuf;

use anyhow::Result;
use lochan_tests_faults::work::{Death, RowSizes, crowd, die_at, script};

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
    /// Has the script write rows as long as they may be.
    #[arg(long)]
    large: bool,
    /// Point of the writer at which the process dies, such as `journaled:3` for the third time.
    #[arg(long)]
    die: Option<Death>,
}

/// Runs to the end.
pub fn run(args: &Args) -> Result<bool> {
    if let Some(death) = args.die.clone() {
        die_at(death)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        match args.writers {
            0 => {
                let rows = if args.large { RowSizes::Large } else { RowSizes::Usual };
                script(&args.data, &args.marks, args.count, args.seed, rows).await
            }
            writers => crowd(&args.data, &args.marks, writers, args.count).await,
        }
    })?;
    Ok(true)
}

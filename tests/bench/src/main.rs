//! Lochan's benchmark: starts servers, loads tables, drives them in a closed loop beside two ceilings, prints ratios.

// The report is what this program is for.
#![allow(clippy::print_stdout)]

mod args;
mod bars;
mod base;
mod beside;
mod ceiling;
mod conn;
mod drive;
mod hist;
mod keys;
mod measure;
mod nessie;
mod ratio;
mod report;
mod run;
mod server;
mod start;
mod workload;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use tokio::runtime::Builder;

use args::{Args, Role};

fn main() -> ExitCode {
    let args = Args::parse();
    match start(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("lochan-bench: {e:#}");
            ExitCode::FAILURE
        }
    }
}

/// True when the run is valid.
fn start(args: Args) -> Result<bool> {
    match args.role {
        Some(Role::Ceiling { kind, log }) => {
            // A ceiling gets the threads that a server gets.
            let runtime = Builder::new_multi_thread().enable_all().build()?;
            let served = runtime.block_on(ceiling::serve(kind, &log));
            // The thread that waits for standard input must not hold up the end.
            runtime.shutdown_background();
            served.map(|()| true)
        }
        None => {
            // One thread drives all connections, which leaves the machine to the server.
            let runtime = Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(run::run(&args.run))
        }
    }
}

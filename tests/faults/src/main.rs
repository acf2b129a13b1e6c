//! The fault harness as a program, a subcommand per kind of fault: `lochan-faults kill --kills 200 --seed 7`.

// The reports are what this program is for.
#![allow(clippy::print_stdout)]

mod commands;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

/// Puts faults to a Lochan server or its parts and checks that nothing acknowledged is lost.
#[derive(Parser)]
#[command(name = "lochan-faults", version)]
enum Command {
    /// Records what clients are told while a server is killed and paused, and looks for what no order explains.
    Histories(commands::histories::Args),
    /// Kills a server at random moments under sixteen writers.
    Kill(commands::kill::Args),
    /// Compares commits, merges, transplants and diffs with a naive model, in process.
    Model(commands::model::Args),
    /// Simulates the writer with its clock, disk and clients, by a seed, in process.
    Simulate(commands::simulate::Args),
    /// Flips bits of a store's files and cuts them: all of it must be found, or do no harm.
    Flip(commands::flip::Args),
    /// Takes backups under load, puts them back and compares.
    Backup(commands::backup::Args),
    /// Kills a process at its k-th write or sync.
    KillPoint(commands::kill_point::Args),
    /// Lets the n-th call of each kind fail, for every n.
    NthFails(commands::nth_fails::Args),
    /// Fills the disk for a while.
    DiskFull(commands::disk_full::Args),
    /// Cuts the power at every call of a script and at random points of a crowd.
    PowerCut(commands::power_cut::Args),
    /// Does work on a store; started by the others.
    #[command(hide = true)]
    Work(commands::work::Args),
}

impl Command {
    /// Runs to the end and says whether all was well.
    fn run(&self) -> Result<bool> {
        match self {
            Self::Histories(args) => commands::histories::run(args),
            Self::Kill(args) => commands::kill::run(args),
            Self::Model(args) => commands::model::run(args),
            Self::Simulate(args) => commands::simulate::run(args),
            Self::Flip(args) => commands::flip::run(args),
            Self::Backup(args) => commands::backup::run(args),
            Self::KillPoint(args) => commands::kill_point::run(args),
            Self::NthFails(args) => commands::nth_fails::run(args),
            Self::DiskFull(args) => commands::disk_full::run(args),
            Self::PowerCut(args) => commands::power_cut::run(args),
            Self::Work(args) => commands::work::run(args),
        }
    }
}

fn main() -> ExitCode {
    match Command::parse().run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("lochan-faults: {e:#}");
            ExitCode::from(2)
        }
    }
}

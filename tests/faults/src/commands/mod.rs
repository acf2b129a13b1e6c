//! The subcommands, a file each: `Args` and `run`, which prints a report and returns whether all was well.

pub mod backup;
pub mod flip;
pub mod histories;
pub mod kill;
pub mod model;
pub mod simulate;

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

/// The wanted seed; without one the time, so that every run is another one.
fn seed_or_now(seed: Option<u64>) -> Result<u64> {
    if let Some(seed) = seed {
        return Ok(seed);
    }
    Ok(SystemTime::now().duration_since(UNIX_EPOCH).context("clock before 1970")?.as_secs())
}

/// The wanted number of threads; without one, a thread per core.
fn threads(jobs: Option<usize>) -> usize {
    jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, Into::into))
}

/// Tells of every thousandth seed that is done.
fn progress(done: u64, what: &str) {
    if done.is_multiple_of(1_000) {
        println!("{done} {what}");
    }
}

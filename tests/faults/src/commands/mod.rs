//! The subcommands, a file each: `Args` and `run`, which prints a report and returns whether all was well.

pub mod kill;

use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

/// The wanted seed; without one the time, so that every run is another one.
fn seed_or_now(seed: Option<u64>) -> Result<u64> {
    if let Some(seed) = seed {
        return Ok(seed);
    }
    Ok(SystemTime::now().duration_since(UNIX_EPOCH).context("clock before 1970")?.as_secs())
}

//! Commits beside work in the background: how much longer the slowest hundredth takes while the store is scrubbed or backed up.
//!
//! Two servers hold the same tables. One is left alone, or backed up; the other one scrubs without a pause, and stands still
//! (SIGSTOP) while its neighbour is measured.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use tokio::process::Command;

use crate::measure::{self, Lane, Plan};
use crate::ratio::{self, Spread};
use crate::run::Loaded;
use crate::workload::{Kind, Size};

/// What is measured: many writers on one branch, none of whom has to wait for another.
const KIND: Kind = Kind::CommitOwnTable;
/// Settings of the server that scrubs.
const SCRUBBING: &str = "[scrub]\nbegin_after_seconds = 0\nevery_hours = 0\n";

/// The 99th percentile of commits beside something, held against slices without it.
#[derive(Debug, Serialize)]
pub struct Beside {
    /// Beside what.
    pub what: &'static str,
    /// Number of writers.
    pub workers: usize,
    /// Without it, in milliseconds.
    pub alone_ms: Option<Spread>,
    /// With it.
    pub beside_ms: Option<Spread>,
    /// The second over the first, slice by slice.
    pub ratio: Option<Spread>,
    /// How often it ran through.
    pub rounds: u64,
    /// What went wrong.
    pub problems: Vec<String>,
}

/// Writes the settings of a server that scrubs all the time, and returns their place.
pub fn settings(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("scrubbing.toml");
    std::fs::write(&path, SCRUBBING)?;
    Ok(path)
}

/// Measures both, pair by pair.
pub async fn measure(
    plain: &Loaded,
    scrubbed: &Loaded,
    workers: usize,
    plan: Plan,
    folder: &Path,
) -> Result<[Beside; 2]> {
    let mut slices = [(Vec::new(), Vec::new()), (Vec::new(), Vec::new())];
    let mut problems = [Vec::new(), Vec::new()];
    let (mut number, mut backups) = (0, 0);
    let mut slice = async |loaded: &Loaded, problems: &mut Vec<String>| -> Result<f64> {
        number += 1;
        let mut lane = Lane::new(&loaded.target, KIND);
        measure::slice(KIND, &loaded.target, Size { workers, number }, plan.time, &mut lane).await?;
        lane.close();
        problems.extend(lane.errors.iter().map(|(error, count)| format!("{count} × {error}")));
        Ok(lane.p99_ms)
    };
    let [scrub, backup] = &mut slices;
    let [scrub_problems, backup_problems] = &mut problems;
    signal(scrubbed.target.pid, Signal::STOP)?;
    for _ in 0..plan.pairs {
        scrub.0.push(slice(plain, scrub_problems).await?);
        signal(scrubbed.target.pid, Signal::CONT)?;
        scrub.1.push(slice(scrubbed, scrub_problems).await?);
        signal(scrubbed.target.pid, Signal::STOP)?;
        backup.0.push(slice(plain, backup_problems).await?);
        let (measured, taken) =
            tokio::join!(slice(plain, backup_problems), take(plain, folder, plan.time, backups));
        backup.1.push(measured?);
        backups += taken?;
    }
    signal(scrubbed.target.pid, Signal::CONT)?;
    let log = std::fs::read_to_string(scrubbed.launch.data.with_extension("log"))?;
    let scrubs = log.matches("a scrub has ended").count() as u64;
    ensure!(
        scrubs > 0 && backups > 0,
        "{scrubs} scrubs and {backups} backups ran through: the slices are too short"
    );
    let [scrub_problems, backup_problems] = problems;
    Ok([
        beside("scrub", workers, scrub, scrubs, scrub_problems),
        beside("backup", workers, backup, backups, backup_problems),
    ])
}

fn beside(
    what: &'static str,
    workers: usize,
    (alone, beside): &(Vec<f64>, Vec<f64>),
    rounds: u64,
    problems: Vec<String>,
) -> Beside {
    Beside {
        what,
        workers,
        alone_ms: ratio::spread(alone),
        beside_ms: ratio::spread(beside),
        ratio: ratio::of_neighbours(beside, alone),
        rounds,
        problems,
    }
}

/// Takes whole backups of a running server one after another, each into a folder of its own, for as long as a slice lasts.
/// Returns how many.
async fn take(of: &Loaded, folder: &Path, time: Duration, before: u64) -> Result<u64> {
    let end = tokio::time::Instant::now() + time;
    let mut taken = 0;
    while tokio::time::Instant::now() < end {
        let to = folder.join(format!("backup-{}", before + taken));
        let output = Command::new(&of.launch.program)
            .arg("backup")
            .arg(&to)
            .arg("--data-dir")
            .arg(&of.launch.data)
            .kill_on_drop(true)
            .output()
            .await?;
        ensure!(output.status.success(), "a backup failed: {}", String::from_utf8_lossy(&output.stderr));
        std::fs::remove_dir_all(&to)?;
        taken += 1;
    }
    Ok(taken)
}

fn signal(pid: u32, signal: Signal) -> Result<()> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).context("process id")?;
    kill_process(pid, signal).context("sending a signal")
}

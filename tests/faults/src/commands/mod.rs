//! The subcommands, a file each: `Args` and `run`, which prints a report and returns whether all was well.

pub mod backup;
pub mod disk_full;
pub mod flip;
pub mod histories;
pub mod kill;
pub mod kill_point;
pub mod model;
pub mod nth_fails;
pub mod power_cut;
pub mod simulate;
pub mod work;

use std::fmt::Debug;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use lochan_tests_faults::disk::Preload;
use lochan_tests_faults::process;
use lochan_tests_faults::seeds::{Seeds, built_from};
use lochan_tests_faults::shard::Shard;
use tempfile::TempDir;

/// Where disks are kept in memory, if the system has it.
const MEMORY: &str = "/dev/shm";

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

/// The server binary that was named, or the one that is found.
fn server(named: Option<&PathBuf>) -> Result<PathBuf> {
    named.map_or_else(process::locate, |program| Ok(program.clone()))
}

/// What a run over seeds counts and looks for.
struct Words {
    /// What runs for one seed, in the plural.
    runs: &'static str,
    /// What is not there when all is well.
    faults: &'static str,
    /// The command line that repeats one seed, up to the seed.
    again: String,
}

/// Runs `one` for every seed and tells what came of it.
fn over_seeds<T: AddAssign + Default + Send + Debug>(
    seeds: &Seeds,
    words: &Words,
    one: impl Fn(u64) -> Result<T, String> + Sync,
    told: impl Fn(u64) + Sync,
) -> bool {
    match seeds.run(one, told) {
        Ok((counts, done)) => {
            let (first, commit) = (seeds.first, built_from());
            let Words { runs, faults, .. } = words;
            println!("seeds from {first} on, commit {commit}: {done} {runs}, {counts:?}, 0 {faults}");
            true
        }
        Err(failed) => {
            println!("seed {}, commit {}: {}", failed.seed, built_from(), failed.fault);
            println!("again: lochan-faults {} --seed {}", words.again, failed.seed);
            false
        }
    }
}

/// Tells of every thousandth seed that is done.
fn progress(done: u64, what: &str) {
    if done.is_multiple_of(1_000) {
        println!("{done} {what}");
    }
}

/// A folder for the files of a run.
struct Scratch(TempDir);

impl Scratch {
    /// In `folder`, or in memory.
    fn new(folder: Option<&Path>) -> Result<Self> {
        let memory = Path::new(MEMORY);
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix("lochan-faults-");
        let made = match folder {
            Some(folder) => builder.tempdir_in(folder),
            None if memory.is_dir() => builder.tempdir_in(memory),
            None => builder.tempdir(),
        };
        Ok(Self(made.context("no folder for disks")?))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Removes it when all was well.
    fn end(self, is_well: bool) {
        if !is_well {
            println!("records and disks are kept in {}", self.0.keep().display());
        }
    }
}

/// What cases of a kind, one after the other, come to.
struct Cases<'a> {
    scratch: &'a Scratch,
    library: &'a Path,
    shard: Shard,
    count: u64,
    /// What one of them is called.
    word: &'static str,
}

impl Cases<'_> {
    /// Runs `one` for every case of the shard in a folder of its own, which stays where something is wrong. Ends with the
    /// first violation, which it returns.
    fn run(&self, mut one: impl FnMut(&Preload, u64) -> Result<()>) -> Result<Vec<String>> {
        for number in (0..self.count).filter(|number| self.shard.has(*number)) {
            let folder = self.scratch.path().join(format!("{}-{number}", self.word));
            std::fs::create_dir(&folder)?;
            let preload = Preload::new(self.library, &folder)?;
            if let Err(error) = one(&preload, number) {
                return Ok(vec![format!("{} {number}: {error:#}", self.word)]);
            }
            std::fs::remove_dir_all(&folder)?;
        }
        Ok(Vec::new())
    }
}

/// This program as `work` on the data of `preload`.
fn work_command(preload: &Preload, count: u64, writers: u64, seed: u64) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("work").arg("--data").arg(&preload.data).arg("--marks").arg(&preload.marks);
    command.arg("--count").arg(count.to_string()).arg("--writers").arg(writers.to_string());
    command.arg("--seed").arg(seed.to_string());
    Ok(command)
}

/// Prints what came of a run, and whether all was well.
fn report(text: &str, violations: &[String]) -> Result<bool> {
    for violation in violations {
        println!("VIOLATION {violation}");
    }
    println!("{text}, {} violations", violations.len());
    Ok(violations.is_empty())
}

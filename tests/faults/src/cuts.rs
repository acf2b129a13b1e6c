//! Cuts the power at many points of one record and checks every disk.

use std::{
    path::{Path, PathBuf},
    sync::Mutex,
    sync::PoisonError,
    sync::atomic::{AtomicU64, Ordering},
};

use anyhow::{Result, anyhow};

use crate::{
    disk::{Disk, Event, Fate},
    work::Thoroughness,
};

/// One disk in so many is looked at whole.
const FULL_ONE_IN: usize = 25;
/// Violations after which no more disks are made.
const VIOLATIONS_MAX: usize = 5;

/// A power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// Before the event with this place.
    pub at: usize,
    /// What becomes of everything that was not synced.
    pub fate: Fate,
}

/// What all cuts found.
#[derive(Debug, Default)]
pub struct Found {
    /// Disks that were made and checked.
    pub disks: u64,
    /// What must never be.
    pub violations: Vec<String>,
}

/// Makes and checks the disk of every cut, which are in order, in `jobs` threads. `scratch` is a folder for disks; those that
/// are wrong stay there.
pub fn run(
    events: &[Event],
    data: &Path,
    cuts: &[Cut],
    scratch: &Path,
    jobs: usize,
    check: impl Fn(&Path, usize, Thoroughness) -> Result<()> + Sync,
) -> Result<Found> {
    let (disks, violations) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    let job = |job: usize| -> Result<()> {
        let mut disk = Disk::new(&data.to_string_lossy());
        let mut done = 0;
        for (number, cut) in cuts.iter().enumerate().skip(job).step_by(jobs) {
            for event in events.get(done..cut.at).unwrap_or_default() {
                disk.apply(&event.kind)?;
            }
            done = done.max(cut.at);
            let folder = scratch.join(format!("disk-{number}"));
            std::fs::create_dir(&folder)?;
            disk.write_image(cut.fate, &folder)?;
            let thoroughness =
                if number % FULL_ONE_IN == 0 { Thoroughness::Full } else { Thoroughness::Plain };
            let checked = check(&folder, cut.at, thoroughness);
            disks.fetch_add(1, Ordering::Relaxed);
            match checked {
                Ok(()) => std::fs::remove_dir_all(&folder)?,
                Err(error) => {
                    let told = format!("{cut:?}: {error:#} ({})", kept(&folder));
                    let mut violations = violations.lock().unwrap_or_else(PoisonError::into_inner);
                    violations.push(told);
                    if violations.len() >= VIOLATIONS_MAX {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let job = &job;
        let threads: Vec<_> = (0..jobs).map(|number| scope.spawn(move || job(number))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().map_err(|_| anyhow!("a job panicked"))?)
    })?;
    let violations = violations.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Found { disks: disks.into_inner(), violations })
}

fn kept(folder: &Path) -> String {
    PathBuf::from(folder).display().to_string()
}

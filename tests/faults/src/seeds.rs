//! Runs over many seeds: which of them a shard takes, on how many threads, and what is told of a failure.

use std::ops::AddAssign;
use std::process::Command;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::shard::Shard;

/// Seeds of a run.
#[derive(Clone, Copy, Debug)]
pub struct Seeds {
    /// The first one.
    pub first: u64,
    /// How many from there on, over all shards.
    pub count: u64,
    /// Which of them are run here.
    pub shard: Shard,
    /// On how many threads.
    pub threads: usize,
}

/// A seed that failed.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The seed.
    pub seed: u64,
    /// What was wrong.
    pub fault: String,
}

impl Seeds {
    /// Runs `one` for every seed, up to the first failure; `told` now and then gets the number of those done. Returns
    /// the sum and the number of seeds.
    pub fn run<T: AddAssign + Default + Send>(
        &self,
        one: impl Fn(u64) -> Result<T, String> + Sync,
        told: impl Fn(u64) + Sync,
    ) -> Result<(T, u64), Failed> {
        let next = AtomicU64::new(self.shard.index - 1);
        let (done, ended) = (AtomicU64::new(0), AtomicBool::new(false));
        let sum = Mutex::new((T::default(), None::<Failed>));
        let work = || {
            while !ended.load(Ordering::Relaxed) {
                let number = next.fetch_add(self.shard.count, Ordering::Relaxed);
                if number >= self.count {
                    break;
                }
                let seed = self.first.wrapping_add(number);
                let result = one(seed);
                let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
                match result {
                    Ok(counts) => sum.0 += counts,
                    Err(fault) => {
                        ended.store(true, Ordering::Relaxed);
                        sum.1.get_or_insert(Failed { seed, fault });
                    }
                }
                drop(sum);
                told(done.fetch_add(1, Ordering::Relaxed) + 1);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                scope.spawn(work);
            }
        });
        match sum.into_inner().unwrap_or_else(PoisonError::into_inner) {
            (_, Some(failed)) => Err(failed),
            (sum, None) => Ok((sum, done.into_inner())),
        }
    }
}

/// The commit this was built from, as far as git can tell.
pub fn built_from() -> String {
    let git = |arguments: &[&str]| {
        let output =
            Command::new("git").arg("-C").arg(env!("CARGO_MANIFEST_DIR")).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let Some(commit) = git(&["rev-parse", "--short=10", "HEAD"]) else { return "unknown".into() };
    match git(&["status", "--porcelain", "--untracked-files=no"]) {
        Some(changed) if changed.is_empty() => commit,
        _ => format!("{commit} with changes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_the_seeds_and_a_failure_names_its_own() {
        let taken = Mutex::new(Vec::new());
        for index in 1..=3 {
            let seeds = Seeds { first: 100, count: 10, shard: Shard::new(index, 3).unwrap(), threads: 2 };
            let one = |seed| {
                taken.lock().unwrap().push(seed);
                Ok(1u64)
            };
            seeds.run(one, |_| {}).unwrap();
        }
        let mut taken = taken.into_inner().unwrap();
        taken.sort_unstable();
        assert_eq!(taken, (100..110).collect::<Vec<_>>());
        let seeds = Seeds { first: 0, count: 50, shard: Shard::WHOLE, threads: 1 };
        let failed = seeds.run(|seed| if seed == 7 { Err("odd".into()) } else { Ok(1u64) }, |_| {});
        assert_eq!(failed.unwrap_err().seed, 7);
    }
}

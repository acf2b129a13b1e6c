//! The simulation in the everyday suite: fewer seeds than the program, new ones each time.

use std::time::{SystemTime, UNIX_EPOCH};

use lochan_tests_faults::seeds::{Seeds, built_from};
use lochan_tests_faults::shard::Shard;
use lochan_tests_faults::simulate::run;

/// Seeds unless `LOCHAN_SIM_SEED` names one.
const SEEDS: u64 = 30;

#[test]
fn nothing_is_lost_applied_twice_or_refused_without_cause() {
    let given =
        std::env::var("LOCHAN_SIM_SEED").ok().map(|text| text.parse().expect("LOCHAN_SIM_SEED is a number"));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let count = if given.is_some() { 1 } else { SEEDS };
    let seeds = Seeds { first: given.unwrap_or(now), count, shard: Shard::WHOLE, threads: 1 };
    if let Err(failed) = seeds.run(run::seed, |_| {}) {
        panic!(
            "seed {}, commit {}: {}\nreplay with LOCHAN_SIM_SEED={}",
            failed.seed,
            built_from(),
            failed.fault,
            failed.seed
        );
    }
}

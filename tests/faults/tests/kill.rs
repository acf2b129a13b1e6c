//! The kill harness in the everyday suite: fewer rounds than the program, a new seed each time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use lochan_tests_faults::process;
use lochan_tests_faults::run::{Plan, run};
use lochan_tests_faults::schedule::KILL_AFTER_MS_MAX;

/// Rounds unless `LOCHAN_KILLS` says otherwise.
const KILLS: u64 = 20;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_acknowledged_is_lost_when_the_server_is_killed() {
    let program = process::locate().unwrap();
    let seed = number("LOCHAN_SEED")
        .unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs());
    let folder = tempfile::Builder::new().prefix("lochan-faults-").tempdir().unwrap();
    let plan = Plan {
        program,
        folder: folder.path().to_owned(),
        writers: 16,
        kills: number("LOCHAN_KILLS").unwrap_or(KILLS),
        seed,
        kill_after_ms_max: KILL_AFTER_MS_MAX,
        fsck_every: 0,
        // The bar of one second is one of a release build on a quiet machine.
        restart_max: Duration::from_secs(if cfg!(debug_assertions) { 5 } else { 1 }),
    };
    eprintln!("replay with LOCHAN_SEED={seed} LOCHAN_KILLS={}", plan.kills);
    let outcome = run(&plan, |round| eprintln!("{round:?}")).await;
    if !outcome.as_ref().is_ok_and(|report| report.violations.is_empty()) {
        let kept = folder.keep();
        panic!("seed {seed}, data and logs in {}: {outcome:#?}", kept.display());
    }
}

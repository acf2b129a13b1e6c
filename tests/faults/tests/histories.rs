//! Recorded histories in the everyday suite: fewer and shorter ones than the program's, other ones each time.

use std::time::{SystemTime, UNIX_EPOCH};

use lochan_tests_faults::histories::run::{Plan, run};
use lochan_tests_faults::process;

/// Histories of one run of the suite.
const HISTORIES: u64 = 2;
/// Requests of each.
const REQUESTS: u64 = 500;

#[tokio::test(flavor = "multi_thread")]
async fn an_order_explains_what_clients_were_told_while_the_server_was_killed_and_paused() {
    let program = process::locate().unwrap();
    let first = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    for seed in first..first + HISTORIES {
        let folder = tempfile::Builder::new().prefix("lochan-faults-").tempdir().unwrap();
        let plan =
            Plan { program: program.clone(), folder: folder.path().to_owned(), seed, requests: REQUESTS };
        let outcome = run(&plan).await;
        if !outcome.as_ref().is_ok_and(|(_, faults)| faults.is_empty()) {
            panic!("seed {seed}, data and log in {}: {outcome:#?}", folder.keep().display());
        }
    }
}

//! The closed loop: every worker sends its next request when the last one is answered.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::task::LocalSet;
use tokio::time::timeout;

use crate::conn::Conn;
use crate::hist::Hist;
use crate::workload::{Timer, Worker};

/// Longest that a slice may take beyond its time, in seconds: an answer that takes longer is a hang.
const OVERTIME_S_MAX: u64 = 60;

/// What one worker did in one slice.
#[derive(Default)]
pub struct Record {
    /// Latencies of the successes.
    pub hist: Hist,
    /// Successes.
    pub ops: u64,
    /// Successes answered before the slice ended.
    pub counted: u64,
    /// Sum of the timed parts of the successes.
    pub timed: Duration,
    /// What failed; a worker stops at its first failure, since the slice is void anyway.
    pub errors: BTreeMap<String, u64>,
    /// Failures whose request may have been applied all the same.
    pub unknown: u64,
}

/// Runs all workers side by side for `time`, each on a connection of its own.
pub async fn drive(addr: SocketAddr, workers: Vec<Worker>, time: Duration) -> Result<Vec<Record>> {
    let mut ready = Vec::with_capacity(workers.len());
    for worker in workers {
        ready.push((worker, Conn::open(addr).await.context("connecting")?));
    }
    let local = LocalSet::new();
    let end = Instant::now() + time;
    let running: Vec<_> =
        ready.into_iter().map(|(worker, conn)| local.spawn_local(work(worker, conn, end))).collect();
    let all = local.run_until(async {
        let mut records = Vec::with_capacity(running.len());
        for worker in running {
            records.push(worker.await.context("a worker failed")?);
        }
        Ok(records)
    });
    timeout(time + Duration::from_secs(OVERTIME_S_MAX), all).await.context("an answer never came")?
}

async fn work(mut worker: Worker, mut conn: Conn, end: Instant) -> Record {
    let mut record = Record::default();
    loop {
        let began = Instant::now();
        if began >= end {
            return record;
        }
        let mut timer = Timer::default();
        match worker.step(&mut conn, &mut timer).await {
            Ok(()) => {
                let now = Instant::now();
                let latency = timer.part().unwrap_or(now - began);
                record.hist.add(latency);
                record.timed += latency;
                record.ops += 1;
                record.counted += u64::from(now <= end);
            }
            Err(e) => {
                record.unknown += u64::from(e.outcome_unknown());
                *record.errors.entry(e.to_string()).or_default() += 1;
                return record;
            }
        }
    }
}

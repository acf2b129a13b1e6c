//! One point: a workload at one number of workers, on all servers and its ceiling, slice beside slice.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use serde::Serialize;

use crate::conn::Conn;
use crate::drive::{Record, drive};
use crate::hist::Hist;
use crate::ratio::{self, Spread};
use crate::server::cpu_seconds;
use crate::workload::{self, Kind, Size, Target};

/// A figure set of one target at one point.
#[derive(Serialize)]
pub struct Lane {
    /// `lochan` or the name of the ceiling.
    pub target: String,
    /// Tables in the base.
    pub keys: usize,
    /// Operations per second of each slice.
    pub rates: Vec<f64>,
    /// The same, summarised.
    pub rate: Option<Spread>,
    /// Median latency in milliseconds over all slices.
    pub p50_ms: f64,
    /// 99th percentile in milliseconds.
    pub p99_ms: f64,
    /// Longest latency in milliseconds.
    pub max_ms: f64,
    /// Successes.
    pub ops: u64,
    /// Processor time of the target per success in microseconds.
    pub cpu_us_per_op: f64,
    /// Share of the slowest worker in the mean of all, per slice, summarised.
    pub slowest_share: Option<Spread>,
    /// Rate over that of the ceiling beside it.
    pub of_ceiling: Option<Spread>,
    /// What went wrong.
    pub errors: BTreeMap<String, u64>,
    #[serde(skip)]
    hist: Hist,
    #[serde(skip)]
    cpu_s: f64,
    #[serde(skip)]
    shares: Vec<f64>,
}

/// A point with its lanes; the ceiling is the last one.
#[derive(Serialize)]
pub struct Point {
    /// Name of the workload.
    pub workload: &'static str,
    /// Number of workers.
    pub workers: usize,
    /// What each target did.
    pub lanes: Vec<Lane>,
    /// Rate with the most keys over that with the fewest.
    pub flat: Option<Spread>,
}

impl Lane {
    /// An empty one.
    pub fn new(target: &Target, kind: Kind) -> Self {
        let name = if target.is_ceiling { kind.ceiling().name() } else { "lochan" };
        Self {
            target: name.to_owned(),
            keys: target.base.layout.tables,
            rates: Vec::new(),
            rate: None,
            p50_ms: 0.0,
            p99_ms: 0.0,
            max_ms: 0.0,
            ops: 0,
            cpu_us_per_op: 0.0,
            slowest_share: None,
            of_ceiling: None,
            errors: BTreeMap::new(),
            hist: Hist::default(),
            cpu_s: 0.0,
            shares: Vec::new(),
        }
    }

    /// Whether nothing unexpected happened.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty() && self.ops > 0
    }

    fn add(&mut self, kind: Kind, records: &[Record], time: Duration) {
        let counted: u64 = records.iter().map(|r| r.counted).sum();
        let ops: Vec<u64> = records.iter().map(|r| r.ops).collect();
        let total: u64 = ops.iter().sum();
        self.rates.push(if kind.timed_part_only() {
            let timed: f64 = records.iter().map(|r| r.timed.as_secs_f64()).sum();
            if timed > 0.0 { total as f64 * records.len() as f64 / timed } else { 0.0 }
        } else {
            counted as f64 / time.as_secs_f64()
        });
        self.shares.extend(ratio::slowest_share(&ops));
        self.ops += total;
        for record in records {
            self.hist.merge(&record.hist);
            for (error, count) in &record.errors {
                *self.errors.entry(error.clone()).or_default() += count;
            }
        }
    }

    /// Summarises what was added.
    pub fn close(&mut self) {
        self.rate = ratio::spread(&self.rates);
        self.slowest_share = ratio::spread(&self.shares);
        self.p50_ms = self.hist.quantile_ms(0.5);
        self.p99_ms = self.hist.quantile_ms(0.99);
        self.max_ms = self.hist.max_ms();
        self.cpu_us_per_op = if self.ops > 0 { self.cpu_s * 1e6 / self.ops as f64 } else { 0.0 };
    }
}

/// Length and number of slices.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Length of a slice.
    pub time: Duration,
    /// Slices per target.
    pub pairs: usize,
}

/// Measures one point. The ceiling runs in the middle of the servers, so that each has it as a neighbour.
pub async fn point(
    kind: Kind,
    workers: usize,
    servers: &[Target],
    ceiling: &Target,
    plan: Plan,
    slices: &mut usize,
) -> Result<Point> {
    let mut lanes: Vec<Lane> = servers.iter().chain([ceiling]).map(|t| Lane::new(t, kind)).collect();
    let middle = servers.len() / 2;
    let mut order: Vec<(usize, &Target)> = servers.iter().enumerate().collect();
    order.insert(middle, (servers.len(), ceiling));
    for _ in 0..plan.pairs {
        for (number, target) in &order {
            *slices += 1;
            let size = Size { workers, number: *slices };
            let Some(lane) = lanes.get_mut(*number) else { continue };
            slice(kind, target, size, plan.time, lane).await?;
        }
    }
    for lane in &mut lanes {
        lane.close();
    }
    let ceiling_rates = lanes.last().map(|l| l.rates.clone()).unwrap_or_default();
    for lane in lanes.iter_mut().take(servers.len()) {
        lane.of_ceiling = ratio::of_neighbours(&lane.rates, &ceiling_rates);
    }
    let own = lanes.get(..servers.len()).unwrap_or_default();
    let flat = match (own.iter().max_by_key(|l| l.keys), own.iter().min_by_key(|l| l.keys)) {
        (Some(most), Some(fewest)) if most.keys > fewest.keys => {
            ratio::of_neighbours(&most.rates, &fewest.rates)
        }
        _ => None,
    };
    Ok(Point { workload: kind.name(), workers, lanes, flat })
}

/// Measures one slice and adds it to a lane.
pub async fn slice(kind: Kind, target: &Target, size: Size, time: Duration, lane: &mut Lane) -> Result<()> {
    let mut admin = Conn::open(target.addr).await?;
    let mut prepared = match workload::prepare(kind, target, size, &mut admin).await {
        Ok(prepared) => prepared,
        Err(e) => {
            *lane.errors.entry(format!("preparing: {e}")).or_default() += 1;
            lane.rates.push(0.0);
            return Ok(());
        }
    };
    let cpu_before = cpu_seconds(target.pid);
    let records = drive(target.addr, std::mem::take(&mut prepared.workers), time).await?;
    lane.cpu_s += cpu_seconds(target.pid) - cpu_before;
    lane.add(kind, &records, time);
    let acknowledged = records.iter().map(|r| r.ops).sum();
    let unknown = records.iter().map(|r| r.unknown).sum();
    if let Err(e) = workload::finish(target, &prepared, acknowledged, unknown, &mut admin).await {
        *lane.errors.entry(e.to_string()).or_default() += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests;

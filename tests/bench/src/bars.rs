//! The bars that the figures are held against.

use serde::Serialize;

use crate::beside::Beside;
use crate::measure::Point;
use crate::start::Figures;
use crate::workload::Kind;

/// A bar with the figure that was reached.
#[derive(Debug, Serialize)]
pub struct Bar {
    /// What is demanded.
    pub what: String,
    /// What was measured.
    pub figure: f64,
    /// The bound.
    pub bound: f64,
    /// Whether more is better.
    pub at_least: bool,
    /// Unit of both, empty for ratios.
    pub unit: &'static str,
}

impl Bar {
    /// Whether the figure keeps the bound.
    pub fn is_met(&self) -> bool {
        if self.at_least { self.figure >= self.bound } else { self.figure <= self.bound }
    }

    fn at_least(what: String, figure: f64, bound: f64) -> Self {
        Self { what, figure, bound, at_least: true, unit: "" }
    }

    fn at_most(what: String, figure: f64, bound: f64, unit: &'static str) -> Self {
        Self { what, figure, bound, at_least: false, unit }
    }
}

/// Ratio to the ceiling that a workload must reach with a number of workers.
fn ceiling_bar(workload: &str, workers: usize) -> Option<f64> {
    let is = |kind: Kind| workload == kind.name();
    if is(Kind::ContentGet) || is(Kind::IcebergLoad) {
        Some(0.4)
    } else if is(Kind::CommitSeq) {
        Some(0.5)
    } else if is(Kind::CommitOwnTable) && workers >= 64 {
        Some(0.35)
    } else {
        None
    }
}

/// Median latency in milliseconds that a workload must keep.
fn latency_bar(workload: &str) -> Option<f64> {
    if workload == Kind::Diff.name() {
        Some(5.0)
    } else if workload == Kind::Merge.name() {
        Some(10.0)
    } else {
        None
    }
}

/// All bars for which there is a figure.
pub fn all(points: &[Point], besides: &[Beside], start: &Figures) -> Vec<Bar> {
    let mut bars = Vec::new();
    for Beside { what, workers, ratio, .. } in besides {
        if let Some(ratio) = ratio {
            let what = format!("commits W={workers} beside a {what}: p99 over that without it");
            bars.push(Bar::at_most(what, ratio.median, 1.1, ""));
        }
    }
    for point in points {
        let name = format!("{} W={}", point.workload, point.workers);
        for lane in point.lanes.iter().filter(|l| l.target == "lochan") {
            let here = format!("{name}, {} keys", lane.keys);
            if let (Some(bound), Some(ratio)) = (ceiling_bar(point.workload, point.workers), lane.of_ceiling)
            {
                bars.push(Bar::at_least(format!("{here}: ratio to the ceiling"), ratio.median, bound));
            }
            if point.workload == Kind::CommitOwnTable.name()
                && let Some(share) = lane.slowest_share
            {
                bars.push(Bar::at_least(format!("{here}: share of the slowest writer"), share.median, 0.5));
            }
            if let Some(bound) = latency_bar(point.workload) {
                bars.push(Bar::at_most(format!("{here}: median"), lane.p50_ms, bound, "ms"));
            }
        }
        let spread = [Kind::CommitSeq.name(), Kind::CommitSpread.name()].contains(&point.workload);
        if let (true, Some(flat)) = (spread, point.flat) {
            bars.push(Bar::at_least(format!("{name}: most keys ÷ fewest keys"), flat.median, 0.8));
        }
    }
    if let Some((mib, keys)) = start.idle_mib {
        bars.push(Bar::at_most(format!("idle memory 10 s after start, {keys} keys"), mib, 20.0, "MB"));
    }
    if let Some((time, keys)) = start.cold_start_ms {
        bars.push(Bar::at_most(
            format!("cold start to the first 200, {keys} keys"),
            time.median,
            100.0,
            "ms",
        ));
    }
    if let Some(mib) = start.binary_mib {
        bars.push(Bar::at_most("server binary".to_owned(), mib, 40.0, "MB"));
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratio::Spread;

    #[test]
    fn a_bar_at_its_bound_is_met() {
        assert!(Bar::at_least("a".into(), 0.4, 0.4).is_met());
        assert!(!Bar::at_least("a".into(), 0.39, 0.4).is_met());
        assert!(Bar::at_most("a".into(), 100.0, 100.0, "ms").is_met());
        assert!(!Bar::at_most("a".into(), 100.1, 100.0, "ms").is_met());
    }

    #[test]
    fn every_demanded_bar_appears() {
        let point = |workload: Kind, workers| Point {
            workload: workload.name(),
            workers,
            lanes: Vec::new(),
            flat: Some(Spread { median: 0.9, min: 0.8, max: 1.0 }),
        };
        let points = [point(Kind::CommitSpread, 64), point(Kind::ContentGet, 16)];
        let ratio = Some(Spread { median: 1.2, min: 1.0, max: 1.3 });
        let (alone_ms, beside_ms) = (None, None);
        let beside = Beside {
            what: "scrub",
            workers: 16,
            alone_ms,
            beside_ms,
            ratio,
            rounds: 3,
            problems: Vec::new(),
        };
        let start = Figures {
            idle_mib: Some((12.0, 1000)),
            cold_start_ms: Some((Spread { median: 120.0, min: 90.0, max: 130.0 }, 100_000)),
            start_after_kill_ms: None,
            start_after_run_ms: None,
            binary_mib: Some(30.0),
        };
        let bars = all(&points, &[beside], &start);
        let met: Vec<bool> = bars.iter().map(Bar::is_met).collect();
        assert_eq!(met, [false, true, true, false, true], "{bars:?}");
    }
}

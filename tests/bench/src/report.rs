//! What is printed and written.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::bars::Bar;
use crate::beside::Beside;
use crate::measure::{Lane, Point};
use crate::ratio::Spread;
use crate::start::Figures;

/// Everything that a run found.
#[derive(Serialize)]
pub struct Report {
    /// Machine and run.
    pub environment: Vec<(String, String)>,
    /// Tables loaded per second, by number of tables.
    pub loads: Vec<(usize, f64)>,
    /// All points.
    pub points: Vec<Point>,
    /// Commits beside work in the background.
    pub besides: Vec<Beside>,
    /// Figures of the start.
    pub start: Figures,
    /// Bars, met or not.
    pub bars: Vec<Bar>,
    /// What went wrong beside the slices.
    pub problems: Vec<String>,
    /// Whether every answer was as expected and every history complete.
    pub valid: bool,
}

/// Machine, kernel, load and versions.
pub fn environment(server_version: &str) -> Vec<(String, String)> {
    let first = |file: &str| {
        std::fs::read_to_string(file).unwrap_or_default().lines().next().unwrap_or_default().to_owned()
    };
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo
        .lines()
        .find_map(|l| l.strip_prefix("model name"))
        .map(|l| l.trim_start_matches([' ', '\t', ':']).to_owned())
        .unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    vec![
        ("processor".into(), format!("{cores} × {model}")),
        ("memory".into(), first("/proc/meminfo").trim_start_matches("MemTotal:").trim().to_owned()),
        ("kernel".into(), first("/proc/sys/kernel/osrelease")),
        ("load at start".into(), first("/proc/loadavg")),
        ("server".into(), server_version.to_owned()),
    ]
}

impl Report {
    /// Writes all figures as JSON.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))
    }

    /// Prints the table of all points, the figures of the start, and the bars.
    pub fn print(&self) {
        println!();
        if !self.points.is_empty() {
            println!("{}", header());
        }
        for point in &self.points {
            for line in lines(point) {
                println!("{line}");
            }
        }
        for beside in &self.besides {
            println!(
                "commits W={} beside a {}, {} rounds: p99 {} ms, alone {} ms, ratio {}",
                beside.workers,
                beside.what,
                beside.rounds,
                range(beside.beside_ms),
                range(beside.alone_ms),
                range(beside.ratio)
            );
        }
        println!();
        for (keys, rate) in &self.loads {
            println!("loading {keys} tables: {} tables/s", figure(*rate));
        }
        if let Some((ms, keys)) = self.start.start_after_kill_ms {
            println!("start after a kill, {keys} keys: {} ms", figure(ms));
        }
        if let Some((time, keys)) = &self.start.start_after_run_ms {
            println!("cold start on what the run left, {keys} keys: {} ms", figure(time.median));
        }
        println!();
        for bar in &self.bars {
            let sign = if bar.at_least { '≥' } else { '≤' };
            let verdict = if bar.is_met() { "met" } else { "NOT MET" };
            let unit = if bar.unit.is_empty() { String::new() } else { format!(" {}", bar.unit) };
            println!(
                "{:<62} {:>8}{unit}  {sign} {}{unit}  {verdict}",
                bar.what,
                figure(bar.figure),
                figure(bar.bound)
            );
        }
        for problem in &self.problems {
            println!("INVALID {problem}");
        }
        let met = self.bars.iter().filter(|b| b.is_met()).count();
        println!();
        println!(
            "{met} of {} bars met; the run is {}",
            self.bars.len(),
            if self.valid { "valid" } else { "INVALID" }
        );
    }
}

fn header() -> String {
    format!(
        "{:<22} {:>7}  {:<13} {:>24} {:>8} {:>8} {:>8} {:>7} {:>8} {:>20}",
        "workload",
        "keys",
        "target",
        "per second",
        "p50 ms",
        "p99 ms",
        "max ms",
        "cpu µs",
        "slowest",
        "of ceiling"
    )
}

/// A point as lines of the table.
pub fn lines(point: &Point) -> Vec<String> {
    let name = format!("{} W={}", point.workload, point.workers);
    let mut out: Vec<String> = Vec::new();
    for lane in &point.lanes {
        out.push(lane_line(&name, lane));
        for (error, count) in &lane.errors {
            out.push(format!("    INVALID {count} × {error}"));
        }
        if lane.ops == 0 {
            out.push("    INVALID nothing succeeded".to_owned());
        }
    }
    if let Some(flat) = point.flat {
        out.push(format!("{name:<22} most keys ÷ fewest keys: {}", range(Some(flat))));
    }
    out
}

fn lane_line(name: &str, lane: &Lane) -> String {
    let keys = if lane.target == "lochan" { lane.keys.to_string() } else { String::new() };
    let share = lane.slowest_share.map_or_else(String::new, |s| figure(s.median));
    format!(
        "{name:<22} {keys:>7}  {:<13} {:>24} {:>8} {:>8} {:>8} {:>7} {share:>8} {:>20}",
        lane.target,
        range(lane.rate),
        figure(lane.p50_ms),
        figure(lane.p99_ms),
        figure(lane.max_ms),
        figure(lane.cpu_us_per_op),
        range(lane.of_ceiling),
    )
}

fn range(spread: Option<Spread>) -> String {
    spread.map_or_else(String::new, |s| format!("{} ({}–{})", figure(s.median), figure(s.min), figure(s.max)))
}

/// Three significant digits.
pub fn figure(v: f64) -> String {
    match v.abs() {
        a if a >= 100.0 || a == 0.0 => format!("{v:.0}"),
        a if a >= 10.0 => format!("{v:.1}"),
        a if a >= 0.1 => format!("{v:.2}"),
        _ => format!("{v:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::figure;

    #[test]
    fn figures_have_three_digits() {
        let shown: Vec<String> =
            [0.0, 0.0123, 0.456, 1.5, 12.34, 123.4, 98_765.0].into_iter().map(figure).collect();
        assert_eq!(shown, ["0", "0.012", "0.46", "1.50", "12.3", "123", "98765"]);
    }
}

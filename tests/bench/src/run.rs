//! The whole run from the first start to the report.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::args::Run;
use crate::bars;
use crate::base::Base;
use crate::beside;
use crate::ceiling::{self, CHANGES, Ceiling};
use crate::conn::Conn;
use crate::measure::{self, Plan, Point};
use crate::report::{self, Report};
use crate::server::{Launch, Server};
use crate::start::{self, Figures};
use crate::workload::{Tables, Target};

/// Name of the warehouse that the Iceberg workloads use.
const WAREHOUSE: &str = "bench";

/// A running server with its tables.
pub struct Loaded {
    /// How it was started.
    pub launch: Launch,
    server: Server,
    /// Where it is and what it holds.
    pub target: Target,
}

/// Runs everything; true when the run is valid.
pub async fn run(args: &Run) -> Result<bool> {
    ensure!(args.pairs > 0 && args.seconds > 0.0, "at least one pair of slices with some length is needed");
    ensure!(!args.keys.is_empty(), "at least one number of keys is needed");
    ensure!(args.keys.iter().all(|k| *k >= CHANGES), "at least {CHANGES} keys are needed for a diff");
    let program = server_program(args.server.as_deref())?;
    let environment = report::environment(&version(&program)?);
    for (name, value) in &environment {
        println!("{name}: {value}");
    }
    let scratch = scratch(args)?;
    let folder = scratch.path().to_owned();
    let mut keys = args.keys.clone();
    keys.sort_unstable();
    keys.dedup();
    if args.beside {
        keys.drain(..keys.len() - 1);
    }
    let needs_tables = args.workloads().iter().any(|kind| kind.is_iceberg());
    let mut servers = Vec::new();
    for &count in &keys {
        let launch = launch(args, &program, &folder, count)?;
        servers.push(load(launch, count, needs_tables).await?);
    }
    let loads =
        servers.iter().map(|s| (s.target.base.layout.tables, s.target.base.load_rate)).collect::<Vec<_>>();
    let mut start = Figures::default();
    let mut problems = Vec::new();
    let no_start = args.no_start || args.beside;
    if !no_start {
        // On the loaded stores: a run leaves hundreds of thousands of commits behind, which is another question.
        servers = measure_starts(servers, &program, &mut start).await.context("measuring starts")?;
    }
    let (mut points, mut besides) = (Vec::new(), Vec::new());
    if args.beside {
        besides = beside(args, &program, &folder, &servers).await?;
        problems.extend(besides.iter().flat_map(|beside| beside.problems.clone()));
    } else {
        points = self::points(args, &folder, &servers).await?;
    }
    let mut last = None;
    for loaded in servers {
        problems.extend(loaded.server.stop().await.err().map(|e| format!("{e:#}")));
        last = Some((loaded.launch, loaded.target));
    }
    if let (false, Some((launch, target))) = (no_start, last) {
        println!("measuring starts after the run");
        let measured = start::cold_start_ms(&launch, &a_path(&target)).await;
        match measured {
            Ok(time) => start.start_after_run_ms = Some((time, target.base.layout.tables)),
            Err(error) => problems.push(format!("measuring starts after the run: {error:#}")),
        }
    }
    let valid = problems.is_empty() && points.iter().all(|p| p.lanes.iter().all(measure::Lane::is_valid));
    let bars = bars::all(&points, &besides, &start);
    let report = Report { environment, loads, points, besides, start, bars, problems, valid };
    report.print();
    if let Some(path) = &args.json {
        report.save(path)?;
    }
    if args.keep {
        println!("kept {}", scratch.keep().display());
    }
    Ok(report.valid)
}

fn server_program(given: Option<&Path>) -> Result<PathBuf> {
    let program = match given {
        Some(program) => program.to_owned(),
        None => std::env::current_exe()?.with_file_name("lochan-server"),
    };
    ensure!(
        program.is_file(),
        "{} is missing: build it in the same profile with `cargo build --release -p lochan-server`, or name one with --server",
        program.display()
    );
    Ok(program)
}

fn version(program: &Path) -> Result<String> {
    let output = Command::new(program).arg("--version").output().context("asking for the version")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn scratch(args: &Run) -> Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("lochan-bench-");
    match &args.scratch {
        Some(folder) => builder.tempdir_in(folder),
        None => builder.tempdir(),
    }
    .context("making the scratch folder")
}

fn launch(args: &Run, program: &Path, folder: &Path, keys: usize) -> Result<Launch> {
    let mut extra = args.server_args.clone();
    if let Some(warehouse) = &args.warehouse {
        let location = if warehouse == "temp" {
            let lake = folder.join(format!("lake-{keys}"));
            std::fs::create_dir_all(&lake)?;
            format!("file://{}", lake.display())
        } else {
            format!("{}/keys-{keys}", warehouse.trim_end_matches('/'))
        };
        extra.extend(["--warehouse".to_owned(), format!("{WAREHOUSE}={location}")]);
    }
    Ok(Launch { program: program.to_owned(), data: folder.join(format!("data-{keys}")), extra })
}

async fn load(launch: Launch, keys: usize, needs_tables: bool) -> Result<Loaded> {
    println!("loading {keys} tables");
    let server = Server::start(&launch).await?;
    let mut conn = Conn::open(server.addr).await?;
    let base = Base::load(&mut conn, keys).await.with_context(|| format!("loading {keys} tables"))?;
    let tables = if needs_tables {
        Some(Rc::new(Tables::create(&mut conn, &base.head, WAREHOUSE).await?))
    } else {
        None
    };
    let target =
        Target { addr: server.addr, pid: server.pid, base: Rc::new(base), tables, is_ceiling: false };
    Ok(Loaded { launch, server, target })
}

/// Measures commits beside work in the background, for each number of writers.
async fn beside(
    args: &Run,
    program: &Path,
    folder: &Path,
    servers: &[Loaded],
) -> Result<Vec<beside::Beside>> {
    let plain = servers.last().context("no server")?;
    let keys = plain.target.base.layout.tables;
    let mut launch = launch(args, program, folder, keys)?;
    launch.data = folder.join(format!("data-{keys}-scrubbed"));
    launch.extra.extend(["--config".to_owned(), beside::settings(folder)?.display().to_string()]);
    let scrubbed = load(launch, keys, false).await?;
    let plan = Plan { time: Duration::from_secs_f64(args.seconds), pairs: args.pairs };
    let mut found = Vec::new();
    for &workers in args.writers.iter().filter(|workers| **workers > 1) {
        found.extend(beside::measure(plain, &scrubbed, workers, plan, folder).await?);
    }
    scrubbed.server.stop().await?;
    Ok(found)
}

async fn points(args: &Run, folder: &Path, servers: &[Loaded]) -> Result<Vec<Point>> {
    let null = Ceiling::start(ceiling::Kind::Null, folder).await?;
    let durable = Ceiling::start(ceiling::Kind::DurableNull, folder).await?;
    let most = servers.iter().map(|s| s.target.base.layout.tables).max().unwrap_or(1);
    let base = Rc::new(Base::pretended(most));
    let pretend = |ceiling: &Ceiling| Target {
        addr: ceiling.addr,
        pid: ceiling.pid,
        base: Rc::clone(&base),
        tables: Some(Rc::new(Tables::pretended())),
        is_ceiling: true,
    };
    let (null_target, durable_target) = (pretend(&null), pretend(&durable));
    let targets: Vec<Target> = servers.iter().map(|s| s.target.clone()).collect();
    let plan = Plan { time: Duration::from_secs_f64(args.seconds), pairs: args.pairs };
    let mut slices = 0;
    let mut points = Vec::new();
    for kind in args.workloads() {
        let ceiling = match kind.ceiling() {
            ceiling::Kind::Null => &null_target,
            ceiling::Kind::DurableNull => &durable_target,
        };
        for workers in kind.workers(&args.writers, args.readers) {
            let point = measure::point(kind, workers, &targets, ceiling, plan, &mut slices).await?;
            for line in report::lines(&point) {
                println!("{line}");
            }
            points.push(point);
        }
    }
    Ok(points)
}

/// Stops the loaded servers, measures idle memory on the smallest store and starts on the largest, starts them again.
async fn measure_starts(servers: Vec<Loaded>, program: &Path, figures: &mut Figures) -> Result<Vec<Loaded>> {
    figures.binary_mib = Some(size_mib(program)?);
    let mut stopped = Vec::new();
    for loaded in servers {
        loaded.server.stop().await?;
        stopped.push((loaded.launch, loaded.target));
    }
    if let Some((launch, target)) = stopped.first() {
        println!("measuring idle memory");
        figures.idle_mib = Some((start::idle_mib(launch).await?, target.base.layout.tables));
    }
    if let Some((launch, target)) = stopped.last() {
        println!("measuring starts");
        let (keys, path) = (target.base.layout.tables, a_path(target));
        figures.cold_start_ms = Some((start::cold_start_ms(launch, &path).await?, keys));
        figures.start_after_kill_ms = Some((start::start_after_kill_ms(launch, &path).await?, keys));
    }
    let mut again = Vec::new();
    for (launch, target) in stopped {
        let server = Server::start(&launch).await?;
        let target = Target { addr: server.addr, pid: server.pid, ..target };
        again.push(Loaded { launch, server, target });
    }
    Ok(again)
}

/// A read that needs an index.
fn a_path(target: &Target) -> String {
    let mut path = String::from("/api/v2/trees/main/contents/");
    target.base.layout.push_path(target.base.layout.tables / 2, &mut path);
    path
}

fn size_mib(program: &Path) -> Result<f64> {
    Ok(std::fs::metadata(program)?.len() as f64 / f64::from(1 << 20))
}

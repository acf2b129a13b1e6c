//! The subcommands.

use std::io::Write as _;
use std::pin::pin;
use std::process::ExitCode;

use anyhow::Context;

use crate::args::{Args, Command, Fsck, Settings};
use crate::config::{self, Config, Loaded};
use crate::dev::settings::{self, Target};
use crate::running::{self, Mode};
use crate::{backup, fsck, memory, shutdown, telemetry};

/// Blocking work (disk, compression) runs on at most so many threads besides the workers.
const BLOCKING_THREADS_MAX: usize = 64;
/// Fewest and most worker threads when their number is left to the machine.
const WORKER_THREADS: (usize, usize) = (2, 16);

/// Does what the command line says.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        None => serve(&args.settings, Mode::Serve),
        Some(Command::Serve(settings)) => serve(&settings, Mode::Serve),
        Some(Command::Dev(settings)) => serve(&settings, Mode::Dev),
        Some(Command::Config(settings)) => print_config(&settings),
        Some(Command::Fsck(fsck)) => verify(&fsck),
        Some(Command::Backup(args)) => offline(&args.settings, async |config| {
            Ok((backup::take(config, &args.to, args.mib_per_second).await?, true))
        }),
        Some(Command::Verify(args)) => {
            offline(&args.settings, async |config| backup::verify(config, &args.from).await)
        }
        Some(Command::Restore(args)) => {
            offline(&args.settings, async |config| Ok((backup::restore(config, &args.from).await?, true)))
        }
        Some(Command::Repair(args)) => {
            offline(&args.settings, async |config| backup::repair(config, &args.from).await)
        }
    }
}

fn load(settings: &Settings) -> Result<Loaded, config::Error> {
    // Variables that are no UTF-8 cannot be settings of ours.
    let vars = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    config::load(settings.config.as_deref(), vars, settings.layer())
}

fn serve(settings: &Settings, mode: Mode) -> anyhow::Result<ExitCode> {
    let config = load(settings)?.config;
    telemetry::init_logs(&config.log)?;
    let thrift = memory::Thrift::begin();
    runtime(&config)?.block_on(async {
        // Before anybody can be answered: who is answered may say stop.
        let mut told = pin!(shutdown::signal().context("cannot wait for signals")?);
        let running = tokio::select! {
            running = running::start(&config, mode) => running?,
            () = &mut told => {
                tracing::info!("stopped before it served");
                return Ok(ExitCode::SUCCESS);
            }
        };
        if let Some(file) = &settings.ready_file {
            running.announce(file)?;
        }
        let ready = &running.ready;
        tracing::info!(
            nessie = ready.nessie,
            iceberg = ready.iceberg,
            management = ready.management,
            version = env!("CARGO_PKG_VERSION"),
            "serving"
        );
        if let Some(s3) = &ready.s3 {
            let target =
                Target { iceberg: &ready.iceberg, nessie: &ready.nessie, warehouse: &running.warehouse, s3 };
            say(&settings::print(target))?;
        }
        drop(thrift);
        told.await;
        tracing::info!("stopping: requests at work are finished first");
        running.stop().await;
        tracing::info!("stopped");
        Ok(ExitCode::SUCCESS)
    })
}

fn runtime(config: &Config) -> anyhow::Result<tokio::runtime::Runtime> {
    let threads = match config.server.worker_threads {
        0 => {
            let cores = std::thread::available_parallelism().map_or(WORKER_THREADS.0, usize::from);
            cores.clamp(WORKER_THREADS.0, WORKER_THREADS.1)
        }
        threads => threads as usize,
    };
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(BLOCKING_THREADS_MAX)
        .thread_name("lochan")
        .enable_all()
        .build()
        .context("cannot start the runtime")
}

fn print_config(settings: &Settings) -> anyhow::Result<ExitCode> {
    say(&config::print(&load(settings)?))?;
    Ok(ExitCode::SUCCESS)
}

fn verify(args: &Fsck) -> anyhow::Result<ExitCode> {
    let config = load(&args.settings)?.config;
    telemetry::init_logs(&config.log)?;
    let report = runtime(&config)?.block_on(fsck::verify(&config.store, args.full))?;
    say(&fsck::show(&report))?;
    Ok(if report.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs what needs no server, prints its report, and says with the exit code whether all is well.
fn offline(
    settings: &Settings,
    work: impl AsyncFnOnce(&Config) -> anyhow::Result<(String, bool)>,
) -> anyhow::Result<ExitCode> {
    let config = load(settings)?.config;
    telemetry::init_logs(&config.log)?;
    let (report, is_well) = runtime(&config)?.block_on(work(&config))?;
    say(&report)?;
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Writes what the parser has to say: help, the version, or what is wrong with the command line.
pub fn tell(told: &clap::Error) -> anyhow::Result<ExitCode> {
    let written = told.print();
    if !told.use_stderr() {
        heard(written)?;
    }
    Ok(u8::try_from(told.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Prints to standard output.
fn say(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    heard(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// What came of writing to standard output. A reader that has gone is no error.
fn heard(written: std::io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}

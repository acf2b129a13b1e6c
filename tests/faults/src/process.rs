//! The server as a process: started, killed, examined.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use crate::client::Client;

/// Variable that names the server binary.
pub const SERVER_BIN: &str = "LOCHAN_SERVER_BIN";
/// Longest wait for a server to become ready, in seconds; the bar is checked apart from this.
const READY_WAIT_S_MAX: u64 = 120;
/// Longest wait for an orderly end, in seconds.
const STOP_WAIT_S_MAX: u64 = 60;
/// Longest run of `fsck`, in seconds.
const FSCK_WAIT_S_MAX: u64 = 1800;
/// Pause between two looks at the ready file, in microseconds.
const READY_POLL_US: u64 = 500;
/// Branch whose first read ends a start.
const FIRST_READ: &str = "main";

/// The server binary: as named by `LOCHAN_SERVER_BIN`, else `lochan-server` of the profile this program was built in.
pub fn locate() -> Result<PathBuf> {
    let program = match std::env::var_os(SERVER_BIN) {
        Some(program) => PathBuf::from(program),
        None => {
            let own = std::env::current_exe()?;
            let folder = own.parent().context("own folder")?;
            // Test programs lie one folder deeper than the binaries.
            let folder = if folder.ends_with("deps") { folder.parent().unwrap_or(folder) } else { folder };
            folder.join("lochan-server")
        }
    };
    ensure!(
        program.is_file(),
        "{} is missing: build it in the same profile with `cargo build -p lochan-server`, or name one in {SERVER_BIN}",
        program.display()
    );
    Ok(program)
}

/// Where the server's files are.
#[derive(Clone, Debug)]
pub struct Place {
    /// The binary.
    pub program: PathBuf,
    /// The data folder.
    pub data: PathBuf,
    /// File that collects its output.
    pub log: PathBuf,
    /// File in which it says that it is ready.
    pub ready: PathBuf,
}

impl Place {
    /// Everything in one folder.
    pub fn new(program: PathBuf, folder: &Path) -> Self {
        Self {
            program,
            data: folder.join("data"),
            log: folder.join("server.log"),
            ready: folder.join("ready.json"),
        }
    }

    fn command(&self) -> Result<Command> {
        let log = File::options().create(true).append(true).open(&self.log)?;
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os() {
            // Settings of whoever runs the harness must not reach the server.
            if name.to_string_lossy().starts_with("LOCHAN_") {
                command.env_remove(name);
            }
        }
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).kill_on_drop(true);
        Ok(command)
    }

    /// Runs a subcommand on a data folder.
    pub async fn run(&self, arguments: &[&str], data: &Path) -> Result<Ended> {
        self.run_within(Duration::from_secs(FSCK_WAIT_S_MAX), arguments, data).await
    }

    /// Runs a subcommand on a data folder, and ends it if it takes longer than `wait`.
    pub async fn run_within(&self, wait: Duration, arguments: &[&str], data: &Path) -> Result<Ended> {
        let mut command = self.command()?;
        command.args(arguments).arg("--data-dir").arg(data).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = timeout(wait, command.output())
            .await
            .with_context(|| format!("{arguments:?} did not end in time"))??;
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        Ok(Ended { is_well: output.status.success(), text: format!("{arguments:?}:\n{text}") })
    }

    /// Runs `lochan-server fsck --full` on the data folder; the error holds what it printed.
    pub async fn fsck(&self) -> Result<()> {
        let mut command = self.command()?;
        command.arg("fsck").arg("--full").arg("--data-dir").arg(&self.data);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = timeout(Duration::from_secs(FSCK_WAIT_S_MAX), command.output())
            .await
            .context("fsck did not end in time")?
            .context("starting fsck")?;
        ensure!(
            output.status.success(),
            "fsck ended with {}:\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(())
    }
}

/// How a subcommand ended.
pub struct Ended {
    /// Whether its exit code said success.
    pub is_well: bool,
    /// What it was and what it printed.
    pub text: String,
}

impl Ended {
    /// An error unless it was a success.
    pub fn well(self) -> Result<String> {
        ensure!(self.is_well, "{}", self.text);
        Ok(self.text)
    }
}

/// A server that was started.
pub struct Server {
    child: Child,
    spawned: Instant,
}

#[derive(Deserialize)]
struct Ready {
    nessie: String,
}

impl Server {
    /// Starts the server and does not wait for it.
    pub fn spawn(place: &Place) -> Result<Self> {
        if place.ready.exists() {
            std::fs::remove_file(&place.ready)?;
        }
        let mut command = place.command()?;
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--management-listen", "127.0.0.1:0"])
            // So that a short run has several snapshots of the store.
            .env("LOCHAN__STORE__REPLAY_MIB", "1")
            .arg("--data-dir")
            .arg(&place.data)
            .arg("--ready-file")
            .arg(&place.ready);
        let spawned = Instant::now();
        let child = command.spawn().with_context(|| format!("starting {}", place.program.display()))?;
        Ok(Self { child, spawned })
    }

    /// Waits for the first read that is answered; returns how long that took from the spawn on.
    pub async fn first_read(&mut self, place: &Place) -> Result<(Client, Duration)> {
        let wait = async {
            let nessie = loop {
                if let Ok(text) = std::fs::read(&place.ready) {
                    break serde_json::from_slice::<Ready>(&text).context("reading the ready file")?.nessie;
                }
                if let Some(status) = self.child.try_wait()? {
                    bail!("the server ended with {status} before it was ready");
                }
                sleep(Duration::from_micros(READY_POLL_US)).await;
            };
            let client = Client::new(&nessie)?;
            client.reference(FIRST_READ).await?.context("no default branch")?;
            Ok((client, self.spawned.elapsed()))
        };
        timeout(Duration::from_secs(READY_WAIT_S_MAX), wait)
            .await
            .context("the server was not ready in time")?
            .with_context(|| format!("see {}", place.log.display()))
    }

    /// Kills the server without warning and waits until it is gone.
    pub async fn kill(&mut self) -> Result<()> {
        ensure!(self.child.try_wait()?.is_none(), "the server had ended by itself before it was killed");
        self.child.kill().await.context("sending SIGKILL")
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let id = self.child.id().context("the server has ended by itself")?;
        let pid = i32::try_from(id).ok().and_then(Pid::from_raw).context("process id")?;
        kill_process(pid, signal).with_context(|| format!("sending {signal:?}"))
    }

    /// Stops the server where it is (SIGSTOP).
    pub fn pause(&self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    /// Lets a paused server go on (SIGCONT).
    pub fn go_on(&self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    /// Asks the server to end and waits for it.
    pub async fn stop(&mut self) -> Result<()> {
        self.signal(Signal::TERM)?;
        let status = timeout(Duration::from_secs(STOP_WAIT_S_MAX), self.child.wait())
            .await
            .context("the server did not end in time")??;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}

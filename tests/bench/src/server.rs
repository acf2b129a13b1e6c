//! The server under test as a process.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use crate::conn::Conn;

/// Longest wait for the ready file.
const READY_WAIT_S_MAX: u64 = 120;
/// Longest wait for an orderly end.
const STOP_WAIT_S_MAX: u64 = 60;
/// Pause between two looks at the ready file, in microseconds: small against the 100 ms bar of a cold start.
const READY_POLL_US: u64 = 500;

/// How the server is started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The binary.
    pub program: PathBuf,
    /// Data folder.
    pub data: PathBuf,
    /// More arguments.
    pub extra: Vec<String>,
}

/// A running server.
pub struct Server {
    child: Child,
    /// Where its public surfaces listen.
    pub addr: SocketAddr,
    /// Process id.
    pub pid: u32,
    spawned: Instant,
}

#[derive(Deserialize)]
struct Ready {
    nessie: String,
}

impl Server {
    /// Starts the server and waits until it says that it is ready; its output goes to `<data>.log`.
    pub async fn start(command: &Launch) -> Result<Self> {
        let ready = command.data.with_extension("ready.json");
        if ready.exists() {
            std::fs::remove_file(&ready)?;
        }
        let log = File::options().create(true).append(true).open(command.data.with_extension("log"))?;
        let mut process = Command::new(&command.program);
        for (name, _) in std::env::vars_os() {
            // Settings of whoever runs the benchmark must not reach the server.
            if name.to_string_lossy().starts_with("LOCHAN_") {
                process.env_remove(name);
            }
        }
        process
            .args(["serve", "--listen", "127.0.0.1:0", "--management-listen", "127.0.0.1:0"])
            .arg("--data-dir")
            .arg(&command.data)
            .arg("--ready-file")
            .arg(&ready)
            .args(&command.extra)
            .stdin(std::process::Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .kill_on_drop(true);
        let spawned = Instant::now();
        let mut child = process.spawn().with_context(|| format!("starting {}", command.program.display()))?;
        let pid = child.id().context("the server ended at once")?;
        let wait = wait_ready(&mut child, &ready);
        let addr = timeout(Duration::from_secs(READY_WAIT_S_MAX), wait)
            .await
            .context("not ready in time")?
            .with_context(|| format!("see {}", command.data.with_extension("log").display()))?;
        Ok(Self { child, addr, pid, spawned })
    }

    /// Time from start until `path` answers 200 for the first time.
    pub async fn first_answer(&self, path: &str) -> Result<Duration> {
        let answer = async {
            let mut conn = Conn::open(self.addr).await?;
            let status = conn.call("GET", path, None).await?.status;
            ensure!(status == 200, "GET {path} answered {status}");
            Ok(self.spawned.elapsed())
        };
        timeout(Duration::from_secs(READY_WAIT_S_MAX), answer).await.context("no answer in time")?
    }

    /// Asks the server to end and waits for it.
    pub async fn stop(mut self) -> Result<()> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).context("process id")?;
        kill_process(pid, Signal::TERM).context("sending SIGTERM")?;
        let status = timeout(Duration::from_secs(STOP_WAIT_S_MAX), self.child.wait())
            .await
            .context("the server did not end in time")??;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }

    /// Kills the server as a crash would.
    pub async fn kill(mut self) -> Result<()> {
        self.child.kill().await.context("sending SIGKILL")
    }
}

async fn wait_ready(child: &mut Child, ready: &Path) -> Result<SocketAddr> {
    loop {
        if let Ok(text) = std::fs::read(ready) {
            let ready: Ready = serde_json::from_slice(&text).context("reading the ready file")?;
            return address(&ready.nessie);
        }
        if let Some(status) = child.try_wait()? {
            bail!("the server ended with {status} before it was ready");
        }
        sleep(Duration::from_micros(READY_POLL_US)).await;
    }
}

/// Socket address of a base URL such as `http://127.0.0.1:19120/api/`.
fn address(url: &str) -> Result<SocketAddr> {
    let rest = url.strip_prefix("http://").with_context(|| format!("not an http URL: {url}"))?;
    let authority = rest.split('/').next().unwrap_or_default();
    authority.parse().with_context(|| format!("address in {url}"))
}

/// Resident memory of a process in KiB, from `/proc/PID/status`.
pub fn resident_kib(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:")).context("no VmRSS")?;
    line.trim().trim_end_matches("kB").trim().parse().context("VmRSS")
}

/// Processor time of a process so far in seconds, from `/proc/PID/stat`; 0 when it is gone.
pub fn cpu_seconds(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name in parentheses may hold anything; user and system time are the 12th and 13th field after it.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks: u64 = fields.split_whitespace().skip(11).take(2).filter_map(|f| f.parse::<u64>().ok()).sum();
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls_give_addresses() {
        assert_eq!(address("http://127.0.0.1:4711/api/").unwrap().port(), 4711);
        assert!(address("https://127.0.0.1:1/").is_err());
        assert!(address("http://localhost/api/").is_err());
    }

    #[test]
    fn own_process_has_memory() {
        assert!(resident_kib(std::process::id()).unwrap() > 100);
        assert_eq!(cpu_seconds(u32::MAX), 0.0);
    }
}

//! Figures of a start: idle memory, cold start, size of the binary.

use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;

use crate::ratio::{self, Spread};
use crate::server::{Launch, Server, resident_kib};

/// When idle memory is read, in seconds after the start.
const IDLE_AFTER_S: u64 = 10;
/// Cold starts of which the median is taken.
const COLD_STARTS: usize = 5;

/// What was measured around the start.
#[derive(Default, Serialize)]
pub struct Figures {
    /// Resident memory in MiB 10 s after a start without any request, and the keys it was measured with.
    pub idle_mib: Option<(f64, usize)>,
    /// Milliseconds from start to the first 200 after an orderly end, and the keys.
    pub cold_start_ms: Option<(Spread, usize)>,
    /// The same after the server was killed.
    pub start_after_kill_ms: Option<(f64, usize)>,
    /// The same as `cold_start_ms`, on what the whole run has left in the store.
    pub start_after_run_ms: Option<(Spread, usize)>,
    /// Size of the server binary in MiB.
    pub binary_mib: Option<f64>,
}

/// Resident memory in MiB of a server that nobody asks anything.
pub async fn idle_mib(launch: &Launch) -> Result<f64> {
    let server = Server::start(launch).await?;
    tokio::time::sleep(Duration::from_secs(IDLE_AFTER_S)).await;
    let kib = resident_kib(server.pid)?;
    server.stop().await?;
    Ok(kib as f64 / 1024.0)
}

/// Milliseconds from start to the first 200 of `path`, over several starts, each after an orderly end.
pub async fn cold_start_ms(launch: &Launch, path: &str) -> Result<Spread> {
    let mut times = Vec::with_capacity(COLD_STARTS);
    for _ in 0..COLD_STARTS {
        let server = Server::start(launch).await?;
        times.push(server.first_answer(path).await?.as_secs_f64() * 1e3);
        server.stop().await?;
    }
    ratio::spread(&times).context("no start")
}

/// Milliseconds from start to the first 200 of `path` after a kill.
pub async fn start_after_kill_ms(launch: &Launch, path: &str) -> Result<f64> {
    let server = Server::start(launch).await?;
    server.first_answer(path).await?;
    server.kill().await?;
    let server = Server::start(launch).await?;
    let time = server.first_answer(path).await?.as_secs_f64() * 1e3;
    server.stop().await?;
    Ok(time)
}

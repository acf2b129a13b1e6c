//! A server from its settings to its end: listeners, parts, loops, drain.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use lochan_server_http::limits::{CONNECTIONS_MAX, DRAIN_TIMEOUT};
use lochan_server_http::management::{self, Health, Probe, Scrubbed};
use lochan_server_http::{Telemetry, serve};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use crate::config::Config;
use crate::control::Control;
use crate::descriptors;
use crate::dev::Endpoint;
use crate::listen;
use crate::ready_file::Ready;
use crate::scrub::Scrub;
use crate::shutdown::Stop;
use crate::telemetry::{Metrics, UPKEEP_INTERVAL};
use crate::wiring::Wired;

/// Open connections of the management listener.
const MANAGEMENT_CONNECTIONS_MAX: usize = 64;

/// What is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The catalog.
    Serve,
    /// The catalog and an S3 endpoint.
    Dev,
}

/// A server that answers requests.
pub struct Running {
    /// Where it is reached.
    pub ready: Ready,
    /// Name of the default warehouse.
    pub warehouse: String,
    wired: Arc<Wired>,
    endpoint: Option<Endpoint>,
    stop_public: Stop,
    stop_side: Stop,
    public: JoinHandle<()>,
    side: Vec<JoinHandle<()>>,
}

/// Starts a server. When this returns, requests are answered.
pub async fn start(config: &Config, mode: Mode) -> anyhow::Result<Running> {
    let connections_max = descriptors::for_connections().min(CONNECTIONS_MAX);
    if connections_max < CONNECTIONS_MAX {
        tracing::warn!(
            connections_max,
            wanted = CONNECTIONS_MAX,
            "the limit of open files (ulimit -Hn) leaves room for fewer connections than usual"
        );
    }
    let may_be_reached = config.auth.is_some() || config.server.allow_unauthenticated;
    let listener = listen::open_public(&config.server.listen, may_be_reached).await?;
    let management = listen::open_side(&config.server.management_listen, "the management listener").await?;
    let data_dir = &config.store.data_dir;
    std::fs::create_dir_all(data_dir)
        .with_context(|| format!("cannot make the data folder {}", data_dir.display()))?;
    let endpoint = match mode {
        Mode::Serve => None,
        Mode::Dev => Some(Endpoint::start(&config.dev, data_dir).await?),
    };
    let warehouses = match &endpoint {
        Some(endpoint) if config.warehouses.is_empty() => vec![endpoint.warehouse()],
        _ => config.warehouses_or_default(),
    };
    let chosen = warehouses.iter().find(|warehouse| warehouse.default).or(warehouses.first());
    let warehouse = chosen.map(|warehouse| warehouse.name.clone()).unwrap_or_default();

    let metrics = Arc::new(Metrics::new()?);
    metrics.install();
    let telemetry = Arc::new(Telemetry::new(metrics.recorder()));
    let local = |listener: &tokio::net::TcpListener| listener.local_addr().map(listen::local_url);
    let root = local(&listener).context("the listener has no address")?;
    let wired = Arc::new(Wired::open(config, warehouses, root.clone(), telemetry).await?);

    let ready = Ready {
        pid: std::process::id(),
        nessie: format!("{root}/api/"),
        iceberg: format!("{root}/iceberg"),
        management: local(&management).context("the management listener has no address")?,
        s3: endpoint.as_ref().map(|endpoint| endpoint.access.clone()),
    };

    let (stop_public, stop_side) = (Stop::new(), Stop::new());
    let service = Arc::clone(&wired.service);
    let answer = move |request| Arc::clone(&service).answer(request);
    let public = tokio::spawn(serve(listener, answer, connections_max, stop_public.told(), DRAIN_TIMEOUT));
    let scrub = Scrub::default();
    let probe: Arc<dyn Probe> =
        Arc::new(Vitals { wired: Arc::clone(&wired), metrics: Arc::clone(&metrics), scrub: scrub.clone() });
    let answer = move |request| management::answer(Arc::clone(&probe), request);
    // On a thread of its own: reading the store blocks.
    let scrubbing = scrub.run(Arc::clone(&wired.store), config.scrub, stop_public.told());
    let scrubbing =
        tokio::task::spawn_blocking(move || tokio::runtime::Handle::current().block_on(scrubbing));
    let mut side = vec![
        tokio::spawn(serve(management, answer, MANAGEMENT_CONNECTIONS_MAX, stop_side.told(), DRAIN_TIMEOUT)),
        tokio::spawn(keep_up(metrics, stop_side.told())),
        scrubbing,
    ];
    match Control::open(data_dir) {
        Ok(control) => {
            let serving = control.serve(Arc::clone(&wired.store), stop_public.told());
            let serving = move || tokio::runtime::Handle::current().block_on(serving);
            side.push(tokio::task::spawn_blocking(serving));
        }
        // A data folder with a long path has no room for one.
        Err(error) => tracing::warn!(%error, "no control socket: a backup needs the server to be stopped"),
    }
    Ok(Running { ready, warehouse, wired, endpoint, stop_public, stop_side, public, side })
}

impl Running {
    /// Writes the ready file.
    pub fn announce(&self, file: &Path) -> anyhow::Result<()> {
        self.ready.write(file).with_context(|| format!("cannot write the ready file {}", file.display()))
    }

    /// Takes no more requests, lets those at work finish within a bound, closes the store.
    pub async fn stop(self) {
        self.stop_public.now();
        // A loop that panicked has ended too; the panic is in the log.
        let _ = self.public.await;
        let left = self.wired.service.drained(DRAIN_TIMEOUT).await;
        if left > 0 {
            tracing::warn!(requests = left, "stopping although requests are still at work");
        }
        self.wired.close().await;
        if let Some(endpoint) = self.endpoint {
            endpoint.stop().await;
        }
        self.stop_side.now();
        for task in self.side {
            let _ = task.await;
        }
    }
}

struct Vitals {
    wired: Arc<Wired>,
    metrics: Arc<Metrics>,
    scrub: Scrub,
}

impl Probe for Vitals {
    fn health(&self) -> Health {
        self.wired.health()
    }

    fn metrics(&self) -> String {
        self.metrics.note_health(&self.health());
        self.metrics.render()
    }

    fn scrubbed(&self) -> Scrubbed {
        self.scrub.seen()
    }
}

async fn keep_up(metrics: Arc<Metrics>, stop: impl Future<Output = ()>) {
    let mut stop = std::pin::pin!(stop);
    let mut tick = tokio::time::interval(UPKEEP_INTERVAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = &mut stop => return,
            _ = tick.tick() => metrics.upkeep(),
        }
    }
}

#[cfg(test)]
#[path = "running_tests.rs"]
mod tests;

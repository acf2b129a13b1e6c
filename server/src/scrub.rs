//! The scrub in the background of a server.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use chrono::{SecondsFormat, Utc};
use lochan_server_http::management::Scrubbed;
use lochan_storage::Sweep;
use lochan_storage_engine::fsck::Finding;
use lochan_storage_engine::pace::Pace;
use lochan_storage_engine::scrub::{self, Progress};

use crate::config;

/// Findings shown.
const SHOWN_MAX: usize = 100;

/// What the scrub has seen so far, for whoever asks.
#[derive(Clone, Default)]
pub struct Scrub(Arc<Mutex<Scrubbed>>);

impl Scrub {
    /// What it has seen.
    pub fn seen(&self) -> Scrubbed {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, change: impl FnOnce(&mut Scrubbed)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Goes over the store again and again until `stop`. Never fails: what it finds is told.
    pub async fn run(self, store: Arc<dyn Sweep>, settings: config::Scrub, stop: impl Future<Output = ()>) {
        self.note(|seen| seen.is_on = settings.mib_per_second > 0);
        if settings.mib_per_second == 0 {
            return;
        }
        let mut stop = std::pin::pin!(stop);
        let mut pause = Duration::from_secs(u64::from(settings.begin_after_seconds));
        loop {
            tokio::select! {
                () = &mut stop => return,
                () = tokio::time::sleep(pause) => {}
            }
            let mut pace = Pace::bytes_per_second(u64::from(settings.mib_per_second) << 20);
            tracing::info!("a scrub begins");
            self.note(|seen| seen.is_running = true);
            let mut before = Progress::default();
            let mut told = |progress: &Progress| self.told(progress, &mut before);
            let round = tokio::select! {
                () = &mut stop => return,
                round = scrub::round(&store, &mut pace, &mut told) => round,
            };
            match round {
                Ok(progress) => {
                    self.told(&progress, &mut before);
                    let Progress { objects, bytes, found, .. } = progress;
                    tracing::info!(objects, bytes, found, "a scrub has ended");
                    metrics::counter!("lochan_scrub_rounds_total").increment(1);
                    metrics::gauge!("lochan_scrub_findings").set(found as f64);
                    self.note(|seen| {
                        seen.rounds += 1;
                        seen.ended = Some(Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true));
                    });
                }
                Err(error) => tracing::error!("a scrub was cut off: {error}"),
            }
            self.note(|seen| seen.is_running = false);
            pause = Duration::from_secs(u64::from(settings.every_hours) * 3_600);
        }
    }

    fn told(&self, progress: &Progress, before: &mut Progress) {
        metrics::counter!("lochan_scrub_objects_total").increment(progress.objects - before.objects);
        metrics::counter!("lochan_scrub_bytes_total").increment(progress.bytes - before.bytes);
        if progress.found > before.found {
            metrics::gauge!("lochan_scrub_findings").set(progress.found as f64);
        }
        self.note(|seen| {
            seen.objects = progress.objects;
            seen.bytes = progress.bytes;
            seen.found = progress.found;
            if seen.findings.len() != progress.findings.len().min(SHOWN_MAX) {
                seen.findings = progress.findings.iter().take(SHOWN_MAX).map(Finding::to_string).collect();
            }
        });
        *before = Progress { findings: Vec::new(), ..progress.clone() };
    }
}

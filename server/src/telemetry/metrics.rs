//! Metrics in the text format of Prometheus.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use lochan_server_http::SharedRecorder;
use lochan_server_http::management::Health;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

/// How often samples are folded into histograms. They pile up in between, 8 bytes each.
pub const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Upper bounds of the histogram of request durations, in seconds.
const DURATION_SECONDS: &[f64] = &[
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0,
    30.0,
];

/// The registry of one server.
pub struct Metrics {
    recorder: Arc<PrometheusRecorder>,
    handle: PrometheusHandle,
}

impl Metrics {
    /// An empty registry.
    pub fn new() -> anyhow::Result<Self> {
        let recorder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_duration_seconds".to_owned()), DURATION_SECONDS)
            .context("the bounds of the histograms are not accepted")?
            .build_recorder();
        let handle = recorder.handle();
        Ok(Metrics { recorder: Arc::new(recorder), handle })
    }

    /// Where series are registered.
    pub fn recorder(&self) -> SharedRecorder {
        Arc::clone(&self.recorder) as SharedRecorder
    }

    /// Lets the whole process record here. In a process with several servers the first one gets it.
    pub fn install(&self) {
        let _ = ::metrics::set_global_recorder(Arc::clone(&self.recorder));
    }

    /// Sets `lochan_store_reads_refused` and `lochan_store_writes_refused`, gauges that are 1 while it is so.
    pub fn note_health(&self, health: &Health) {
        ::metrics::with_local_recorder(&self.recorder, || {
            let word = |refused: &Option<String>| if refused.is_some() { 1.0 } else { 0.0 };
            ::metrics::gauge!("lochan_store_reads_refused").set(word(&health.reads_refused));
            ::metrics::gauge!("lochan_store_writes_refused").set(word(&health.writes_refused));
        });
    }

    /// All series as text.
    pub fn render(&self) -> String {
        self.handle.render()
    }

    /// Folds samples into histograms.
    pub fn upkeep(&self) {
        self.handle.run_upkeep();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_writes_show() {
        let metrics = Metrics::new().unwrap();
        metrics.note_health(&Health { reads_refused: None, writes_refused: Some("full".to_owned()) });
        let text = metrics.render();
        assert!(text.contains("lochan_store_writes_refused 1"), "{text}");
        metrics.note_health(&Health { reads_refused: None, writes_refused: None });
        let text = metrics.render();
        assert!(text.contains("lochan_store_writes_refused 0"), "{text}");
        assert!(text.contains("lochan_store_reads_refused 0"), "{text}");
    }

    #[test]
    fn durations_are_histograms() {
        let metrics = Metrics::new().unwrap();
        let recorder = metrics.recorder();
        ::metrics::with_local_recorder(&recorder, || {
            ::metrics::histogram!("x_duration_seconds", "endpoint" => "a").record(0.002);
            ::metrics::counter!("y_total").increment(3);
        });
        metrics.upkeep();
        let text = metrics.render();
        assert!(text.contains("x_duration_seconds_bucket{endpoint=\"a\",le=\"0.0025\"} 1"), "{text}");
        assert!(text.contains("y_total 3"), "{text}");
    }
}

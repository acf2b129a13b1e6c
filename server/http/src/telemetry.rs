//! Metrics of the HTTP layer, with handles made once per series.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::StatusCode;
use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, Recorder, SharedString, Unit};

use crate::router::{Effect, Op, Surface};

/// Where series are registered.
pub type SharedRecorder = Arc<dyn Recorder + Send + Sync>;

const CLASSES: [&str; 6] = ["1xx", "2xx", "3xx", "4xx", "5xx", "gone"];
const DURATION: &str = "lochan_http_request_duration_seconds";
const COMMITS: &str = "lochan_writes_total";

/// Handles for what this layer counts:
///
/// * `lochan_http_request_duration_seconds{surface,endpoint,status}`: histogram; its count is the number of requests.
///   `status` is the class (`2xx`) or `gone` when the client left first.
/// * `lochan_http_requests_in_flight`: requests at work, those whose client has left included.
/// * `lochan_writes_total{endpoint,outcome}`: mutating requests by `done`, `conflict`, `refused`, `busy`, `unknown`.
pub struct Telemetry {
    recorder: SharedRecorder,
    in_flight: Gauge,
    series: Vec<OnceLock<Histogram>>,
    unrouted: Vec<OnceLock<Histogram>>,
}

impl Telemetry {
    /// Registers with `recorder`.
    pub fn new(recorder: SharedRecorder) -> Self {
        let text = |text: &'static str| SharedString::const_str(text);
        recorder.describe_histogram(
            DURATION.into(),
            Some(Unit::Seconds),
            text("Requests by endpoint and status class."),
        );
        recorder.describe_counter(COMMITS.into(), None, text("Mutating requests by outcome."));
        let in_flight =
            recorder.register_gauge(&Key::from_static_name("lochan_http_requests_in_flight"), &META);
        let slots = |count: usize| (0..count).map(|_| OnceLock::new()).collect();
        Telemetry {
            recorder,
            in_flight,
            series: slots(Op::ALL.len() * CLASSES.len()),
            unrouted: slots(CLASSES.len()),
        }
    }

    /// Counts a request as at work until the answer is dropped.
    pub(crate) fn enter(&self) -> InFlight {
        self.in_flight.increment(1.0);
        InFlight(self.in_flight.clone())
    }

    /// Records the end of a request; no status means that the client left.
    pub(crate) fn answered(
        &self,
        op: Option<Op>,
        surface: Surface,
        status: Option<StatusCode>,
        took: Duration,
    ) {
        let class =
            status.map_or(CLASSES.len() - 1, |status| usize::from(status.as_u16() / 100).clamp(1, 5) - 1);
        let slot = match op {
            Some(op) => self.series.get(op as usize * CLASSES.len() + class),
            None => self.unrouted.get(class),
        };
        let Some(slot) = slot else { return };
        let histogram = slot.get_or_init(|| {
            let labels = vec![
                Label::new("surface", op.map_or("none", |_| surface.name())),
                Label::new("endpoint", op.map_or("none", Op::name)),
                Label::new("status", CLASSES.get(class).copied().unwrap_or("none")),
            ];
            self.recorder.register_histogram(&Key::from_parts(DURATION, labels), &META)
        });
        histogram.record(took.as_secs_f64());
    }

    /// Records what became of a mutating request, answered or not.
    pub(crate) fn written(&self, op: Op, status: StatusCode) {
        if op.effect() == Effect::Reads {
            return;
        }
        let outcome = match status.as_u16() {
            409 => "conflict",
            429 | 503 | 507 => "busy",
            200..=399 => "done",
            400..=499 => "refused",
            _ => "unknown",
        };
        let labels = vec![Label::new("endpoint", op.name()), Label::new("outcome", outcome)];
        let counter: Counter = self.recorder.register_counter(&Key::from_parts(COMMITS, labels), &META);
        counter.increment(1);
    }
}

static META: Metadata<'static> = Metadata::new("lochan_server_http", Level::INFO, None);

/// A request at work.
pub(crate) struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

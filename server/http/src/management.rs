//! Health and metrics, on a listener of their own.

use std::sync::Arc;

use http::{HeaderValue, Method, Request, Response, StatusCode};
use serde::Serialize;

use crate::reply::{AnswerBody, Reply};

/// How the server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// Why reads fail, if they do: the server is not ready then.
    pub reads_refused: Option<String>,
    /// Why writes are refused, if they are. Reads go on, so the server stays ready.
    pub writes_refused: Option<String>,
}

/// What the management listener asks.
pub trait Probe: Send + Sync {
    /// How the server is, answered without touching the disk.
    fn health(&self) -> Health;
    /// The metrics in the text format of Prometheus.
    fn metrics(&self) -> String;
    /// What the scrub has seen.
    fn scrubbed(&self) -> Scrubbed;
}

/// What the scrub in the background has seen: of the round under way, or of the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Scrubbed {
    /// Whether it is wanted.
    #[serde(rename = "on")]
    pub is_on: bool,
    /// Whether a round is under way.
    #[serde(rename = "running")]
    pub is_running: bool,
    /// Rounds ended since the start.
    pub rounds: u64,
    /// When the last one ended (RFC 3339).
    pub ended: Option<String>,
    /// Objects hashed in this round.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Findings of this round.
    pub found: u64,
    /// The first of them, a line each.
    pub findings: Vec<String>,
}

#[derive(Serialize)]
struct Report<'a> {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    writes: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
    checks: Vec<Check<'a>>,
}

#[derive(Serialize)]
struct Check<'a> {
    name: &'static str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Cause<'a>>,
}

#[derive(Serialize)]
struct Cause<'a> {
    cause: &'a str,
}

/// Answers `GET /q/health`, `/q/health/live`, `/q/health/started`, `/q/health/ready`, `/q/scrub`, `/q/metrics` and `/metrics`.
pub async fn answer<B>(probe: Arc<dyn Probe>, request: Request<B>) -> Response<AnswerBody> {
    let reply = match (request.method(), request.uri().path().trim_end_matches('/')) {
        (&Method::GET | &Method::HEAD, "/q/health/live" | "/q/health/started") => live(),
        (&Method::GET | &Method::HEAD, "/q/health" | "/q/health/ready") => ready(&probe.health()),
        (&Method::GET | &Method::HEAD, "/q/metrics" | "/metrics") => {
            Reply::text("text/plain; version=0.0.4; charset=utf-8", probe.metrics())
        }
        (&Method::GET | &Method::HEAD, "/q/scrub") => Reply::json(&probe.scrubbed()),
        (
            _,
            "/q/scrub" | "/q/health" | "/q/health/live" | "/q/health/started" | "/q/health/ready"
            | "/q/metrics" | "/metrics",
        ) => Reply::empty(StatusCode::METHOD_NOT_ALLOWED),
        _ => Reply::empty(StatusCode::NOT_FOUND),
    };
    reply.into_response(false, HeaderValue::from_static("management")).await
}

/// The process answers: that is all that "live" says, and "started" too, since nothing listens before the store is open.
fn live() -> Reply {
    Reply::json(&Report { status: "UP", reads: None, writes: None, cause: None, checks: Vec::new() })
}

/// Ready while reads work; refused writes are told and leave the status alone.
fn ready(health: &Health) -> Reply {
    let word = |refused: &Option<String>| if refused.is_some() { "refused" } else { "accepted" };
    let report = Report {
        status: if health.reads_refused.is_some() { "DOWN" } else { "UP" },
        reads: Some(word(&health.reads_refused)),
        writes: Some(word(&health.writes_refused)),
        cause: health.reads_refused.as_deref().or(health.writes_refused.as_deref()),
        checks: vec![check("reads", &health.reads_refused), check("writes", &health.writes_refused)],
    };
    let status =
        if health.reads_refused.is_some() { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    Reply::document(status, &report)
}

fn check<'a>(name: &'static str, refused: &'a Option<String>) -> Check<'a> {
    let status = if refused.is_some() { "DOWN" } else { "UP" };
    Check { name, status, data: refused.as_deref().map(|cause| Cause { cause }) }
}

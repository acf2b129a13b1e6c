//! Structured logs on standard error: for people, coloured on a terminal only, or one JSON object per line.

use std::io::IsTerminal;
use std::panic::PanicHookInfo;

use anyhow::Context;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::Log;

/// Starts logging, once per process, and sends panics there too.
pub fn init(log: &Log) -> anyhow::Result<()> {
    let filter: Targets = log.level.parse().with_context(|| {
        format!("'{}' is no log filter such as info or warn,lochan_server=debug", log.level)
    })?;
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let layer = if log.is_json {
        layer.json().flatten_event(true).with_current_span(true).with_span_list(false).boxed()
    } else {
        layer.with_ansi(std::io::stderr().is_terminal()).with_target(false).boxed()
    };
    tracing_subscriber::registry()
        .with(layer.with_filter(filter))
        .try_init()
        .context("logging started twice")?;
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// One line instead of a trace: where it happened is what helps.
fn log_panic(info: &PanicHookInfo<'_>) {
    let message = info.payload_as_str().unwrap_or("unknown");
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(panic.message = message, panic.place = place, "panicked");
}

//! `lochan-server fsck`: verifies a store that is not served.

use std::fmt::Write as _;

use anyhow::Context;
use lochan_storage_engine::fsck::{Depth, Report, fsck};

use crate::config;
use crate::wiring::open_existing_store;

/// Verifies the store of these settings; what is being done goes to the log.
pub async fn verify(store: &config::Store, is_full: bool) -> anyhow::Result<Report> {
    let store = open_existing_store(store).await?;
    let depth = if is_full { Depth::Full } else { Depth::Heads };
    let mut told = |step: &str, so_far: &Report| {
        tracing::info!(
            objects = so_far.objects,
            roots = so_far.roots,
            findings = so_far.findings.len(),
            "verifying {step}"
        );
    };
    fsck(store, depth, &mut told).await.context("the store cannot be read to its end")
}

/// The report for people: what is wrong, a line each, then what was verified.
pub fn show(report: &Report) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let _ = writeln!(text, "{finding}");
    }
    let Report { objects, commits, roots, references, log_entries, records, checkpoints, findings, .. } =
        report;
    let _ = writeln!(
        text,
        "verified {objects} objects, {commits} commits, {roots} index roots, {references} references, {log_entries} \
         log entries, {records} records, {checkpoints} checkpoints"
    );
    let verdict = match (report.is_sound(), findings.len()) {
        (true, 0) => "clean".to_owned(),
        (true, count) => format!("sound; {count} derived rows are rebuilt by the server"),
        (false, count) => format!("DAMAGED: {count} findings"),
    };
    let _ = writeln!(text, "{verdict}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_comes_last() {
        let text = show(&Report::default());
        assert!(text.ends_with("checkpoints\nclean\n"), "{text}");
    }
}

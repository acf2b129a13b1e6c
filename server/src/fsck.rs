//! `lochan-server fsck`: verifies a store that is not served.

use std::{fmt::Write as _, sync::Arc};

use anyhow::Context;
use lochan_storage::{StoreError, Sweep};
use lochan_storage_engine::fsck::{Depth, Report, fsck};

use crate::config;
use crate::wiring::{self, open_damaged_store, open_existing_store};

/// Verifies the store of these settings; what is being done goes to the log. A store that cannot be opened since its
/// files are damaged is verified in a copy, as far as that can be read, to name what is lost.
pub async fn verify(store: &config::Store, is_full: bool) -> anyhow::Result<Report> {
    let depth = if is_full { Depth::Full } else { Depth::Heads };
    let error = match open_existing_store(store).await {
        Ok(store) => return of(store, depth).await,
        Err(error) => error,
    };
    let Some(StoreError::Corrupt { what, detail }) = error.downcast_ref() else { return Err(error) };
    let mut report = Report::default();
    report.damage(what.as_str(), detail.as_str());
    let folder = wiring::store_folder(store);
    let copy = folder.with_file_name(format!("store.verifying-{}", std::process::id()));
    let rest = match open_damaged_store(store, &copy, [0; 16]).await {
        Ok(store) => of(store, depth).await,
        Err(error) => Err(error),
    };
    // Best effort: it is in nobody's way.
    let _ = std::fs::remove_dir_all(&copy);
    match rest {
        Ok(mut rest) => {
            report.findings.append(&mut rest.findings);
            rest.findings = report.findings;
            Ok(rest)
        }
        Err(error) => {
            tracing::warn!("nothing can be said about what is lost: {error:#}");
            Ok(report)
        }
    }
}

/// Verifies an open store.
pub async fn of(store: Arc<dyn Sweep>, depth: Depth) -> anyhow::Result<Report> {
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

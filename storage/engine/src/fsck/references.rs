//! References and their log.

use lochan_storage_model::{CommitId, RefName};
use lochan_storage_odb::{RefLogEntry, Reference};

use super::{PAGE, Report, commits::Graph};
use crate::{error::Error, state::Core};

/// Every reference must point at a sound commit and be where its log says; every log must be whole.
pub(super) async fn check_references(core: &Core, graph: &Graph, report: &mut Report) -> Result<(), Error> {
    let exists = |id: CommitId| id.is_no_ancestor() || graph.contains_key(&id);
    let mut after: Option<RefName> = None;
    loop {
        let page = core.store.references(after.as_ref(), PAGE).await?;
        for reference in &page {
            report.references += 1;
            if !exists(reference.target) {
                let detail = format!("points at {}, which is missing or damaged", reference.target);
                report.damage(format!("reference {}", reference.name), detail);
            }
            if core.store.ref_log(&reference.name, None, 1).await?.is_empty() {
                report.damage(format!("reference {}", reference.name), "has no log");
            }
        }
        match page.into_iter().next_back() {
            Some(last) => after = Some(last.name),
            None => break,
        }
    }
    let mut after: Option<RefName> = None;
    loop {
        let names = core.store.ref_log_names(after.as_ref(), PAGE).await?;
        for name in &names {
            let now = core.store.reference(name).await?;
            check_log(core, name, now.as_ref(), &exists, report).await?;
        }
        match names.into_iter().next_back() {
            Some(last) => after = Some(last),
            None => break,
        }
    }
    Ok(())
}

async fn check_log(
    core: &Core,
    name: &RefName,
    now: Option<&Reference>,
    exists: &impl Fn(CommitId) -> bool,
    report: &mut Report,
) -> Result<(), Error> {
    let what = || format!("log of reference {name}");
    let mut newer: Option<RefLogEntry> = None;
    let mut before = None;
    loop {
        let page = core.store.ref_log(name, before, PAGE).await?;
        for entry in page {
            report.log_entries += 1;
            before = Some(entry.number);
            match &newer {
                None => {
                    let at = now.map(|reference| (reference.kind, reference.target, reference.number));
                    let logged = entry.new.map(|target| (entry.kind, target, entry.number));
                    if at != logged {
                        let detail = format!(
                            "ends at {:?}, but the reference is {:?}",
                            entry.new,
                            now.map(|r| r.target)
                        );
                        report.damage(what(), detail);
                    }
                }
                Some(newer) => {
                    if newer.number != entry.number + 1 {
                        report.damage(
                            what(),
                            format!("has a gap between {} and {}", entry.number, newer.number),
                        );
                    }
                    if newer.old != entry.new {
                        let detail =
                            format!("entry {} does not begin where {} ended", newer.number, entry.number);
                        report.damage(what(), detail);
                    }
                }
            }
            if let Some(target) = entry.new
                && !exists(target)
            {
                report.damage(what(), format!("entry {} names {target}, which is missing", entry.number));
            }
            if let Some(request) = &entry.request {
                let found = core.store.request(&request.key).await?;
                if found.as_ref().map(|found| &found.name) != Some(name) {
                    report.damage(what(), format!("entry {} is not found by its request", entry.number));
                }
            }
            newer = Some(entry);
        }
        match before {
            Some(number) if number > 1 => {
                if core.store.ref_log(name, before, 1).await?.is_empty() {
                    break;
                }
            }
            _ => break,
        }
    }
    Ok(())
}

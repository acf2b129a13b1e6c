//! The log of references, gathered from the look at everything: runs of entries that follow each other.

use std::collections::{BTreeMap, HashMap};

use lochan_storage_model::{CommitId, RefName};
use lochan_storage_odb::{RefKind, RefLogEntry, Reference, RequestKey};

use super::{Report, graph::Graph};
use crate::{error::Error, state::Core};

/// Entries of one name without a gap.
struct Run {
    /// Number of the first one.
    first: u64,
    /// What that one begins at.
    old: Option<CommitId>,
    /// What the last one ends at, and as what.
    last: (RefKind, Option<CommitId>),
    /// Where each one leads to; the empty state for a delete.
    targets: Vec<CommitId>,
}

impl Run {
    fn begin(first: u64, old: Option<CommitId>, kind: RefKind) -> Self {
        Self { first, old, last: (kind, old), targets: Vec::new() }
    }

    /// Number behind its last entry.
    fn end(&self) -> u64 {
        self.first.saturating_add(self.targets.len() as u64)
    }
}

/// What a part of the store holds of the log.
#[derive(Default)]
pub(super) struct Part {
    log: Log,
    /// The run that the latest entry belongs to.
    latest: Option<(RefName, Run)>,
}

impl Part {
    /// Takes an entry in.
    pub(super) fn add(&mut self, entry: RefLogEntry, report: &mut Report) {
        report.log_entries += 1;
        let RefLogEntry { name, number, kind, old, new, request, .. } = entry;
        if let Some(RequestKey { key, .. }) = request {
            self.log.requests.push((name.clone(), number, key));
        }
        let follows = self.latest.as_ref().is_some_and(|(of, run)| *of == name && run.end() == number);
        if !follows {
            self.close();
        }
        let (of, run) = self.latest.get_or_insert_with(|| (name, Run::begin(number, old, kind)));
        if run.last.1 != old {
            not_joined(of, number, report);
        }
        run.last = (kind, new);
        run.targets.push(new.unwrap_or(CommitId::NO_ANCESTOR));
    }

    /// Notes that entries may be missing here which could not be read.
    pub(super) fn is_cut(&mut self) {
        self.log.is_cut = true;
    }

    fn close(&mut self) {
        if let Some((name, run)) = self.latest.take() {
            self.log.names.entry(name).or_default().push(run);
        }
    }
}

/// The log: 32 bytes for each entry, and somewhat more for one that has a request.
#[derive(Default)]
pub(super) struct Log {
    names: HashMap<RefName, Vec<Run>>,
    /// Name and number of each entry that was written for a request, and its key.
    requests: Vec<(RefName, u64, [u8; 32])>,
    /// Whether a part of it cannot be read, so that nothing can be said about what is not here.
    is_cut: bool,
}

impl Log {
    /// Takes in a part.
    pub(super) fn merge(&mut self, mut part: Part) {
        part.close();
        let Self { names, requests, is_cut } = part.log;
        for (name, runs) in names {
            self.names.entry(name).or_default().extend(runs);
        }
        self.requests.extend(requests);
        self.is_cut |= is_cut;
    }

    /// Compares the log with the references of the store and with the commits of the graph.
    pub(super) async fn check(
        self,
        core: &Core,
        graph: &Graph,
        references: &BTreeMap<RefName, Reference>,
        report: &mut Report,
    ) -> Result<(), Error> {
        let unlogged = references.keys().filter(|name| !self.names.contains_key(*name));
        for name in unlogged.filter(|_| !self.is_cut) {
            report.damage(format!("reference {name}"), "has no log");
        }
        let names: BTreeMap<_, _> = self.names.into_iter().collect();
        for (name, mut runs) in names {
            runs.sort_unstable_by_key(|run| run.first);
            check_targets(&name, &runs, graph, report);
            if !self.is_cut {
                check_joins(&name, &runs, references.get(&name), report);
            }
        }
        for (name, number, request) in self.requests {
            let found = core.store.request(&request).await?;
            if found.as_ref().map(|found| &found.name) != Some(&name) {
                report.damage(what(&name), format!("entry {number} is not found by its request"));
            }
        }
        Ok(())
    }
}

/// Compares the runs of a name with each other, and their end with the reference.
fn check_joins(name: &RefName, runs: &[Run], now: Option<&Reference>, report: &mut Report) {
    for (older, newer) in runs.iter().zip(runs.iter().skip(1)) {
        if older.end() != newer.first {
            let detail = format!("has a gap between {} and {}", older.end() - 1, newer.first);
            report.damage(what(name), detail);
        } else if older.last.1 != newer.old {
            not_joined(name, newer.first, report);
        }
    }
    let Some(run) = runs.last() else { return };
    let (kind, new) = run.last;
    let now = now.map(|reference| (reference.kind, reference.target, reference.number));
    if now != new.map(|target| (kind, target, run.end() - 1)) {
        let now = now.map(|(_, target, _)| target);
        report.damage(what(name), format!("ends at {new:?}, but the reference is {now:?}"));
    }
}

fn check_targets(name: &RefName, runs: &[Run], graph: &Graph, report: &mut Report) {
    for run in runs {
        for (number, target) in (run.first..).zip(&run.targets) {
            if !graph.holds(*target) {
                report.damage(what(name), format!("entry {number} names {target}, which is missing"));
            }
        }
    }
}

fn what(name: &RefName) -> String {
    format!("log of reference {name}")
}

fn not_joined(name: &RefName, number: u64, report: &mut Report) {
    let detail = format!("entry {number} does not begin where {} ended", number.saturating_sub(1));
    report.damage(what(name), detail);
}

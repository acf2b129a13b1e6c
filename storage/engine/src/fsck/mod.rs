//! Verifying a store: every object, parent, index root, reference, record and log entry.
//!
//! Reads only. What is wrong is named; nothing is mended here.

mod commits;
mod graph;
mod log;
mod needs;
mod operations;
mod references;
mod roots;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fmt, sync::Arc};

pub(crate) use commits::named_by;
use lochan_storage_model::{
    CommitId,
    ports::{SystemClock, SystemRng},
};
use lochan_storage_odb::{Damage, RecordSpace, StoreError, Sweep};

use crate::{engine::Options, error::Error, merge::Rules, state::Core};

/// Rows read in one piece.
const PAGE: usize = 1_000;

/// How much is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Everything but the index roots of commits that are neither heads nor checkpoints.
    Heads,
    /// Everything.
    Full,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// A derived row: the server rebuilds it by itself.
    Derived,
    /// Something promised is missing or damaged.
    Damage,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad.
    pub severity: Severity,
    /// Which object, reference, record or row.
    pub what: String,
    /// What is wrong with it.
    pub detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.severity {
            Severity::Derived => "rebuilt by itself",
            Severity::Damage => "damaged",
        };
        write!(f, "{}: {} ({kind})", self.what, self.detail)
    }
}

/// What was verified, and what is wrong.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Objects whose bytes were hashed.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Commits among them.
    pub commits: u64,
    /// Index roots computed from operations.
    pub roots: u64,
    /// References.
    pub references: u64,
    /// Entries of the reference log.
    pub log_entries: u64,
    /// Records.
    pub records: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// Everything wrong, as found.
    pub findings: Vec<Finding>,
    /// Findings about objects, with the commits that name these.
    needed: Vec<(usize, Vec<CommitId>)>,
}

impl Report {
    /// Whether nothing promised is missing or damaged.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity == Severity::Derived)
    }

    /// Notes that something promised is missing or damaged.
    pub fn damage(&mut self, what: impl Into<String>, detail: impl Into<String>) {
        self.findings.push(Finding { severity: Severity::Damage, what: what.into(), detail: detail.into() });
    }

    /// Notes damage that the store tells.
    fn damaged(&mut self, error: StoreError) {
        let Damage { what, detail } = error.into();
        self.damage(what, detail);
    }

    /// Notes that an object is missing or damaged which some commits name.
    fn needed(&mut self, what: String, detail: &str, commits: Vec<CommitId>) {
        self.needed.push((self.findings.len(), commits));
        self.damage(what, detail);
    }

    /// Notes what cannot be read; `None` then.
    fn unless_damaged<T>(&mut self, checked: Result<T, Error>) -> Result<Option<T>, Error> {
        match checked {
            Err(Error::Store(error)) if error.is_damage() => {
                self.damaged(error);
                Ok(None)
            }
            checked => checked.map(Some),
        }
    }

    /// Adds what was counted and found in a part.
    fn add(&mut self, part: Self) {
        let Self {
            objects,
            bytes,
            commits,
            roots,
            references,
            log_entries,
            records,
            checkpoints,
            findings,
            needed,
        } = part;
        self.objects += objects;
        self.bytes += bytes;
        self.commits += commits;
        self.roots += roots;
        self.references += references;
        self.log_entries += log_entries;
        self.records += records;
        self.checkpoints += checkpoints;
        let before = self.findings.len();
        self.needed.extend(needed.into_iter().map(|(finding, commits)| (before + finding, commits)));
        self.findings.extend(findings);
    }

    fn derived(&mut self, what: impl Into<String>, detail: impl Into<String>) {
        self.findings.push(Finding { severity: Severity::Derived, what: what.into(), detail: detail.into() });
    }
}

/// Verifies a store that nobody writes to. `told` is called now and then with what is being done. An error means that
/// the store could not be read on; what was found before is in the log of `told`.
pub async fn fsck(
    store: Arc<dyn Sweep>,
    depth: Depth,
    told: &mut (dyn FnMut(&str, &Report) + Send),
) -> Result<Report, Error> {
    let core = Arc::new(Core::new(
        store.clone(),
        Arc::new(SystemClock),
        Arc::new(SystemRng),
        Rules::default(),
        Options { trees_kept: 16, ..Options::default() },
    ));
    let mut report = Report::default();
    told("objects", &report);
    let (whole, log) = commits::look_at_all(&store, &mut report, told).await?;
    told("references and their log", &report);
    // What cannot be read is a finding, and whatever else there is to find is still looked for.
    let references = references::check_references(&core, &whole.graph, &mut report).await;
    let references = match report.unless_damaged(references)? {
        None => BTreeMap::new(),
        Some(references) => {
            let checked = log.check(&core, &whole.graph, &references, &mut report).await;
            report.unless_damaged(checked)?;
            references
        }
    };
    told("records", &report);
    check_records(&store, &mut report).await?;
    needs::name_them(&whole.graph, &references, &mut report);
    told("index roots", &report);
    let heads = references.values().map(|reference| reference.target).collect();
    let checked = roots::check_roots(&core, whole, heads, depth, &mut report, told).await;
    report.unless_damaged(checked)?;
    told("done", &report);
    Ok(report)
}

async fn check_records(store: &Arc<dyn Sweep>, report: &mut Report) -> Result<(), Error> {
    for space in RecordSpace::ALL {
        let mut after: Option<bytes::Bytes> = None;
        loop {
            let page = match store.records(space, after.as_deref(), PAGE).await {
                Ok(page) => page,
                Err(error) => {
                    report.damage(format!("records of space {space:?}"), error.to_string());
                    break;
                }
            };
            report.records += page.len() as u64;
            for (key, record) in &page {
                if record.version == 0 {
                    report.damage(
                        format!("record {space:?}/{}", String::from_utf8_lossy(key)),
                        "has no version",
                    );
                }
            }
            match page.into_iter().next_back() {
                Some((key, _)) => after = Some(key),
                None => break,
            }
        }
    }
    Ok(())
}

//! Verifying a store that is being served: slowly, over and over.
//!
//! Reads every object, reference, log entry, record and stored index node, and compares them with their hashes and with
//! each other as far as that holds while writes go on. What is derived and damaged is thrown away, so that the next
//! reader makes it anew from operations; everything else is told. What only a store at rest can say (are all rows there?)
//! is for [`crate::fsck`].

use std::{
    future, iter,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use lochan_storage_model::{CommitId, ObjectId, ObjectKind, RefName};
use lochan_storage_odb::{Checked, DerivedSpace, DerivedWrite, RecordSpace, RefLogEntry, StoreError, Sweep};
use tokio::{sync::mpsc, task::JoinSet};

use crate::{
    error::Error,
    fsck::{Finding, Severity},
    pace::{Pace, joined, threads},
};

/// Rows read in one piece, and bytes of objects: short, since whoever commits waits for a core meanwhile.
const PAGE: usize = 1_024;
const PAGE_BYTES: usize = 256 << 10;
/// Parts of the objects for each reader: parts are not of the same size.
const PARTS_PER_READER: usize = 8;
/// Bytes that a row without an object counts for.
const ROW_BYTES: usize = 200;
/// Findings kept; more are only counted.
pub const FINDINGS_MAX: usize = 1_000;

/// How far a round is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// Objects hashed.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// References compared with their log.
    pub references: u64,
    /// Log entries.
    pub log_entries: u64,
    /// Records.
    pub records: u64,
    /// Stored index nodes hashed.
    pub nodes: u64,
    /// Number of findings.
    pub found: u64,
    /// The first of them.
    pub findings: Vec<Finding>,
}

impl Progress {
    fn note(&mut self, severity: Severity, what: impl Into<String>, detail: impl Into<String>) {
        self.found += 1;
        let finding = Finding { severity, what: what.into(), detail: detail.into() };
        tracing::error!(what = finding.what, detail = finding.detail, "the scrub found damage");
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        }
    }

    /// Adds what a reader has done and found.
    fn add(&mut self, other: Self) {
        let Self { objects, bytes, references, log_entries, records, nodes, found, findings } = other;
        self.objects += objects;
        self.bytes += bytes;
        self.references += references;
        self.log_entries += log_entries;
        self.records += records;
        self.nodes += nodes;
        self.found += found;
        self.findings.extend(findings);
        self.findings.truncate(FINDINGS_MAX);
    }

    /// Notes what a read told; anything but damage ends the round.
    fn damaged(&mut self, context: &str, error: StoreError) -> Result<(), Error> {
        match error {
            StoreError::Corrupt { what, detail } => {
                let detail = if context.is_empty() { detail } else { format!("{detail} ({context})") };
                self.note(Severity::Damage, what, detail);
                Ok(())
            }
            StoreError::Read(detail) => {
                self.note(Severity::Damage, context, detail);
                Ok(())
            }
            other => Err(other.into()),
        }
    }
}

/// Goes over the whole store once. `told` is called after every page.
pub async fn round(
    store: &Arc<dyn Sweep>,
    pace: &mut Pace,
    told: &mut (dyn FnMut(&Progress) + Send),
) -> Result<Progress, Error> {
    let mut round = Round { store, pace, told, progress: Progress::default() };
    round.run().await?;
    Ok(round.progress)
}

/// What a reader has read and found since it told last.
struct Told {
    done: Progress,
    /// Bytes that count for the pace.
    read: usize,
}

/// What one reader does at a time.
enum Job {
    /// Objects behind a token, up to a mark.
    Objects(Option<Bytes>, Option<Bytes>),
    References,
    Records,
    Nodes,
}

/// Jobs that nobody has taken yet, the next one last.
type Jobs = Arc<Mutex<Vec<Job>>>;

struct Round<'a> {
    store: &'a Arc<dyn Sweep>,
    pace: &'a mut Pace,
    told: &'a mut (dyn FnMut(&Progress) + Send),
    progress: Progress,
}

impl Round<'_> {
    /// One reader keeps up with any limit that leaves room for others; without a limit there is one for each core.
    async fn run(&mut self) -> Result<(), Error> {
        let readers = match self.pace.is_bounded() {
            true => 1,
            false => threads(),
        };
        let jobs: Jobs = Arc::new(Mutex::new(jobs(&**self.store, readers).await?));
        let (tell, mut told) = mpsc::channel(readers);
        // Dropped with the round, and their tasks with them.
        let mut reading = JoinSet::new();
        for _ in 0..readers {
            let reader = Reader { store: self.store.clone(), tell: tell.clone(), done: Progress::default() };
            reading.spawn(reader.run(jobs.clone()));
        }
        drop(tell);
        while let Some(step) = told.recv().await {
            let Told { done, read } = step?;
            self.progress.add(done);
            (self.told)(&self.progress);
            self.pace.spend(read).await;
        }
        // Whoever has not come to its end must not pass for one that has.
        while let Some(read) = reading.join_next().await {
            joined(read).await;
        }
        Ok(())
    }
}

/// What is to be done, what cannot be split last, since it is begun first.
async fn jobs(store: &dyn Sweep, readers: usize) -> Result<Vec<Job>, Error> {
    let marks = match readers {
        1 => Vec::new(),
        _ => store.object_marks(readers * PARTS_PER_READER).await?,
    };
    let ends = marks.iter().cloned().map(Some).chain(iter::once(None));
    let begins = iter::once(None).chain(marks.iter().cloned().map(Some));
    let objects = begins.zip(ends).map(|(after, until)| Job::Objects(after, until));
    Ok(objects.chain([Job::Nodes, Job::Records, Job::References]).collect())
}

struct Reader {
    store: Arc<dyn Sweep>,
    tell: mpsc::Sender<Result<Told, Error>>,
    done: Progress,
}

impl Reader {
    /// Does job after job.
    async fn run(mut self, jobs: Jobs) {
        let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).pop();
        while let Some(job) = next() {
            let done = match job {
                Job::Objects(after, until) => self.objects(after, until).await,
                Job::References => self.references().await,
                Job::Records => self.records().await,
                Job::Nodes => self.nodes().await,
            };
            match done {
                Ok(()) => self.turn(0).await,
                Err(error) => return drop(self.tell.send(Err(error)).await),
            }
        }
    }

    /// Tells what has been read, which took `read` bytes, and waits for its turn.
    async fn turn(&mut self, read: usize) {
        let done = std::mem::take(&mut self.done);
        if self.tell.send(Ok(Told { done, read })).await.is_err() {
            // The round was given up, and this task ends with it.
            future::pending().await
        }
    }

    async fn objects(&mut self, mut after: Option<Bytes>, until: Option<Bytes>) -> Result<(), Error> {
        loop {
            let between = (after.take(), until.clone());
            let checked: Checked = self.store.check_objects(between, PAGE, PAGE_BYTES).await?;
            for error in checked.damaged {
                self.done.damaged("", error)?;
            }
            self.done.objects += checked.objects;
            self.done.bytes += checked.bytes;
            after = checked.last;
            if after.is_none() {
                return Ok(());
            }
            self.turn(usize::try_from(checked.bytes).unwrap_or(usize::MAX)).await;
        }
    }

    async fn references(&mut self) -> Result<(), Error> {
        let mut after: Option<RefName> = None;
        loop {
            let names = match self.store.ref_log_names(after.as_ref(), PAGE).await {
                Ok(names) => names,
                // Where names cannot be listed, the rest of them is not reached.
                Err(error) => return self.done.damaged("names of references", error),
            };
            let Some(last) = names.last() else { return Ok(()) };
            after = Some(last.clone());
            for name in &names {
                if let Err(error) = self.reference(name).await {
                    match error {
                        Error::Store(error) => self.done.damaged(&format!("reference {name}"), error)?,
                        other => return Err(other),
                    }
                }
            }
        }
    }

    async fn reference(&mut self, name: &RefName) -> Result<(), Error> {
        let what = || format!("reference {name}");
        let now = self.store.reference(name).await?;
        // A batch writes both at once, so the entry of that number is there whatever has come since.
        if let Some(now) = &now {
            self.done.references += 1;
            let entry = self.store.ref_log(name, Some(now.number + 1), 1).await?.into_iter().next();
            if entry.is_none_or(|entry| entry.number != now.number || entry.new != Some(now.target)) {
                self.done.note(Severity::Damage, what(), "is not where its log says");
            }
            self.commit(name, now.target).await?;
        }
        let mut newer: Option<RefLogEntry> = None;
        let mut before = None;
        loop {
            let page = self.store.ref_log(name, before, PAGE).await?;
            let count = page.len();
            for entry in page {
                if let Some(newer) = &newer
                    && (newer.number != entry.number + 1 || newer.old != entry.new)
                {
                    let detail = format!("its log does not fit together at number {}", entry.number);
                    self.done.note(Severity::Damage, what(), detail);
                }
                self.done.log_entries += 1;
                before = Some(entry.number);
                newer = Some(entry);
            }
            self.turn(count * ROW_BYTES).await;
            if count < PAGE {
                return Ok(());
            }
        }
    }

    async fn commit(&mut self, name: &RefName, target: CommitId) -> Result<(), Error> {
        if !target.is_no_ancestor() && self.store.object(ObjectKind::Commit, target.object()).await?.is_none()
        {
            let detail = format!("points at commit {target}, which is missing");
            self.done.note(Severity::Damage, format!("reference {name}"), detail);
        }
        Ok(())
    }

    async fn records(&mut self) -> Result<(), Error> {
        for space in RecordSpace::ALL {
            let mut after: Option<Bytes> = None;
            loop {
                let page = match self.store.records(space, after.as_deref(), PAGE).await {
                    Ok(page) => page,
                    Err(error) => {
                        self.done.damaged(&format!("records of space {space:?}"), error)?;
                        break;
                    }
                };
                let Some((last, _)) = page.last() else { break };
                after = Some(last.clone());
                self.done.records += page.len() as u64;
                self.turn(page.iter().map(|(_, record)| record.value.len() + ROW_BYTES).sum()).await;
            }
        }
        Ok(())
    }

    /// Hashes stored index nodes. A damaged one is thrown away: whoever needs it rebuilds it from operations.
    async fn nodes(&mut self) -> Result<(), Error> {
        let mut from: Option<Vec<u8>> = None;
        loop {
            let page =
                match self.store.derived_scan(DerivedSpace::Node, &[], from.as_deref(), false, PAGE).await {
                    Ok(page) => page,
                    Err(StoreError::Corrupt { what, detail }) => {
                        let detail = format!("{detail}; index nodes there are rebuilt when they are needed");
                        self.done.note(Severity::Derived, what, detail);
                        return Ok(());
                    }
                    Err(error) => return Err(error.into()),
                };
            let Some((last, _)) = page.last() else { return Ok(()) };
            let mut next = last.to_vec();
            next.push(0);
            from = Some(next);
            let mut bytes = 0;
            let mut damaged = Vec::new();
            for (key, node) in page {
                bytes += node.len() + ROW_BYTES;
                self.done.nodes += 1;
                if ObjectId::of(ObjectKind::IndexNode, &node).as_bytes()[..] != key[..] {
                    self.done.note(
                        Severity::Derived,
                        "an index node",
                        "does not hash to its id; it is thrown away",
                    );
                    damaged.push(DerivedWrite { space: DerivedSpace::Node, key, value: None });
                }
            }
            if !damaged.is_empty() {
                self.store.put_derived(damaged).await?;
            }
            self.turn(bytes).await;
        }
    }
}

//! One operation after another, of every kind that the engine has.

use std::{collections::BTreeSet, path::Path, sync::Arc};

use anyhow::{Context, Result, bail, ensure};
use lochan_storage::Sweep;
use lochan_storage_engine::{
    Engine, Error,
    commit::{GivenId, Operation, Request},
    merge::{MergeRequest, Mode, Options},
    writer::Who,
};
use lochan_storage_model::{CommitId, CommitMeta, Content, ObjectId, ObjectKind, RefName};
use lochan_storage_odb::{ExpectedRecord, NewObject, RecordChange, RefKind, Reference, StoreError};

use super::{
    marks::{Mark, Outcome, SPACE, Speaker, State},
    open::{key, name, open_again, open_store, resumed, start_engine},
    reader::Reader,
};
use crate::rng::Rng;

/// Tables that commits put.
const TABLES: u64 = 60;
/// Tables in one commit, at most.
const TABLES_PER_COMMIT: u64 = 4;
/// Branches and tags beside `main`.
const NAMES: u64 = 6;
const RECORDS: u64 = 5;
/// One commit in so many brings a large object.
const LARGE_ONE_IN: u64 = 10;
/// Smallest and largest size of such an object, in bytes.
const LARGE_BYTES: (u64, u64) = (10_000, 120_000);
const MAIN: &str = "main";
/// Sizes around the longest value that stands in a row, 4,992 bytes, and others that are cut; each of a commit's objects and
/// its record have one of them in a script of large rows.
const ROW_BYTES: [u64; 6] = [4_700, 4_991, 4_992, 4_993, 5_200, 16_000];
/// Objects of a commit in such a script: more than a leaf of the engine holds.
const LARGE_ROWS: u64 = 20;
/// One commit in so many of such a script is a batch that fills several segments of the engine's log.
const HUGE_ONE_IN: u64 = 20;
/// Objects of such a commit, and the size of each, in bytes: 2.5 MB.
const HUGE_OBJECTS: u64 = 125;
const HUGE_OBJECT_BYTES: u64 = 20_000;

/// What the script writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowSizes {
    /// Small rows, and a large object now and then.
    #[default]
    Usual,
    /// With every commit many rows as long as they may be.
    Large,
}

/// Opens the store in `data` and does `count` operations, telling of each in `marks`.
pub async fn script(data: &Path, marks: &Path, count: u64, seed: u64, rows: RowSizes) -> Result<()> {
    let speaker = Speaker::open(marks)?;
    let store = open_store(data)?;
    let engine = start_engine(&store)?;
    let reader = Reader::start(&store);
    let mut state = State::read(&*store).await?;
    // Where an earlier process ended, nobody knows what became of its last operation.
    speaker.say(&Mark::Known { outcome: Outcome::Unknown, state: state.clone() })?;
    let mut script = Script { engine, store, rng: Rng::new(seed), count: 0, rows };
    for number in 0..count {
        script.count = number;
        let step = script.choose().await?;
        let touches = step.touches();
        speaker.say(&Mark::Begin { touches: touches.clone() })?;
        let outcome = match script.run(&step).await {
            Ok(()) => Outcome::Done,
            Err(error) if error.is_unknown() => Outcome::Unknown,
            Err(Error::Store(StoreError::WritesRefused(_) | StoreError::Full(_))) => Outcome::Refused,
            // A read met a store that is being opened anew; what it was for was not begun.
            Err(Error::Store(StoreError::Read(_))) => Outcome::Refused,
            Err(error) => return Err(error).with_context(|| format!("operation {number}: {step:?}")),
        };
        if outcome != Outcome::Done {
            resumed(&*script.store).await?;
        }
        let now = State::read(&*script.store).await?;
        match outcome {
            Outcome::Refused => {
                ensure!(now == state, "operation {number} was refused, but applied: {step:?}")
            }
            // A merge of what the branch has already got is a success that changes nothing.
            Outcome::Done => ensure!(
                now != state || matches!(step, Step::Merge(..)),
                "operation {number} did nothing: {step:?}"
            ),
            Outcome::Unknown => {}
        }
        ensure!(
            now.without(&touches) == state.without(&touches),
            "operation {number} touched more: {step:?}"
        );
        state = now;
        speaker.say(&Mark::Known { outcome, state: state.clone() })?;
    }
    reader.end().await?;
    script.engine.stop(std::time::Duration::from_secs(30)).await;
    Ok(())
}

struct Script {
    engine: Engine,
    store: Arc<dyn Sweep>,
    rng: Rng,
    count: u64,
    rows: RowSizes,
}

#[derive(Debug)]
enum Step {
    Create(RefName, RefKind, CommitId),
    Assign(Reference, CommitId),
    Delete(Reference),
    Merge(Reference, CommitId),
    Commit(Reference, Vec<u64>, Option<u64>, Option<u64>),
}

impl Step {
    fn touches(&self) -> BTreeSet<String> {
        let (name, record) = match self {
            Self::Create(name, ..) => (name, None),
            Self::Assign(reference, _) | Self::Delete(reference) | Self::Merge(reference, _) => {
                (&reference.name, None)
            }
            Self::Commit(reference, _, record, _) => (&reference.name, *record),
        };
        std::iter::once(name.to_string()).chain(record.map(|record| format!("record-{record}"))).collect()
    }
}

impl Script {
    async fn choose(&mut self) -> Result<Step> {
        let references = self.store.references(None, 100).await?;
        let Some(main) = references.iter().find(|reference| reference.name.as_str() == MAIN) else {
            return Ok(Step::Create(name(MAIN)?, RefKind::Branch, CommitId::NO_ANCESTOR));
        };
        let branches: Vec<&Reference> =
            references.iter().filter(|reference| reference.kind == RefKind::Branch).collect();
        let branch = (*self.rng.pick(&branches).context("no branch")?).clone();
        let any = self.rng.pick(&references).context("no reference")?.clone();
        let other = name(&format!("other-{}", self.rng.below(NAMES)))?;
        let has_other = references.iter().any(|reference| reference.name == other);
        let choice = self.rng.below(16);
        Ok(match choice {
            0 | 1 if !has_other => {
                let kind = if choice == 0 { RefKind::Tag } else { RefKind::Branch };
                Step::Create(other, kind, any.target)
            }
            2 if any.name.as_str() != MAIN => Step::Delete(any),
            3 if any.target != branch.target => Step::Assign(any, branch.target),
            4 | 5 if branch.target != main.target && !branch.target.is_no_ancestor() => {
                Step::Merge(main.clone(), branch.target)
            }
            _ => self.commit(branch),
        })
    }

    fn commit(&mut self, branch: Reference) -> Step {
        let mut tables: Vec<u64> =
            (0..=self.rng.below(TABLES_PER_COMMIT)).map(|_| self.rng.below(TABLES)).collect();
        tables.sort_unstable();
        tables.dedup();
        let record = (self.rng.below(3) == 0).then(|| self.rng.below(RECORDS));
        let (least, most) = LARGE_BYTES;
        let large = (self.rng.below(LARGE_ONE_IN) == 0).then(|| least + self.rng.below(most - least));
        Step::Commit(branch, tables, record, large)
    }

    async fn run(&self, step: &Step) -> Result<(), Error> {
        let (engine, who) = (&self.engine, Who::default());
        match step {
            Step::Create(name, kind, at) => {
                engine.create_reference(name, *kind, *at, who).await?;
            }
            Step::Assign(reference, to) => {
                engine.assign_reference(&reference.name, reference.target, *to, who).await?;
            }
            Step::Delete(reference) => {
                engine.delete_reference(&reference.name, reference.target, who).await?;
            }
            Step::Merge(reference, from) => {
                let options = Options { default_mode: Mode::Force, ..Options::default() };
                let (branch, expected) = (reference.name.clone(), reference.target);
                let meta = CommitMeta { message: format!("{}", self.count), ..CommitMeta::default() };
                let (source, unrelated) = (None, true);
                engine
                    .merge(MergeRequest {
                        branch,
                        expected,
                        from: *from,
                        options,
                        meta,
                        who,
                        source,
                        unrelated,
                    })
                    .await?;
            }
            Step::Commit(branch, tables, record, large) => {
                self.run_commit(branch, tables, *record, *large, who).await?;
            }
        }
        Ok(())
    }

    async fn run_commit(
        &self,
        branch: &Reference,
        tables: &[u64],
        record: Option<u64>,
        large: Option<u64>,
        who: Who,
    ) -> Result<(), Error> {
        let meta = CommitMeta { message: format!("{}", self.count), ..CommitMeta::default() };
        let mut request = Request::new(branch.name.clone(), branch.target, meta, who);
        let state = self.engine.at(branch.target).await?;
        for table in tables {
            let Ok(key) = key(format!("table-{table}")) else { continue };
            let id = match state.content(&key).await? {
                Some((entry, _)) => GivenId::Id(entry.content_id),
                None => GivenId::New,
            };
            request.operations.push(Operation::Put { key, content: content(self.count), id });
        }
        if let Some(record) = record {
            request.records.push(RecordChange {
                space: SPACE,
                key: format!("record-{record}").into(),
                expected: ExpectedRecord::Any,
                value: Some(self.record_value().into()),
            });
        }
        if let Some(size) = large {
            attach(&mut request, size, size + self.count);
        }
        if self.rows == RowSizes::Large {
            let mut rng = Rng::new(self.count);
            for number in 0..LARGE_ROWS {
                attach(&mut request, *rng.pick(&ROW_BYTES).unwrap_or(&1), self.count * LARGE_ROWS + number);
            }
            if self.count % HUGE_ONE_IN == HUGE_ONE_IN / 2 {
                for number in 0..HUGE_OBJECTS {
                    attach(&mut request, HUGE_OBJECT_BYTES, !(self.count * HUGE_OBJECTS + number));
                }
            }
        }
        self.engine.commit(request).await.map(drop)
    }

    fn record_value(&self) -> String {
        let value = self.count.to_string();
        match self.rows {
            RowSizes::Usual => value,
            RowSizes::Large => {
                let size = ROW_BYTES.get(self.count as usize % ROW_BYTES.len()).copied().unwrap_or_default();
                value + &"-".repeat(size as usize)
            }
        }
    }
}

/// Adds an attachment of `size` bytes that `seed` decides.
fn attach(request: &mut Request, size: u64, seed: u64) {
    let mut rng = Rng::new(seed);
    let bytes: Vec<u8> =
        std::iter::repeat_with(|| rng.draw().to_le_bytes()).flatten().take(size as usize).collect();
    let (kind, bytes) = (ObjectKind::Attachment, bytes::Bytes::from(bytes));
    let id = ObjectId::of(kind, &bytes);
    request.attachments.push(id);
    request.objects.push(NewObject { kind, id, bytes });
}

pub(super) fn content(version: u64) -> Content {
    Content::IcebergTable {
        metadata_location: format!("s3://lake/{version}.json"),
        snapshot_id: version as i64,
        schema_id: 0,
        spec_id: 0,
        sort_order_id: 0,
    }
}

/// Fails where [`script`] would not go on by itself.
pub(super) async fn one_more(data: &Path) -> Result<()> {
    let store = open_again(data).await?;
    let engine = start_engine(&store)?;
    let mut script = Script { engine, store, rng: Rng::new(1), count: 1_000_000, rows: RowSizes::Usual };
    let step = match script.store.reference(&name(MAIN)?).await? {
        Some(main) => script.commit(main),
        None => Step::Create(name(MAIN)?, RefKind::Branch, CommitId::NO_ANCESTOR),
    };
    let before = State::read(&*script.store).await?;
    script.run(&step).await?;
    let after = State::read(&*script.store).await?;
    script.engine.stop(std::time::Duration::from_secs(30)).await;
    drop(script);
    let again = State::read(&*open_again(data).await?).await?;
    if before == after || again != after {
        bail!("a commit on the disk after the power cut was lost");
    }
    Ok(())
}

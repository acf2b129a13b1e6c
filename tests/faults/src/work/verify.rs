//! Whether a disk holds everything that was acknowledged when its power was cut.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Arc,
};

use anyhow::{Result, anyhow, bail, ensure};
use lochan_storage::Sweep;
use lochan_storage_engine::{
    Engine,
    fsck::{Depth, fsck},
};
use lochan_storage_model::Content;

use super::{
    crowd::{branch_of, record_of},
    marks::{Mark, Outcome, State},
    open::{key, name, open_again, start_engine},
    script::one_more,
};

/// How much is looked at on one disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thoroughness {
    /// What was acknowledged, and `fsck`.
    Plain,
    /// The whole history of each branch, `fsck --full`, and one commit more.
    Full,
}

/// Opens the store of `data` and hands it to `check`; a panic of the store is an error.
fn opened<F>(data: &Path, thoroughness: Thoroughness, check: impl FnOnce(Arc<dyn Sweep>) -> F) -> Result<()>
where
    F: Future<Output = Result<()>>,
{
    let done = catch_unwind(AssertUnwindSafe(|| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let store = open_again(data).await.map_err(|error| anyhow!("it does not open: {error}"))?;
            check(store.clone()).await?;
            let depth = if thoroughness == Thoroughness::Full { Depth::Full } else { Depth::Heads };
            let report = fsck(store, depth, &mut |_, _| {}).await?;
            if !report.is_sound() {
                bail!(
                    "fsck: {}",
                    report.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
                );
            }
            Ok(())
        })
    }));
    done.unwrap_or_else(|_| Err(anyhow!("the store panicked")))
}

/// Checks that a commit can be made on the store of `data`, and is there when it is opened again.
pub fn check_writable(data: &Path) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(one_more(data))
}

/// What a script has said.
#[derive(Debug)]
pub struct ScriptCheck {
    known: Vec<Known>,
    /// What an operation without an end may have touched.
    open: BTreeSet<String>,
}

#[derive(Debug)]
struct Known {
    at: usize,
    outcome: Outcome,
    /// What the operation that led here may have touched.
    touched: BTreeSet<String>,
    state: State,
}

impl ScriptCheck {
    /// Reads marks.
    #[must_use]
    pub fn new(marks: &[(usize, Mark)]) -> Self {
        let mut known =
            vec![Known { at: 0, outcome: Outcome::Done, touched: BTreeSet::new(), state: State::default() }];
        let mut touched = BTreeSet::new();
        for (at, mark) in marks {
            match mark {
                Mark::Begin { touches } => touched.clone_from(touches),
                Mark::Known { outcome, state } => {
                    let touched = std::mem::take(&mut touched);
                    known.push(Known { at: *at, outcome: *outcome, touched, state: state.clone() });
                }
                Mark::Ask { .. } | Mark::Acknowledged { .. } => {}
            }
        }
        Self { known, open: touched }
    }

    /// Number of acknowledged operations.
    #[must_use]
    pub fn acknowledged(&self) -> usize {
        self.count(Outcome::Done)
    }

    /// Number of operations that ended so; the first state of each process counts as unknown.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        self.known.iter().skip(1).filter(|known| known.outcome == outcome).count()
    }

    /// Checks that no process has found less or more than the one before it left.
    pub fn check_itself(&self) -> Result<()> {
        for (before, after) in self.known.iter().zip(self.known.iter().skip(1)) {
            let same = before.state.without(&after.touched) == after.state.without(&after.touched);
            ensure!(
                same && (after.outcome != Outcome::Refused || before.state == after.state),
                "event {}: {:?} after {:?}",
                after.at,
                after.state,
                before.state
            );
        }
        Ok(())
    }

    /// Checks a disk whose power was cut before event `at`.
    pub fn check(&self, data: &Path, at: usize, thoroughness: Thoroughness) -> Result<()> {
        let behind = self.known.partition_point(|known| known.at < at).max(1);
        let before = self.known.get(behind - 1).map(|known| known.state.clone()).unwrap_or_default();
        let next = self.known.get(behind);
        // An operation that never came to its end is like one whose outcome is unknown.
        let open = next.is_none().then_some(&self.open);
        opened(data, thoroughness, async |store| {
            let found = State::read(&*store).await?;
            let fits = found == before
                || open.is_some_and(|open| found.without(open) == before.without(open))
                || next.is_some_and(|next| {
                    found == next.state
                        || next.outcome == Outcome::Unknown
                            && found.without(&next.touched) == before.without(&next.touched)
                });
            ensure!(
                fits,
                "before event {at} it shows {found:?} instead of {before:?} or {:?}",
                next.map(|n| &n.state)
            );
            Ok(())
        })?;
        if thoroughness == Thoroughness::Full { check_writable(data) } else { Ok(()) }
    }
}

/// What a crowd has said.
#[derive(Debug)]
pub struct CrowdCheck {
    marks: Vec<(usize, Mark)>,
    writers: u64,
}

impl CrowdCheck {
    /// Reads marks of so many writers.
    #[must_use]
    pub fn new(marks: Vec<(usize, Mark)>, writers: u64) -> Self {
        Self { marks, writers }
    }

    /// Number of acknowledged commits.
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.marks.iter().filter(|(_, mark)| matches!(mark, Mark::Acknowledged { .. })).count() as u64
    }

    /// Checks a disk whose power was cut before event `at`: each writer's record is at its last acknowledged commit or
    /// the one asked for, and its table at the same.
    pub fn check(&self, data: &Path, at: usize, thoroughness: Thoroughness) -> Result<()> {
        let mut bounds: BTreeMap<u64, (u64, u64)> =
            (0..self.writers).map(|writer| (writer, (0, 0))).collect();
        for (_, mark) in self.marks.iter().take_while(|(marked, _)| *marked < at) {
            match mark {
                Mark::Ask { writer, number } => bounds.entry(*writer).or_default().1 = *number,
                Mark::Acknowledged { writer, number } => bounds.entry(*writer).or_default().0 = *number,
                Mark::Begin { .. } | Mark::Known { .. } => {}
            }
        }
        opened(data, thoroughness, async |store| {
            let state = State::read(&*store).await?;
            let engine = start_engine(&store)?;
            for (writer, (acknowledged, asked)) in &bounds {
                let found = state.records.get(&record_of(*writer)).map_or(0, |(version, _)| *version);
                ensure!(
                    (*acknowledged..=*asked).contains(&found),
                    "before event {at} writer {writer} is at {found}, acknowledged {acknowledged}, asked {asked}"
                );
                let table = table_of(&engine, &state, *writer).await?;
                ensure!(table == found, "writer {writer}: its record is at {found}, its table at {table}");
            }
            if thoroughness == Thoroughness::Full {
                for branch in 0..super::crowd::BRANCHES {
                    history(&engine, &state, &branch_of(branch)).await?;
                }
            }
            engine.stop(std::time::Duration::from_secs(30)).await;
            Ok(())
        })
    }
}

async fn table_of(engine: &Engine, state: &State, writer: u64) -> Result<u64> {
    let branch = branch_of(writer);
    if !state.references.contains_key(&branch) {
        return Ok(0);
    }
    let (_, head) = engine.at_head(&name(&branch)?).await?;
    match head.content(&key(format!("table-{writer}"))?).await? {
        None => Ok(0),
        Some((_, Content::IcebergTable { snapshot_id, .. })) => Ok(snapshot_id as u64),
        Some((_, other)) => bail!("writer {writer} finds {other:?}"),
    }
}

/// Every writer's commits are there once, in order, from the first to the one that its record tells of.
async fn history(engine: &Engine, state: &State, branch: &str) -> Result<()> {
    if !state.references.contains_key(branch) {
        return Ok(());
    }
    let head = engine.reference(&name(branch)?).await?.target;
    let mut last: BTreeMap<String, u64> = BTreeMap::new();
    let mut log = engine.log(head);
    while let Some(entry) = log.next().await? {
        let message = &entry.commit.meta.message;
        let (writer, number) = message.split_once(':').ok_or_else(|| anyhow!("commit '{message}'"))?;
        let number: u64 = number.parse()?;
        match last.insert(format!("writer-{writer}"), number) {
            Some(above) => ensure!(above == number + 1, "{branch}: {message} under {above}"),
            None => {
                let record =
                    state.records.get(&format!("writer-{writer}")).map_or(0, |(version, _)| *version);
                ensure!(record == number, "{branch}: {message} is the last, its record is at {record}");
            }
        }
    }
    ensure!(last.values().all(|number| *number == 1), "{branch}: a history does not begin at 1");
    Ok(())
}

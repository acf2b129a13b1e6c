//! What is measured: each workload prepares the state of a slice and gives the operations of its workers.

mod diff;
mod iceberg;
mod merge;
mod read;
mod write;

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::base::Base;
use crate::ceiling::{self, CHANGES};
use crate::conn::Conn;
use crate::nessie::{self, OpError};

pub use iceberg::Tables;

/// Most writers of `iceberg.commit`; each has a table of its own.
const ICEBERG_WRITERS_MAX: usize = 16;
const _: () = assert!(ICEBERG_WRITERS_MAX <= iceberg::TABLES);

/// A workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Kind {
    /// One content by key, any of all tables.
    #[value(name = "content.get")]
    ContentGet,
    /// One writer, one put a commit, walking over all tables.
    #[value(name = "commit.seq")]
    CommitSeq,
    /// Many writers on one branch, each updates its one table; a conflict is an error.
    #[value(name = "commit.own-table")]
    CommitOwnTable,
    /// The same, each writer walks over its own share of all tables, so that the whole index changes.
    #[value(name = "commit.spread")]
    CommitSpread,
    /// Difference of two commits in 100 tables among all.
    #[value(name = "diff")]
    Diff,
    /// Merge of 100 changed tables into a fresh branch; only the merge is timed.
    #[value(name = "merge")]
    Merge,
    /// Load of an Iceberg table.
    #[value(name = "iceberg.load")]
    IcebergLoad,
    /// Update of one property of the writer's own Iceberg table; a conflict is an error.
    #[value(name = "iceberg.commit")]
    IcebergCommit,
}

impl Kind {
    /// All, in the order in which they run.
    pub const ALL: [Self; 8] = [
        Self::ContentGet,
        Self::CommitSeq,
        Self::CommitOwnTable,
        Self::CommitSpread,
        Self::Diff,
        Self::Merge,
        Self::IcebergLoad,
        Self::IcebergCommit,
    ];

    /// Name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::ContentGet => "content.get",
            Self::CommitSeq => "commit.seq",
            Self::CommitOwnTable => "commit.own-table",
            Self::CommitSpread => "commit.spread",
            Self::Diff => "diff",
            Self::Merge => "merge",
            Self::IcebergLoad => "iceberg.load",
            Self::IcebergCommit => "iceberg.commit",
        }
    }

    /// The ceiling it is held against.
    pub fn ceiling(self) -> ceiling::Kind {
        match self {
            Self::ContentGet | Self::Diff | Self::IcebergLoad => ceiling::Kind::Null,
            _ => ceiling::Kind::DurableNull,
        }
    }

    /// Whether it speaks the Iceberg API.
    pub fn is_iceberg(self) -> bool {
        matches!(self, Self::IcebergLoad | Self::IcebergCommit)
    }

    /// Whether only a part of each operation is timed, so that the rate counts that part alone.
    pub fn timed_part_only(self) -> bool {
        self == Self::Merge
    }

    /// Numbers of workers to run it with.
    pub fn workers(self, writers: &[usize], readers: usize) -> Vec<usize> {
        match self {
            Self::ContentGet | Self::IcebergLoad => vec![readers],
            Self::CommitSeq | Self::Diff | Self::Merge => vec![1],
            Self::CommitOwnTable => writers.iter().copied().filter(|w| *w > 1).collect(),
            Self::CommitSpread => writers.iter().copied().max().into_iter().collect(),
            Self::IcebergCommit => writers.iter().copied().filter(|w| *w <= ICEBERG_WRITERS_MAX).collect(),
        }
    }
}

/// A server or a ceiling with what is loaded in it.
#[derive(Clone)]
pub struct Target {
    /// Where it listens.
    pub addr: SocketAddr,
    /// Process id.
    pub pid: u32,
    /// Its `main`.
    pub base: Rc<Base>,
    /// Its Iceberg tables, when they are asked for.
    pub tables: Option<Rc<Tables>>,
    /// Whether its answers are canned.
    pub is_ceiling: bool,
}

/// Marks the timed part of an operation.
#[derive(Default)]
pub struct Timer {
    began: Option<Instant>,
    part: Option<Duration>,
}

impl Timer {
    /// The timed part begins.
    pub fn begin(&mut self) {
        self.began = Some(Instant::now());
    }

    /// The timed part ends.
    pub fn end(&mut self) {
        self.part = self.began.map(|began| began.elapsed());
    }

    /// Length of the timed part, if one was marked.
    pub fn part(&self) -> Option<Duration> {
        self.part
    }
}

/// One worker with its state.
pub enum Worker {
    /// Reads contents.
    Read(read::Reader),
    /// Commits puts.
    Write(write::Writer),
    /// Asks for one difference.
    Diff(diff::Differ),
    /// Merges.
    Merge(merge::Merger),
    /// Loads Iceberg tables.
    IcebergLoad(iceberg::Loader),
    /// Commits to an Iceberg table.
    IcebergCommit(iceberg::Committer),
}

impl Worker {
    /// Does one operation.
    pub async fn step(&mut self, conn: &mut Conn, timer: &mut Timer) -> Result<(), OpError> {
        match self {
            Self::Read(worker) => worker.step(conn).await,
            Self::Write(worker) => worker.step(conn).await,
            Self::Diff(worker) => worker.step(conn).await,
            Self::Merge(worker) => worker.step(conn, timer).await,
            Self::IcebergLoad(worker) => worker.step(conn).await,
            Self::IcebergCommit(worker) => worker.step(conn).await,
        }
    }
}

/// Workers of one slice and what must be true after it.
pub struct Slice {
    /// The workers.
    pub workers: Vec<Worker>,
    /// Branch whose history must have grown by exactly what was acknowledged, with its length before.
    pub grows: Option<(String, u64)>,
    /// Branches to delete afterwards.
    pub branches: Vec<String>,
}

/// Size of a slice.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Number of workers.
    pub workers: usize,
    /// Number of the slice, for names and walks.
    pub number: usize,
}

/// Prepares one slice.
pub async fn prepare(kind: Kind, target: &Target, size: Size, admin: &mut Conn) -> Result<Slice, OpError> {
    match kind {
        Kind::ContentGet => Ok(read::prepare(target, size)),
        Kind::CommitSeq | Kind::CommitOwnTable | Kind::CommitSpread => {
            write::prepare(kind, target, size, admin).await
        }
        Kind::Diff => diff::prepare(target, size, admin).await,
        Kind::Merge => merge::prepare(target, size, admin).await,
        Kind::IcebergLoad => iceberg::prepare_load(target, size),
        Kind::IcebergCommit => iceberg::prepare_commit(target, size, admin).await,
    }
}

/// Checks the history after a slice and drops its branches. `acknowledged` operations succeeded; of `unknown` more
/// nobody knows.
pub async fn finish(
    target: &Target,
    slice: &Slice,
    acknowledged: u64,
    unknown: u64,
    admin: &mut Conn,
) -> Result<(), OpError> {
    if target.is_ceiling {
        return Ok(());
    }
    if let Some((branch, before)) = &slice.grows {
        let grown = nessie::head(admin, branch).await?.commits.saturating_sub(*before);
        if grown < acknowledged {
            let text = format!("{} acknowledged commits are missing", acknowledged - grown);
            return Err(OpError::answer("check of the history", text));
        }
        if grown > acknowledged + unknown {
            let text = format!("{} commits that nobody was told of", grown - acknowledged);
            return Err(OpError::answer("check of the history", text));
        }
    }
    for branch in &slice.branches {
        let head = nessie::head(admin, branch).await?;
        nessie::delete_branch(admin, branch, &head.hash).await?;
    }
    Ok(())
}

/// Creates a branch at the base; a ceiling needs none.
async fn fork(target: &Target, name: &str, number: usize, admin: &mut Conn) -> Result<String, OpError> {
    let branch = format!("bench-{name}-{number}");
    if !target.is_ceiling {
        nessie::create_branch(admin, &branch, &target.base.head).await?;
    }
    Ok(branch)
}

/// A branch off the base with 100 tables changed; returns its name and head.
async fn changed_branch(
    target: &Target,
    name: &str,
    size: Size,
    admin: &mut Conn,
) -> Result<(String, String), OpError> {
    let branch = fork(target, name, size.number, admin).await?;
    let base = &target.base;
    let mut body = String::from(nessie::COMMIT_START);
    for i in 0..CHANGES {
        if i > 0 {
            body.push(',');
        }
        let table = base.layout.spread(i, CHANGES);
        nessie::push_put(&mut body, base.layout, table, Some(base.id(table)), 1 + size.number as u64);
    }
    body.push_str(nessie::COMMIT_END);
    let committed = nessie::commit(admin, &branch, &base.head, &body).await?;
    let head = committed.target_branch.hash.to_owned();
    Ok((branch, head))
}

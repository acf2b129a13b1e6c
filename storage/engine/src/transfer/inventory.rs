//! What stood at one moment: references and the commits they reach, in an order in which parents come first.

use std::collections::HashSet;

use lochan_storage_model::{CommitId, Micros, RefName};
use lochan_storage_odb::{RefKind, RefLogEntry};

use crate::{engine::Engine, error::Error, history::LogEntry};

/// Most commits of one inventory: while it is made, each takes about 40 bytes of memory.
pub const COMMITS_MAX: u64 = 10_000_000;
/// Names and log entries read at once.
const CHUNK: usize = 256;

/// A reference as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Its name.
    pub name: RefName,
    /// Branch or tag.
    pub kind: RefKind,
    /// Where it pointed.
    pub target: CommitId,
}

/// A stretch of commits along first parents.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stretch {
    /// A commit whose first-parent chain holds it.
    tip: CommitId,
    /// Depth of its first commit.
    first: u64,
    /// Depth of its last commit.
    last: u64,
    /// Commits in the stretches before.
    before: u64,
}

/// What stood at one moment. Depends on nothing but the moment, so that it can be made again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inventory {
    at: Micros,
    references: Vec<Snapshot>,
    stretches: Vec<Stretch>,
    commits: u64,
}

impl Engine {
    /// A moment that all changes up to now lie at or before, and all later ones behind.
    pub async fn moment(&self) -> Result<Micros, Error> {
        self.writer.cut().await
    }

    /// What stood at a moment. Walks all commits once. Fails where they are more than [`COMMITS_MAX`]: at once where a
    /// reference tells by its depth, else once that many were met.
    pub async fn inventory(&self, at: Micros) -> Result<Inventory, Error> {
        self.inventory_within(at, COMMITS_MAX).await
    }

    /// The same with a bound of its own.
    pub(super) async fn inventory_within(&self, at: Micros, commits_max: u64) -> Result<Inventory, Error> {
        let mut references = Vec::new();
        let mut after: Option<RefName> = None;
        loop {
            let names = self.core.store.ref_log_names(after.as_ref(), CHUNK).await?;
            let Some(last) = names.last().cloned() else { break };
            for name in &names {
                let entry = self.entry_at(name, at).await?;
                if let Some((entry, target)) = entry.and_then(|entry| entry.new.map(|to| (entry, to))) {
                    references.push(Snapshot { name: name.clone(), kind: entry.kind, target });
                }
            }
            after = Some(last);
        }
        for reference in references.iter().filter(|reference| !reference.target.is_no_ancestor()) {
            // Each commit along first parents counts.
            if self.commits().load(reference.target).await?.header.depth > commits_max {
                return Err(too_many(commits_max));
            }
        }
        let mut walk =
            Walk { engine: self, commits_max, seen: HashSet::new(), stretches: Vec::new(), commits: 0 };
        for reference in &references {
            walk.add(reference.target).await?;
        }
        let Walk { stretches, commits, .. } = walk;
        Ok(Inventory { at, references, stretches, commits })
    }

    /// The newest entry of a log at a moment.
    async fn entry_at(&self, name: &RefName, at: Micros) -> Result<Option<RefLogEntry>, Error> {
        let mut before = None;
        // Nearly always the newest one is it.
        let mut limit = 1;
        loop {
            let page = self.ref_log(name, before, limit).await?;
            let Some(oldest) = page.last().map(|entry| entry.number) else { return Ok(None) };
            if let Some(entry) = page.into_iter().find(|entry| entry.time <= at) {
                return Ok(Some(entry));
            }
            (before, limit) = (Some(oldest), CHUNK);
        }
    }

    /// Entries of a log up to a moment, oldest first: at most `limit`, with numbers above `after`.
    pub async fn ref_log_up_to(
        &self,
        name: &RefName,
        at: Micros,
        after: u64,
        limit: usize,
    ) -> Result<Vec<RefLogEntry>, Error> {
        let before = after.saturating_add(1).saturating_add(limit as u64);
        let mut page = self.ref_log(name, Some(before), limit).await?;
        page.retain(|entry| entry.number > after && entry.time <= at);
        page.reverse();
        Ok(page)
    }
}

impl Inventory {
    /// The moment.
    #[must_use]
    pub const fn at(&self) -> Micros {
        self.at
    }

    /// The references, by name.
    #[must_use]
    pub fn references(&self) -> &[Snapshot] {
        &self.references
    }

    /// Number of commits.
    #[must_use]
    pub const fn commits(&self) -> u64 {
        self.commits
    }

    /// At most `limit` commits from the place `from` on, in the inventory's order.
    pub async fn read(&self, engine: &Engine, from: u64, limit: usize) -> Result<Vec<LogEntry>, Error> {
        let at = self.stretches.partition_point(|stretch| stretch.before <= from);
        let Some(stretch) = at.checked_sub(1).and_then(|at| self.stretches.get(at)) else {
            return Ok(Vec::new());
        };
        let first = stretch.first + (from - stretch.before);
        if first > stretch.last {
            return Ok(Vec::new());
        }
        let last = stretch.last.min(first.saturating_add(limit as u64).saturating_sub(1));
        let commits = engine.commits();
        let mut found = Vec::new();
        let mut id = commits.ancestor_at(stretch.tip, last).await?;
        for _ in first..=last {
            let commit = commits.load(id).await?;
            let parent = commit.header.parent();
            found.push(LogEntry { id, commit });
            id = parent;
        }
        found.reverse();
        Ok(found)
    }
}

fn too_many(commits_max: u64) -> Error {
    Error::BadRequest(format!("the repository has more than {commits_max} commits, too many for one export"))
}

struct Walk<'a> {
    engine: &'a Engine,
    commits_max: u64,
    /// First halves of the ids of commits that stand in a stretch or will: enough to tell them apart.
    seen: HashSet<[u8; 16]>,
    stretches: Vec<Stretch>,
    commits: u64,
}

/// A chain whose stretches wait for those of its merge parents.
struct Chain {
    tip: CommitId,
    /// Depth of the first commit that is in no stretch yet.
    next: u64,
    last: u64,
    /// Merge parents to be looked at before the commit of a depth; the oldest commit stands last.
    merges: Vec<(u64, CommitId)>,
}

impl Walk<'_> {
    /// Adds the commits that `head` reaches and that are not there yet, parents first.
    async fn add(&mut self, head: CommitId) -> Result<(), Error> {
        // A stack instead of a recursion: merges may be nested as deep as there are commits.
        let mut stack: Vec<Chain> = self.chain(head).await?.into_iter().collect();
        while let Some(mut chain) = stack.pop() {
            match chain.merges.pop() {
                Some((depth, parent)) => {
                    if let Some(side) = self.chain(parent).await? {
                        self.cut(&mut chain, depth - 1);
                        stack.push(chain);
                        stack.push(side);
                    } else {
                        stack.push(chain);
                    }
                }
                None => {
                    let last = chain.last;
                    self.cut(&mut chain, last);
                }
            }
        }
        Ok(())
    }

    /// The commits below `tip` along first parents that were not seen yet; now they are.
    async fn chain(&mut self, tip: CommitId) -> Result<Option<Chain>, Error> {
        let mut merges = Vec::new();
        let (mut at, mut next, mut last) = (tip, 0, 0);
        while !at.is_no_ancestor() && self.see(at) {
            if self.seen.len() as u64 > self.commits_max {
                return Err(too_many(self.commits_max));
            }
            tokio::task::consume_budget().await;
            let commit = self.engine.commits().load(at).await?;
            next = commit.header.depth;
            last = last.max(next);
            // Popped from the end: the oldest commit first, and of its merge parents the first.
            merges.extend(commit.header.parents.iter().skip(1).rev().map(|parent| (next, *parent)));
            at = commit.header.parent();
        }
        Ok((last > 0).then_some(Chain { tip, next, last, merges }))
    }

    fn see(&mut self, id: CommitId) -> bool {
        let (half, _) = id.as_bytes().split_at(16);
        half.try_into().is_ok_and(|half| self.seen.insert(half))
    }

    /// Ends a stretch of the chain behind the commit at `last`.
    fn cut(&mut self, chain: &mut Chain, last: u64) {
        if last < chain.next {
            return;
        }
        let stretch = Stretch { tip: chain.tip, first: chain.next, last, before: self.commits };
        self.commits += last - chain.next + 1;
        chain.next = last + 1;
        self.stretches.push(stretch);
    }
}

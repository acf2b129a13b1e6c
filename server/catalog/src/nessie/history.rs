//! Recent changes of a reference, from its log.

use lochan_storage_engine::history::LogEntry;
use lochan_storage_model::{CommitId, Micros, Value};
use lochan_storage_odb::{RefLogEntry, RefOperation, Reference, StoreError};

use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
};

/// Most earlier heads shown.
pub const HEADS_MAX: usize = 20;
/// How long ago a head may have been left, in microseconds.
pub const AGE_US_MAX: Micros = 5 * 60 * 1_000_000;
/// Entries of the log that are read at once, and how often at most: a head assigned anew makes one and leaves none.
const LOG_PAGE: usize = 64;
const LOG_PAGES_MAX: usize = 64;
/// Most commits looked at for their state.
pub const SCAN_COMMITS_MAX: usize = 1_000;

/// State of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Consistency {
    /// It was not looked at.
    NotChecked,
    /// It and its contents are there.
    Consistent,
    /// Some of its contents are missing.
    ContentMissing,
    /// It is missing or damaged.
    Inconsistent,
}

/// A present or earlier head.
#[derive(Debug, Clone)]
pub struct Head {
    /// The commit.
    pub id: CommitId,
    /// Its state.
    pub consistency: Consistency,
    /// The commit itself; `None` for the empty state and what cannot be read.
    pub commit: Option<LogEntry>,
}

/// Recent changes of a reference.
#[derive(Debug, Clone)]
pub struct RecentChanges {
    /// The reference.
    pub reference: Reference,
    /// Its head.
    pub current: Head,
    /// Earlier heads, newest first.
    pub previous: Vec<Head>,
    /// The worst state among the commits scanned.
    pub scanned: Consistency,
}

impl Catalog {
    /// Earlier heads of a reference, left within the last minutes; with `scan`, also the state of that many commits below
    /// its head.
    pub async fn recent_changes(
        &self,
        who: &Principal,
        name: &str,
        scan: usize,
    ) -> Result<RecentChanges, Error> {
        let asked = lochan_storage_model::RefName::new(name).ok();
        self.authorize(who, &Check::on(Access::ViewReference, asked.as_ref())).await?;
        let reference = self.find_reference(name).await?;
        let current = self.examine(reference.target).await?;
        let mut previous = Vec::new();
        for old in self.recently_left(&reference).await? {
            previous.push(self.examine(old).await?);
        }
        let scanned =
            if scan == 0 { Consistency::NotChecked } else { self.scan(reference.target, scan).await? };
        Ok(RecentChanges { reference, current, previous, scanned })
    }

    /// The heads that a reference has left recently, newest first.
    async fn recently_left(&self, reference: &Reference) -> Result<Vec<CommitId>, Error> {
        let since = self.engine().now().saturating_sub(AGE_US_MAX);
        let mut heads = Vec::new();
        let mut before = reference.number + 1;
        for _ in 0..LOG_PAGES_MAX {
            let log = self.engine().ref_log(&reference.name, Some(before), LOG_PAGE).await?;
            let recent: Vec<_> = log.iter().take_while(|entry| is_recent(entry, since)).collect();
            heads.extend(recent.iter().filter_map(|entry| left(entry)));
            if heads.len() >= HEADS_MAX || recent.len() < LOG_PAGE {
                break;
            }
            before = recent.last().map_or(0, |entry| entry.number);
        }
        heads.truncate(HEADS_MAX);
        Ok(heads)
    }

    /// The worst state among a commit and up to `count` of its ancestors.
    async fn scan(&self, head: CommitId, count: usize) -> Result<Consistency, Error> {
        let mut worst = Consistency::Consistent;
        let mut at = head;
        for _ in 0..=count.min(SCAN_COMMITS_MAX) {
            if at.is_no_ancestor() {
                break;
            }
            let found = self.examine(at).await?;
            worst = worst.max(found.consistency);
            match found.commit {
                Some(entry) => at = entry.commit.header.parent(),
                None => break,
            }
        }
        Ok(worst)
    }

    async fn examine(&self, id: CommitId) -> Result<Head, Error> {
        if id.is_no_ancestor() {
            return Ok(Head { id, consistency: Consistency::Consistent, commit: None });
        }
        let commit = match self.engine().commits().find(id).await {
            Ok(Some(commit)) => commit,
            Ok(None) | Err(lochan_storage_engine::Error::Store(StoreError::Corrupt { .. })) => {
                return Ok(Head { id, consistency: Consistency::Inconsistent, commit: None });
            }
            Err(error) => return Err(error.into()),
        };
        let mut consistency = Consistency::Consistent;
        for entry in commit.operations.iter().filter_map(|operation| operation.entry()) {
            if matches!(entry.value, Value::Stored(_)) && self.engine().content_of(entry).await.is_err() {
                consistency = Consistency::ContentMissing;
            }
        }
        Ok(Head { id, consistency, commit: Some(LogEntry { id, commit }) })
    }
}

/// Whether a head was left since then; what stands before the creation of a reference is of another one.
fn is_recent(entry: &RefLogEntry, since: Micros) -> bool {
    entry.time >= since && entry.operation != RefOperation::Create
}

/// The head that was left; none where it was assigned anew.
fn left(entry: &RefLogEntry) -> Option<CommitId> {
    entry.old.filter(|_| entry.old != entry.new)
}

#[cfg(test)]
mod tests {
    use lochan_storage_model::{ObjectId, RefName};
    use lochan_storage_odb::RefKind;

    use super::*;

    fn entry(old: u8, new: u8, operation: RefOperation, time: Micros) -> RefLogEntry {
        let id = |number: u8| Some(CommitId::new(ObjectId::from_bytes([number; 32])));
        RefLogEntry {
            name: RefName::new("main").unwrap(),
            number: 1,
            kind: RefKind::Branch,
            old: id(old),
            new: id(new),
            operation,
            principal: String::new(),
            request: None,
            run: None,
            time,
        }
    }

    #[test]
    fn a_head_is_shown_that_was_left_recently() {
        let since = 1_000_000_000;
        let moved = |time| entry(1, 2, RefOperation::Commit, time);
        assert!(is_recent(&moved(since), since) && !is_recent(&moved(since - 1), since));
        assert!(!is_recent(&entry(1, 2, RefOperation::Create, since), since));
        assert_eq!(left(&moved(since)), moved(since).old);
        assert_eq!(left(&entry(2, 2, RefOperation::Assign, since)), None);
    }
}

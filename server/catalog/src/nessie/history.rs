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
        // One more than shown: the oldest may be the creation, which left no head.
        let log = self.engine().ref_log(&reference.name, Some(reference.number + 1), HEADS_MAX + 1).await?;
        let mut previous = Vec::new();
        for old in recently_left(&log, self.engine().now()) {
            previous.push(self.examine(old).await?);
        }
        let scanned =
            if scan == 0 { Consistency::NotChecked } else { self.scan(reference.target, scan).await? };
        Ok(RecentChanges { reference, current, previous, scanned })
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

/// The heads that were left recently, newest first, of a log with its newest entry first.
fn recently_left(log: &[RefLogEntry], now: Micros) -> Vec<CommitId> {
    let since = now.saturating_sub(AGE_US_MAX);
    log.iter()
        .take_while(|entry| entry.time >= since && entry.operation != RefOperation::Create)
        .filter_map(|entry| entry.old.filter(|_| entry.old != entry.new))
        .take(HEADS_MAX)
        .collect()
}

#[cfg(test)]
mod tests {
    use lochan_storage_model::{ObjectId, RefName};
    use lochan_storage_odb::RefKind;

    use super::*;

    fn left(number: u64, time: Micros) -> RefLogEntry {
        let id = |number: u64| Some(CommitId::new(ObjectId::from_bytes([number as u8; 32])));
        RefLogEntry {
            name: RefName::new("main").unwrap(),
            number,
            kind: RefKind::Branch,
            old: id(number),
            new: id(number + 1),
            operation: RefOperation::Commit,
            principal: String::new(),
            request: None,
            run: None,
            time,
        }
    }

    #[test]
    fn heads_are_shown_up_to_their_number_and_age() {
        let now = 1_000_000_000;
        let log: Vec<_> = (0..=HEADS_MAX as u64).map(|number| left(number, now)).collect();
        assert_eq!(HEADS_MAX, 20);
        assert_eq!(recently_left(&log[..HEADS_MAX], now).len(), HEADS_MAX);
        assert_eq!(recently_left(&log, now).len(), HEADS_MAX);
        let oldest = now - 5 * 60 * 1_000_000;
        assert_eq!(recently_left(&[left(1, oldest)], now).len(), 1);
        assert_eq!(recently_left(&[left(1, oldest - 1)], now).len(), 0);
    }
}

//! The commit log.

use std::sync::Arc;

use lochan_storage_model::{Commit, CommitId};

use crate::{engine::Engine, error::Error};

/// A commit with its id.
#[derive(Debug, Clone)]
pub struct LogEntry {
    /// Its id.
    pub id: CommitId,
    /// The commit.
    pub commit: Arc<Commit>,
}

/// Commits along first parents, newest first.
pub struct Log {
    engine: Engine,
    at: CommitId,
}

impl Log {
    /// The next commit, or `None` behind the root.
    pub async fn next(&mut self) -> Result<Option<LogEntry>, Error> {
        if self.at.is_no_ancestor() {
            return Ok(None);
        }
        let id = self.at;
        let commit = self.engine.commits().load(id).await?;
        self.at = commit.header.parent();
        Ok(Some(LogEntry { id, commit }))
    }

    /// The commit that comes next; the empty state at the end.
    #[must_use]
    pub const fn position(&self) -> CommitId {
        self.at
    }
}

impl Engine {
    /// The log from `start` down to the root. A page at any depth starts at once where it begins.
    #[must_use]
    pub fn log(&self, start: CommitId) -> Log {
        Log { engine: self.clone(), at: start }
    }
}

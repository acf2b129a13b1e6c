//! The commit log.

use serde::{Deserialize, Serialize};

use crate::nessie::model::{CommitMetaV1, CommitMetaV2, OperationV1, OperationV2};

/// A page of the commit log, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LogResponse<E> {
    /// Whether another page exists.
    pub has_more: bool,
    /// Where the next page begins.
    pub token: Option<String>,
    /// The commits.
    pub log_entries: Vec<E>,
}

/// One commit of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LogEntry<M, O> {
    /// The commit's meta.
    pub commit_meta: M,
    /// The direct parent; the no-ancestor hash for a root commit.
    pub parent_commit_hash: Option<String>,
    /// Deletes, then puts, each in key order; null unless asked for, and null instead of empty.
    pub operations: Option<Vec<O>>,
}

/// A commit of the v1 log.
pub type LogEntryV1 = LogEntry<CommitMetaV1, OperationV1>;
/// A commit of the v2 log.
pub type LogEntryV2 = LogEntry<CommitMetaV2, OperationV2>;
/// A page of the v1 log.
pub type LogResponseV1 = LogResponse<LogEntryV1>;
/// A page of the v2 log.
pub type LogResponseV2 = LogResponse<LogEntryV2>;

impl From<LogEntryV2> for LogEntryV1 {
    fn from(entry: LogEntryV2) -> Self {
        Self {
            commit_meta: entry.commit_meta.into(),
            parent_commit_hash: entry.parent_commit_hash,
            operations: entry.operations.map(|all| all.into_iter().map(Into::into).collect()),
        }
    }
}

impl From<LogResponseV2> for LogResponseV1 {
    fn from(response: LogResponseV2) -> Self {
        Self {
            has_more: response.has_more,
            token: response.token,
            log_entries: response.log_entries.into_iter().map(Into::into).collect(),
        }
    }
}

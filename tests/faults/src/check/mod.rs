//! The checks: pure functions of what was recorded and what the restarted server says.

mod branch;
mod references;
mod setting;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use setting::setting;

use crate::record::{CommitHash, Event, Key, Model, Observed};

/// Something that must never be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// An acknowledged commit is not in the history of its branch.
    #[error("{branch}: acknowledged {id} ({hash}) is not in the history")]
    Lost {
        /// The branch.
        branch: String,
        /// The request.
        id: String,
        /// The hash that was acknowledged.
        hash: CommitHash,
    },
    /// A branch no longer has the commit it was at before the round.
    #[error("{branch}: the history no longer reaches {hash}")]
    HistoryCut {
        /// The branch.
        branch: String,
        /// Its head before the round.
        hash: CommitHash,
    },
    /// A commit does not name the next one of the log as its parent.
    #[error("{branch}: the parent of {hash} is not the next commit of the log")]
    BrokenChain {
        /// The branch.
        branch: String,
        /// The commit.
        hash: CommitHash,
    },
    /// A commit holds other puts or parents than were asked for.
    #[error("{branch}: {id} ({hash}) is not what was asked for: {text}")]
    NotWhole {
        /// The branch.
        branch: String,
        /// The request.
        id: String,
        /// The commit.
        hash: CommitHash,
        /// The difference.
        text: String,
    },
    /// A commit in the history that nobody asked for.
    #[error("{branch}: nobody asked for {hash} with message {message:?}")]
    Unasked {
        /// The branch.
        branch: String,
        /// The commit.
        hash: CommitHash,
        /// Its message.
        message: String,
    },
    /// A request that was applied twice, or under another hash than was acknowledged.
    #[error("{branch}: {id} is in the history as {hash}, too")]
    Twice {
        /// The branch.
        branch: String,
        /// The request.
        id: String,
        /// The commit that should not be there.
        hash: CommitHash,
    },
    /// A refused request that was applied all the same.
    #[error("{branch}: refused {id} is in the history as {hash}")]
    RefusedApplied {
        /// The branch.
        branch: String,
        /// The request.
        id: String,
        /// The commit.
        hash: CommitHash,
    },
    /// A commit that an acknowledged reset left behind is back.
    #[error("{branch}: acknowledged reset {id} is undone: {hash} is in the history")]
    ResetUndone {
        /// The branch.
        branch: String,
        /// The reset.
        id: String,
        /// A commit that it left behind.
        hash: CommitHash,
    },
    /// A table at a head does not show what the history says.
    #[error("{branch}: table {key} is at {found:?} instead of {expected:?}")]
    WrongTable {
        /// The branch.
        branch: String,
        /// The table.
        key: Key,
        /// What the history gives.
        expected: Option<i64>,
        /// What was read.
        found: Option<i64>,
    },
    /// A table at a single commit cannot be read as it was put.
    #[error("table {key} at {commit} is at {found:?} instead of {expected}")]
    WrongSample {
        /// The commit.
        commit: CommitHash,
        /// The table.
        key: Key,
        /// What was put.
        expected: i64,
        /// What was read.
        found: Option<i64>,
    },
    /// The setting is not what the writers were told.
    #[error("the setting: {text}")]
    WrongSetting {
        /// What is wrong.
        text: String,
    },
    /// A reference is neither at its last acknowledged state nor at one in flight.
    #[error("reference {name} is {found} instead of {expected}")]
    WrongReference {
        /// Its name.
        name: String,
        /// All states it may be in.
        expected: String,
        /// Its state.
        found: String,
    },
}

/// All violations of one round. Branches in `shared` have several writers; every other reference has one.
pub fn round(model: &Model, shared: &[&str], events: &[Event], observed: &Observed) -> Vec<Violation> {
    let mut violations = Vec::new();
    for branch in shared {
        branch::check(model, branch, events, observed, &mut violations);
    }
    references::check(model, shared, events, observed, &mut violations);
    for sample in &observed.samples {
        if sample.found != Some(sample.put.version) {
            violations.push(Violation::WrongSample {
                commit: sample.commit.clone(),
                key: sample.put.key.clone(),
                expected: sample.put.version,
                found: sample.found,
            });
        }
    }
    violations
}

/// State for the next round: what was read back, with the tables that the histories give.
pub fn next_model(model: &Model, shared: &[&str], observed: &Observed) -> Model {
    let versions =
        shared.iter().map(|branch| ((*branch).to_owned(), branch::replay(model, branch, observed))).collect();
    Model { references: observed.references.clone(), versions, setting: observed.setting.clone() }
}

/// Tables of a shared branch to be read at its head: all that a request of the round touched.
pub fn touched(branch: &str, events: &[Event]) -> BTreeSet<Key> {
    let of_branch = events.iter().filter(|e| e.action.reference() == branch);
    of_branch.flat_map(|e| e.action.puts().iter().map(|p| p.key.clone())).collect()
}

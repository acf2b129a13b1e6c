//! Merge and transplant: three steps, plan (a value), build (into the writer's batch or an overlay), publish.

mod decide;
mod gather;
mod pick;
mod plan;
mod rebase;
mod renames;
mod rules;
mod transplant;
mod unrelated;

#[cfg(test)]
mod reference_tests;
#[cfg(test)]
mod renames_tests;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use lochan_storage_model::{CommitId, CommitMeta, Conflict, Content, ContentKey, RefName};

use crate::{commit::GivenId, error::Error, writer::Who};

pub(crate) use plan::MergePlan;
pub use rebase::{Fate, REBASE_COMMITS_MAX, RebaseRequest, Rebased, RebasedCommit};
pub use rules::{Rule, RuleFn, RuleOutcome, Rules, Sides};
pub(crate) use transplant::TransplantPlan;

/// How a key is treated (Nessie API, 9.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Apply unless it conflicts.
    #[default]
    Normal,
    /// Apply, whatever the target holds.
    Force,
    /// Leave the target as it is.
    Drop,
}

/// Treatment of one key.
#[derive(Debug, Clone, Default)]
pub struct KeyBehavior {
    /// Its place among all: of several with something wrong, the one with the lowest is told.
    pub place: usize,
    /// How.
    pub mode: Mode,
    /// The value that the target must hold, instead of that at the base. It must have an id where the key is looked at.
    pub expected: Option<(GivenId, Content)>,
    /// Store this content instead of the source's. It must have an id where the source put something.
    pub resolved: Option<(GivenId, Content)>,
}

/// What both merge and transplant take.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Treatment of keys not named.
    pub default_mode: Mode,
    /// Treatment of single keys.
    pub keys: BTreeMap<ContentKey, KeyBehavior>,
    /// Whether a treatment is given for the key of no elements, which nothing can have.
    pub nameless: bool,
    /// A key that is named twice, as the client wrote it.
    pub twice: Option<String>,
    /// Nothing is applied.
    pub dry_run: bool,
}

impl Options {
    /// Fails when a key is named twice.
    pub fn check_keys(&self) -> Result<(), Error> {
        match &self.twice {
            Some(key) => Err(Error::BadRequest(format!("Duplicate key in keyMergeModes: {key}"))),
            None => Ok(()),
        }
    }

    /// The mode in force for a key.
    #[must_use]
    pub fn mode_of(&self, key: &ContentKey) -> Mode {
        self.keys.get(key).map_or(self.default_mode, |behavior| behavior.mode)
    }
}

/// A merge asked for.
#[derive(Debug, Clone)]
pub struct MergeRequest {
    /// The target.
    pub branch: RefName,
    /// State of the target that the client has seen.
    pub expected: CommitId,
    /// The source commit.
    pub from: CommitId,
    /// Name of the reference that the source is looked up on, if any.
    pub source: Option<RefName>,
    /// Whether the empty state always serves as merge base where both share no commit; else only where the logs of both
    /// references do not say that one came into being when the other had commits already.
    pub unrelated: bool,
    /// Modes and dry run.
    pub options: Options,
    /// Metadata of the merge commit, message included.
    pub meta: CommitMeta,
    /// Who asks.
    pub who: Who,
}

/// A transplant asked for.
#[derive(Debug, Clone)]
pub struct TransplantRequest {
    /// The target.
    pub branch: RefName,
    /// State of the target that the client has seen.
    pub expected: CommitId,
    /// Source commits, oldest first, each the first parent of the next.
    pub commits: Vec<CommitId>,
    /// Modes and dry run.
    pub options: Options,
    /// Replaces parts of the source's metadata; honoured for exactly one commit.
    pub overrides: MetaOverrides,
    /// Who asks.
    pub who: Who,
}

/// Parts of a commit's metadata that replace those of the source; empty ones leave it (Nessie API, 9.5).
#[derive(Debug, Clone, Default)]
pub struct MetaOverrides {
    /// The message.
    pub message: Option<String>,
    /// The authors.
    pub authors: Vec<String>,
    /// The signed-off-by lines.
    pub signed_off_by: Vec<String>,
    /// All properties.
    pub properties: BTreeMap<String, Vec<String>>,
}

/// What became of one key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// The key.
    pub key: ContentKey,
    /// The mode in force.
    pub mode: Mode,
    /// The conflict, if it has one.
    pub conflict: Option<Conflict>,
}

/// What became of a merge or transplant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// A new head was written.
    pub applied: bool,
    /// No conflict.
    pub successful: bool,
    /// The head after the call; `None` for dry runs and conflicts.
    pub result: Option<CommitId>,
    /// The merge base; `None` for transplants.
    pub base: Option<CommitId>,
    /// The head that the work was based on.
    pub on: CommitId,
    /// Every key applied, dropped by its mode or in conflict, in key order.
    pub details: Vec<Detail>,
    /// Conflicts of the system map; a merge with any is not applied.
    pub system_conflicts: Vec<Conflict>,
}

//! Making the commits of a branch again on top of another reference.

use lochan_storage_engine::merge::RebaseRequest;
pub use lochan_storage_engine::merge::{Fate, Options, REBASE_COMMITS_MAX, Rebased, RebasedCommit};
use lochan_storage_model::{CommitId, Conflict};

use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
    nessie::{merge::conflicts_of, touched},
};

/// A rebase asked for.
#[derive(Debug, Clone)]
pub struct Rebase {
    /// The branch.
    pub branch: String,
    /// Its head, as the caller has seen it.
    pub expected: CommitId,
    /// The reference to rebase on.
    pub onto: String,
    /// Its head, as the caller has seen it.
    pub onto_expected: CommitId,
    /// Modes and dry run.
    pub options: Options,
    /// Whether conflicts are part of the answer instead of an error.
    pub return_conflicts: bool,
}

impl Catalog {
    /// Rebases a branch: its commits made again and the branch set there, or nothing.
    pub async fn rebase(&self, who: &Principal, rebase: Rebase) -> Result<Rebased, Error> {
        let branch = self.find_reference(&rebase.branch).await?.name;
        let onto = self.find_reference(&rebase.onto).await?.name;
        let check = Check::on(Access::Commit, Some(&branch))
            .and(Access::AssignReference, Some(&branch))
            .and(Access::ViewReference, Some(&onto));
        let touched = if self.is_open() {
            Vec::new()
        } else {
            let commits = self.engine().commits_to_rebase(rebase.expected, rebase.onto_expected).await?;
            touched::by_commits(self, &commits, &rebase.options).await?
        };
        self.authorize(who, &touched::add(check, &branch, touched)).await?;
        let request = RebaseRequest {
            branch,
            expected: rebase.expected,
            onto,
            onto_expected: rebase.onto_expected,
            options: rebase.options,
            who: who.who(),
        };
        let rebased = self.engine().rebase(request).await?;
        // What the system map says has no place in an answer, so it is always an error.
        if rebased.successful || (rebase.return_conflicts && rebased.system_conflicts.is_empty()) {
            return Ok(rebased);
        }
        let conflicts: Vec<Conflict> =
            rebased.details.iter().filter_map(|detail| detail.conflict.clone()).collect();
        Err(conflicts_of(conflicts, rebased.system_conflicts))
    }
}

//! Making the commits of a branch again on top of another reference.

use lochan_storage_engine::merge::RebaseRequest;
pub use lochan_storage_engine::merge::{Fate, Options, REBASE_COMMITS_MAX, Rebased, RebasedCommit};
use lochan_storage_model::{CommitId, Conflict, RefName};

use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
    nessie::{Point, merge::conflicts_of, touched},
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
        let [asked, asked_onto] =
            [&rebase.branch, &rebase.onto].map(|name| Point::head(name.as_str()).ref_name());
        let check = Check::on(Access::Commit, asked.as_ref())
            .and(Access::AssignReference, asked.as_ref())
            .and(Access::ViewReference, asked_onto.as_ref());
        let (branch, onto) = self.found(who, &check, self.find_rebase(&rebase).await).await?;
        let touched = if self.is_open() {
            Vec::new()
        } else {
            let commits = self.engine().commits_to_rebase(rebase.expected, rebase.onto_expected).await?;
            touched::by_commits(self, &commits, &rebase.options).await?
        };
        self.authorize_read(who, &touched::add(check.clone(), &branch, touched), &check).await?;
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

    /// The branch and the reference to rebase it on.
    async fn find_rebase(&self, rebase: &Rebase) -> Result<(RefName, RefName), Error> {
        let branch = self.find_reference(&rebase.branch).await?.name;
        Ok((branch, self.find_reference(&rebase.onto).await?.name))
    }
}

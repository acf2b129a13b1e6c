//! Transplants: commits of elsewhere, repeated on a branch.

pub use lochan_storage_engine::merge::MetaOverrides;
use lochan_storage_engine::merge::{Options, TransplantRequest};

use super::{
    Point,
    merge::{Merged, judge},
    touched,
};
use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
};

/// Most commits of one transplant.
pub const COMMITS_MAX: usize = 10_000;

/// A transplant asked for.
#[derive(Debug, Clone)]
pub struct Transplant {
    /// The target branch and the state that the client has seen of it.
    pub target: Point,
    /// Name of the reference that the commits are looked up on; `None` for detached commits.
    pub from: Option<String>,
    /// The commits, oldest first; each must name its commit outright.
    pub commits: Vec<Point>,
    /// Modes and dry run.
    pub options: Options,
    /// What replaces the source's metadata where exactly one commit is transplanted.
    pub overrides: MetaOverrides,
    /// Whether conflicts are part of the answer instead of an error.
    pub return_conflicts: bool,
}

impl Catalog {
    /// Repeats commits on a branch.
    pub async fn transplant(&self, who: &Principal, transplant: Transplant) -> Result<Merged, Error> {
        if transplant.commits.len() > COMMITS_MAX {
            return Err(Error::BadRequest(format!(
                "At most {COMMITS_MAX} commits can be transplanted at once."
            )));
        }
        let source = match &transplant.from {
            Some(name) => Some(self.find_reference(name).await?.name),
            None => None,
        };
        let mut commits = Vec::with_capacity(transplant.commits.len());
        for point in &transplant.commits {
            commits.push(self.resolve_pinned(point, "Hash to transplant").await?.commit);
        }
        let target = self.resolve_target(&transplant.target, "transplant into").await?;
        let check =
            Check::on(Access::Commit, Some(&target.branch.name)).and(Access::ViewReference, source.as_ref());
        let touched = touched::by_commits(self, &commits).await?;
        let check = touched::add(check, &target.branch.name, &transplant.options, touched);
        self.authorize(who, &check).await?;
        let (branch, expected) = (target.branch.name, target.expected);
        let request = TransplantRequest {
            branch: branch.clone(),
            expected,
            commits,
            options: transplant.options,
            overrides: transplant.overrides,
            who: who.who(),
        };
        let outcome = self.engine().transplant(request).await?;
        judge(Merged { branch, expected, outcome }, transplant.return_conflicts)
    }
}

//! Transplants: commits of elsewhere, repeated on a branch.

pub use lochan_storage_engine::merge::MetaOverrides;
use lochan_storage_engine::merge::{Options, TransplantRequest};
use lochan_storage_model::{CommitId, RefName};

use super::{
    Hash, Point,
    merge::{Merged, judge},
    point::Target,
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
        let check = self.check_transplant(&transplant).await?;
        let found = self.find_transplant(&transplant).await;
        let (commits, target) = self.found(who, &check, found).await?;
        let touched = touched::by_commits(self, &commits, &transplant.options).await?;
        let of_keys = touched::add(check.clone(), &target.branch.name, touched);
        self.authorize_read(who, &of_keys, &check).await?;
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

    /// The commits and the branch they are to be repeated on.
    async fn find_transplant(&self, transplant: &Transplant) -> Result<(Vec<CommitId>, Target), Error> {
        if let Some(name) = &transplant.from {
            self.find_reference(name).await?;
        }
        // The last one before the target, the others behind it, and that they exist at the end: as the reference server asks.
        const WHAT: &str = "Hash to transplant";
        let Some((last, others)) = transplant.commits.split_last() else {
            return Err(Error::BadRequest("No hashes to transplant given.".into()));
        };
        let last = self.find_source(last, WHAT).await?;
        let target = self.find_target(&transplant.target, "transplant into").await?;
        let mut sources = Vec::with_capacity(transplant.commits.len());
        for point in others {
            sources.push(self.find_source(point, WHAT).await?);
        }
        sources.push(last);
        transplant.options.check_keys()?;
        self.check_on_branch(&target).await?;
        Ok((self.all_existing(&sources).await?, target))
    }

    /// That each of these commits exists. Of several that do not, all are told.
    async fn all_existing(&self, sources: &[Hash]) -> Result<Vec<CommitId>, Error> {
        let mut commits = Vec::with_capacity(sources.len());
        let mut missing = Vec::new();
        for source in sources {
            match self.existing(source).await {
                Ok(commit) if commit.is_no_ancestor() => {
                    missing.push((source, source.not_found().to_string()))
                }
                Ok(commit) => commits.push(commit),
                Err(Error::ReferenceNotFound(message)) => missing.push((source, message)),
                Err(other) => return Err(other),
            }
        }
        match missing.as_slice() {
            [] => Ok(commits),
            [(_, message)] => Err(Error::ReferenceNotFound(message.clone())),
            several => {
                let names: Vec<String> = several.iter().map(|(source, _)| format!("'{source}'")).collect();
                Err(Error::ReferenceNotFound(format!("Could not find commits {}.", names.join(", "))))
            }
        }
    }

    /// Asks about the branch, and about every state that commits are taken from.
    async fn check_transplant(&self, transplant: &Transplant) -> Result<Check, Error> {
        let check = Check::on(Access::Commit, transplant.target.ref_name().as_ref());
        let named = transplant.from.as_ref().map(|name| Point::head(name.as_str()));
        let mut sources: Vec<Option<RefName>> = named.iter().map(Point::ref_name).collect();
        for point in transplant.commits.iter().filter(|_| !self.is_open()) {
            let name = point.name.clone().or_else(|| transplant.from.clone());
            let rights = self.rights_on(&Point { name, ..point.clone() }, None).await?;
            if !sources.contains(&rights) {
                sources.push(rights);
            }
        }
        Ok(sources.iter().fold(check, |check, source| check.and(Access::ViewReference, source.as_ref())))
    }
}

//! Points in history as Nessie requests name them: looked up for reading, for writing, and as targets.

pub use lochan_storage_engine::graph::Relative;
use lochan_storage_engine::state::State;
use lochan_storage_model::{CommitId, RefName};
use lochan_storage_odb::{RefKind, Reference};

use crate::{catalog::Catalog, error::Error, point::Effective};

/// A commit as written. Fewer than 64 digits are no abbreviation: they name a commit that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hash {
    /// The id of a commit, existing or not.
    Id(CommitId),
    /// Digits that are the id of no commit.
    Short(String),
}

impl Hash {
    pub(crate) fn not_found(&self) -> Error {
        Error::ReferenceNotFound(format!("Commit '{self}' not found"))
    }

    fn id(&self) -> Result<CommitId, Error> {
        self.check()?;
        match self {
            Self::Id(id) => Ok(*id),
            Self::Short(_) => Err(self.not_found()),
        }
    }

    /// Whether the digits make up whole bytes.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self {
            Self::Short(text) if text.len() % 2 == 1 => Err(Error::BadRequest(format!(
                "hash length needs to be a multiple of two, was {}",
                text.len()
            ))),
            _ => Ok(()),
        }
    }
}

impl std::fmt::Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Short(text) => f.write_str(text),
        }
    }
}

/// A reference or nothing, a commit or its head, then relative parts (Nessie API, 2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Point {
    /// Name as written; `None` for a detached commit. The default branch's alias is resolved by the adapter.
    pub name: Option<String>,
    /// The commit to start from; without it the head.
    pub hash: Option<Hash>,
    /// Relative parts, left to right.
    pub parts: Vec<Part>,
}

/// A relative part as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A step.
    Step(Relative),
    /// One of the right shape with a value that cannot be. It is refused in these words once the reference and the commit to
    /// start from are known.
    Impossible(String),
}

impl Point {
    /// The head of a reference.
    #[must_use]
    pub fn head(name: impl Into<String>) -> Self {
        Self { name: Some(name.into()), ..Self::default() }
    }

    /// Whether it names more than a reference.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.hash.is_some() || !self.parts.is_empty()
    }

    /// The name for questions about access; `None` for what no reference can be called.
    pub(crate) fn ref_name(&self) -> Option<RefName> {
        self.name.as_deref().and_then(|name| RefName::new(name).ok())
    }

    /// The relative parts as steps.
    pub(crate) fn steps(&self) -> Result<Vec<Relative>, Error> {
        let step = |part: &Part| match part {
            Part::Step(step) => Ok(*step),
            Part::Impossible(message) => Err(Error::BadRequest(message.clone())),
        };
        self.parts.iter().map(step).collect()
    }

    /// Whether hash and relative parts can be at all. This is told after the reference is found, and before what is missing.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if let Some(hash) = &self.hash {
            hash.check()?;
        }
        self.steps().map(drop)
    }

    /// The commit to start from, which must be given. `what` names it in the answer otherwise.
    pub(crate) fn start(&self, what: &str) -> Result<&Hash, Error> {
        match &self.hash {
            Some(hash) => Ok(hash),
            None if self.parts.is_empty() => Err(Error::BadRequest(format!("{what} must be provided."))),
            None => Err(Error::BadRequest(format!("{what} must contain a starting commit ID."))),
        }
    }
}

/// The branch that a request writes to, and the state that its client has seen.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    /// The branch.
    pub(crate) branch: Reference,
    /// The head or an ancestor of it.
    pub(crate) expected: CommitId,
}

impl Catalog {
    /// Resolves a point for reading: the reference must exist; a commit need not lie on it (Nessie API, 2.4). `what`
    /// names the commit in answers about its absence.
    pub(crate) async fn resolve_point(&self, point: &Point, what: &str) -> Result<Effective, Error> {
        let reference = match &point.name {
            Some(name) => Some(self.find_reference(name).await?),
            None => None,
        };
        point.check()?;
        let start = match (&point.hash, &reference) {
            (None, Some(reference)) => reference.target,
            _ => point.start(what)?.id()?,
        };
        if point.parts.is_empty() {
            // Where a reference points always exists; whether a plain commit does is found when its state is opened.
            return Ok(Effective { reference, commit: start });
        }
        let commit = self.engine().commits().resolve(start, &point.steps()?).await?;
        Ok(Effective { reference, commit })
    }

    /// The reference that rights are asked on for reading a point, or `at` instead, which a page token brings: the one
    /// named, or none for a state that does not lie in its history.
    pub(crate) async fn rights_on(
        &self,
        point: &Point,
        at: Option<CommitId>,
    ) -> Result<Option<RefName>, Error> {
        let named = point.ref_name();
        if self.is_open() || (at.is_none() && !point.is_pinned()) {
            return Ok(named);
        }
        // What cannot be resolved is told to those who may know of the reference.
        let Ok(found) = self.resolve_point(point, "Hash").await else { return Ok(named) };
        if self.existing(&Hash::Id(found.commit)).await.is_err() {
            return Ok(named);
        }
        match &found.reference {
            Some(reference) => self.rights_at(reference, at.unwrap_or(found.commit)).await,
            None => Ok(None),
        }
    }

    /// Resolves a point for reading and opens the state there.
    pub(crate) async fn open(&self, point: &Point, what: &str) -> Result<(Effective, State), Error> {
        let effective = self.resolve_point(point, what).await?;
        let state = self.engine().at(effective.commit).await?;
        Ok((effective, state))
    }

    /// Resolves a point that must name its commit outright (targets of references, sources of merges).
    pub(crate) async fn resolve_pinned(&self, point: &Point, what: &str) -> Result<Effective, Error> {
        let reference = match &point.name {
            Some(name) => Some(self.find_reference(name).await?),
            None => None,
        };
        point.check()?;
        let start = point.start(what)?.id()?;
        let commit = self.engine().commits().resolve(start, &point.steps()?).await?;
        Ok(Effective { reference, commit })
    }

    /// Resolves a point that commits are taken from, which must name its commit outright. That a plain commit exists is looked
    /// at last, after the target: until then the hash stands for it.
    pub(crate) async fn find_source(&self, point: &Point, what: &str) -> Result<Hash, Error> {
        if let Some(name) = &point.name {
            self.find_reference(name).await?;
        }
        point.check()?;
        let start = point.start(what)?;
        if point.parts.is_empty() {
            return Ok(start.clone());
        }
        Ok(Hash::Id(self.engine().commits().resolve(start.id()?, &point.steps()?).await?))
    }

    /// The commit that [`Catalog::find_source`] has found, once its existence is to be looked at.
    pub(crate) async fn existing(&self, source: &Hash) -> Result<CommitId, Error> {
        Ok(self.engine().commits().resolve(source.id()?, &[]).await?)
    }

    /// Resolves the branch to write to, with the checks of the Nessie API, 5.4, in their order, but for the last one:
    /// [`Catalog::check_on_branch`], which the engine makes too when it plans. `deed` completes "Reference to … must be a
    /// branch."
    pub(crate) async fn find_target(&self, point: &Point, deed: &str) -> Result<Target, Error> {
        let no_branch = || Error::BadRequest(format!("Reference to {deed} must be a branch."));
        let branch = match &point.name {
            Some(name) => self.find_reference(name).await?,
            None => {
                point.check()?;
                return Err(no_branch());
            }
        };
        point.check()?;
        if branch.kind != RefKind::Branch {
            return Err(no_branch());
        }
        let start = point.start("Expected hash")?;
        let expected = match start {
            Hash::Short(text) if point.parts.is_empty() => return Err(not_on_branch(text, &branch.name)),
            start if point.parts.is_empty() => start.id()?,
            start => self.engine().commits().resolve(start.id()?, &point.steps()?).await?,
        };
        Ok(Target { branch, expected })
    }

    /// Whether the state that the client has seen is one of the branch.
    pub(crate) async fn check_on_branch(&self, Target { branch, expected }: &Target) -> Result<(), Error> {
        if self.engine().commits().is_ancestor(*expected, branch.target).await? {
            return Ok(());
        }
        Err(not_on_branch(expected, &branch.name))
    }
}

fn not_on_branch(shown: &dyn std::fmt::Display, name: &RefName) -> Error {
    Error::ReferenceNotFound(format!("Could not find commit '{shown}' in reference '{name}'."))
}

//! Points in history as requests name them, and what they resolve to.

use lochan_storage_engine::graph::Relative;
use lochan_storage_model::{CommitId, RefName};
use lochan_storage_odb::{RefKind, Reference};

use crate::{catalog::Catalog, error::Error};

/// A point in history: a reference or nothing, a commit or its head, then relative parts (Nessie API, 2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefPoint {
    /// Name as written; `None` for a detached commit. `-` and the like are resolved by the adapter beforehand.
    pub name: Option<String>,
    /// Absolute commit.
    pub hash: Option<CommitId>,
    /// Relative parts, left to right.
    pub parts: Vec<Relative>,
}

impl RefPoint {
    /// The head of a reference.
    #[must_use]
    pub fn head(name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..Self::default() }
    }

    /// A detached commit.
    #[must_use]
    pub fn detached(hash: CommitId) -> Self {
        Self { hash: Some(hash), ..Self::default() }
    }

    /// Whether it names more than a reference.
    #[must_use]
    pub fn is_pinned(&self) -> bool {
        self.hash.is_some() || !self.parts.is_empty()
    }
}

/// What an effective reference is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointKind {
    /// A branch.
    Branch,
    /// A tag.
    Tag,
    /// A commit without a reference.
    Detached,
}

/// What was really read: the reference and the commit after resolving everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effective {
    /// The reference with its head at that moment; `None` for a detached commit.
    pub reference: Option<Reference>,
    /// The commit.
    pub commit: CommitId,
}

impl Effective {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> PointKind {
        match self.reference.as_ref().map(|reference| reference.kind) {
            Some(RefKind::Branch) => PointKind::Branch,
            Some(RefKind::Tag) => PointKind::Tag,
            None => PointKind::Detached,
        }
    }

    /// The name of the reference.
    #[must_use]
    pub fn name(&self) -> Option<&RefName> {
        self.reference.as_ref().map(|reference| &reference.name)
    }
}

impl Catalog {
    /// The reference of a name as written, or 404 with the words of the Nessie API.
    pub async fn find_reference(&self, name: &str) -> Result<Reference, Error> {
        let not_found = || Error::ReferenceNotFound(format!("Named reference '{name}' not found"));
        let ref_name = RefName::new(name).map_err(|_| not_found())?;
        self.engine().find_reference(&ref_name).await?.ok_or_else(not_found)
    }

    /// Resolves a point for reading: the reference must exist; a commit need not lie on it (Nessie API, 2.4).
    pub async fn resolve(&self, point: &RefPoint) -> Result<Effective, Error> {
        let reference = match &point.name {
            Some(name) => Some(self.find_reference(name).await?),
            None => None,
        };
        let start = match (point.hash, &reference) {
            (Some(hash), _) => hash,
            (None, Some(reference)) => reference.target,
            (None, None) => {
                return Err(Error::BadRequest("a reference name or a commit must be given".into()));
            }
        };
        let commit = self.engine().commits().resolve(start, &point.parts).await?;
        Ok(Effective { reference, commit })
    }

    /// The reference whose rights count for reading a state that was reached through it: none where the state does not
    /// lie in its history. A hash may stand beside any name, and must not borrow that name's rights.
    pub(crate) async fn rights_at(
        &self,
        reference: &Reference,
        commit: CommitId,
    ) -> Result<Option<RefName>, Error> {
        let lies_in_it =
            self.is_open() || self.engine().commits().is_ancestor(commit, reference.target).await?;
        Ok(lies_in_it.then(|| reference.name.clone()))
    }
}

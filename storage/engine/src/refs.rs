//! References: reading, creating, assigning, deleting, and their log.

mod restore;

use lochan_storage_model::{CommitId, RefName};
use lochan_storage_odb::{
    ExpectedReference, LogMeta, NewObject, RecordChange, RefKind, RefLogEntry, RefOperation, Reference,
    ReferenceChange, Requirement,
};

use crate::{
    engine::Engine,
    error::Error,
    writer::{Admission, BUSY_RETRY_AFTER, Job, Who},
};

pub use restore::{Deed, Restoration, Restored, Side};

/// Log entries among which the creator of a reference looks for its own.
const CREATED_WITHIN_MAX: usize = 16;

/// Times that a change of a reference is tried again because others have changed its kind meanwhile.
const KIND_CHANGES_MAX: usize = 4;

/// How a reference relates to the default branch (Nessie API, 4.1, ReferenceMetadata).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distance {
    /// Commits on the reference above the common ancestor.
    pub ahead: u64,
    /// Commits on the default branch above the common ancestor.
    pub behind: u64,
    /// Nearest common commit along first parents; the empty state if there is none.
    pub common: CommitId,
}

impl Engine {
    /// The reference, or [`Error::ReferenceNotFound`].
    pub async fn reference(&self, name: &RefName) -> Result<Reference, Error> {
        self.core.reference(name).await
    }

    /// The reference, or `None`.
    pub async fn find_reference(&self, name: &RefName) -> Result<Option<Reference>, Error> {
        Ok(self.core.store.reference(name).await?)
    }

    /// At most `limit` references after `after`, by name, branches and tags mixed.
    pub async fn references(&self, after: Option<&RefName>, limit: usize) -> Result<Vec<Reference>, Error> {
        Ok(self.core.store.references(after, limit).await?)
    }

    /// At most `limit` log entries of a name, newest first, numbers below `before` if given.
    pub async fn ref_log(
        &self,
        name: &RefName,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<RefLogEntry>, Error> {
        Ok(self.core.store.ref_log(name, before, limit).await?)
    }

    /// Creates a reference. Fails with [`Error::CommitNotFound`] or [`Error::ReferenceExists`].
    pub async fn create_reference(
        &self,
        name: &RefName,
        kind: RefKind,
        target: CommitId,
        who: Who,
    ) -> Result<Reference, Error> {
        self.must_exist(target).await?;
        let admission = who.admission.clone();
        let change =
            self.change(name, ExpectedReference::Absent, Some((kind, target)), RefOperation::Create, who);
        match self.move_reference(&admission, change).await {
            Err(Error::ReferenceMoved(_)) => Err(Error::ReferenceExists(name.clone())),
            other => other,
        }?;
        // Others may have moved or deleted it already: what this call has made stands in the log.
        let log = self.ref_log(name, None, CREATED_WITHIN_MAX).await?;
        let own =
            log.iter().find(|entry| entry.operation == RefOperation::Create && entry.new == Some(target));
        let number = own.or(log.first()).map_or(0, |entry| entry.number);
        Ok(Reference { name: name.clone(), kind, target, number })
    }

    /// Sets a reference to another commit, if it is at `expected`. Fails with [`Error::UnexpectedHash`],
    /// [`Error::CommitNotFound`] or [`Error::ReferenceNotFound`]. Returns the reference as it was.
    pub async fn assign_reference(
        &self,
        name: &RefName,
        expected: CommitId,
        target: CommitId,
        who: Who,
    ) -> Result<Reference, Error> {
        let found = self.expect_at(name, expected).await?;
        self.must_exist(target).await?;
        self.move_from(found, |kind| Some((kind, target)), RefOperation::Assign, who).await
    }

    /// Deletes a reference, if it is at `expected`. Fails like [`Engine::assign_reference`]. Returns it as it was.
    pub async fn delete_reference(
        &self,
        name: &RefName,
        expected: CommitId,
        who: Who,
    ) -> Result<Reference, Error> {
        let found = self.expect_at(name, expected).await?;
        self.move_from(found, |_| None, RefOperation::Delete, who).await
    }

    /// Distance of `commit` from `default`, along first parents only.
    pub async fn distance(&self, commit: CommitId, default: CommitId) -> Result<Distance, Error> {
        let commits = &self.core.commits;
        let (own, other) = (commits.depth(commit).await?, commits.depth(default).await?);
        // Both chains are equal from some depth down: search for it by halves.
        let (mut equal, mut differs) = (0, own.min(other) + 1);
        while differs - equal > 1 {
            let middle = equal + (differs - equal) / 2;
            let same =
                commits.ancestor_at(commit, middle).await? == commits.ancestor_at(default, middle).await?;
            if same { equal = middle } else { differs = middle }
        }
        let common = commits.ancestor_at(commit, equal).await?;
        Ok(Distance { ahead: own - equal, behind: other - equal, common })
    }

    pub(crate) async fn must_exist(&self, target: CommitId) -> Result<(), Error> {
        if !target.is_no_ancestor() {
            self.core.commits.load(target).await?;
        }
        Ok(())
    }

    pub(crate) async fn expect_at(&self, name: &RefName, expected: CommitId) -> Result<Reference, Error> {
        let found = self.reference(name).await?;
        if found.target == expected { Ok(found) } else { Err(Error::UnexpectedHash { expected, found }) }
    }

    pub(crate) fn change(
        &self,
        name: &RefName,
        expected: ExpectedReference,
        new: Option<(RefKind, CommitId)>,
        operation: RefOperation,
        who: Who,
    ) -> ReferenceChange {
        let Who { principal, request, run, admission: _ } = who;
        let log = LogMeta { operation, principal, request, run, time: self.now() };
        ReferenceChange { name: name.clone(), expected, new, log }
    }

    async fn move_reference(&self, admission: &Admission, change: ReferenceChange) -> Result<(), Error> {
        self.change_references(admission, vec![change], Vec::new(), Vec::new(), Vec::new()).await
    }

    /// Has the writer change references, with what belongs to it, all or nothing. The first one's name decides the lane.
    pub(crate) async fn change_references(
        &self,
        admission: &Admission,
        references: Vec<ReferenceChange>,
        requires: Vec<Requirement>,
        objects: Vec<NewObject>,
        records: Vec<RecordChange>,
    ) -> Result<(), Error> {
        self.check_writes()?;
        let job = |reply| Job::Refs { references, requires, objects, records, reply };
        self.writer.ask(admission, job).await.map(drop)
    }

    /// Moves a reference from where it was found, whatever kind it has by then, to what `new` makes of its kind. Returns it
    /// as it was.
    async fn move_from(
        &self,
        mut found: Reference,
        new: impl Fn(RefKind) -> Option<(RefKind, CommitId)>,
        operation: RefOperation,
        who: Who,
    ) -> Result<Reference, Error> {
        let expected = found.target;
        for _ in 0..KIND_CHANGES_MAX {
            let before = ExpectedReference::At(found.kind, expected);
            let change = self.change(&found.name, before, new(found.kind), operation, who.clone());
            match self.move_reference(&who.admission, change).await {
                Ok(()) => return Ok(found),
                // Deleted and made again as the other kind, at this very commit: it is where it was expected.
                Err(Error::ReferenceMoved(now)) if now.target == expected && now.kind != found.kind => {
                    found = now;
                }
                Err(Error::ReferenceMoved(found)) => return Err(Error::UnexpectedHash { expected, found }),
                Err(other) => return Err(other),
            }
        }
        Err(Error::Busy { retry_after: BUSY_RETRY_AFTER })
    }
}

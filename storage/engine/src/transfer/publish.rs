//! References that appear together.

use lochan_storage_model::{CommitId, RefName};
use lochan_storage_odb::{
    Batch, Change, ExpectedReference, RecordChange, RefKind, RefOperation, ReferenceChange,
};

use crate::{engine::Engine, error::Error, writer::Who};

/// A reference to appear, or to move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Its name.
    pub name: RefName,
    /// What it must be at that moment.
    pub expected: ExpectedReference,
    /// Branch or tag.
    pub kind: RefKind,
    /// Where it points from then on.
    pub target: CommitId,
}

impl Engine {
    /// Makes or moves references, and changes records with them, all or nothing. Fails with [`Error::ReferenceMoved`],
    /// [`Error::ReferenceNotFound`] or [`Error::RecordChanged`] when something is not in its expected state.
    pub async fn publish_references(
        &self,
        references: Vec<Published>,
        records: Vec<RecordChange>,
        who: Who,
    ) -> Result<(), Error> {
        for reference in &references {
            self.must_exist(reference.target).await?;
        }
        if references.is_empty() {
            self.check_writes()?;
            let change = Change { records, ..Change::default() };
            let outcome = self.core.store.commit(Batch { changes: vec![change] }).await?;
            return if outcome.refused.is_empty() { Ok(()) } else { Err(Error::RecordChanged) };
        }
        let changes: Vec<ReferenceChange> = references
            .into_iter()
            .map(|Published { name, expected, kind, target }| {
                self.change(&name, expected, Some((kind, target)), RefOperation::Import, who.clone())
            })
            .collect();
        self.change_references(&who.admission, changes, Vec::new(), Vec::new(), records).await
    }
}

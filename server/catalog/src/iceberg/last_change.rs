//! The commit that last changed a table.

use lochan_storage_model::{CommitId, ContentKey, ObjectId, ObjectKind, RefName};

use super::Iceberg;
use crate::error::Error;

impl Iceberg<'_> {
    /// The newest commit at or below `at` that changed the key, which holds `location` there. Remembered per reference;
    /// what is remembered counts only where it lies in the history of `at`.
    pub(crate) async fn last_change(
        &self,
        reference: Option<&RefName>,
        key: &ContentKey,
        location: &str,
        at: CommitId,
    ) -> Result<CommitId, Error> {
        let memory = &self.documents().last_changes;
        let place = place(reference, key, location);
        if let Some(known) = memory.get(&place)
            && self.engine().commits().is_ancestor(known, at).await?
        {
            return Ok(known);
        }
        let found = self.engine().key_history(at, &key.index_key(), 1).await?;
        // A key that stands in an index was put there by some commit; without one nothing better can be said.
        let last = found.first().map_or(at, |entry| entry.id);
        memory.insert(place, last);
        Ok(last)
    }

    /// Remembers a change just made.
    pub(crate) fn note_change(&self, branch: &RefName, key: &ContentKey, location: &str, commit: CommitId) {
        self.documents().last_changes.insert(place(Some(branch), key, location), commit);
    }
}

fn place(reference: Option<&RefName>, key: &ContentKey, location: &str) -> [u8; 32] {
    let mut bytes = Vec::with_capacity(256);
    bytes.extend_from_slice(reference.map_or("", RefName::as_str).as_bytes());
    bytes.push(0);
    bytes.extend_from_slice(key.index_key().as_bytes());
    bytes.push(0);
    bytes.extend_from_slice(location.as_bytes());
    *ObjectId::of(ObjectKind::Attachment, &bytes).as_bytes()
}

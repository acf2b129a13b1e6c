//! What a repository needs before the first request.

use bytes::Bytes;
use lochan_storage_engine::Error as EngineError;
use lochan_storage_model::{CommitId, Micros};
use lochan_storage_odb::{Batch, Change, ExpectedRecord, RecordChange, RecordSpace, RefKind};
use serde::{Deserialize, Serialize};

use crate::{access::Principal, catalog::Catalog, error::Error};

/// Key of the record about the repository itself.
const ABOUT: &[u8] = b"about";

/// References named where the default branch is missing.
const REFERENCES_SHOWN: usize = 5;

/// The record about the repository itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Identity of the repository.
    pub id: String,
    /// When it was made, in microseconds since 1970.
    pub created_us: Micros,
}

impl Catalog {
    /// Makes the repository ready: says when it was made, and creates the default branch, empty, where there is no
    /// reference at all. Does nothing the second time.
    ///
    /// Errors: [`Error::BadRequest`] where there are references and none is the default branch. It would be announced to
    /// clients, and nobody could be kept from deleting the one that was the default before.
    pub async fn prepare(&self) -> Result<(), Error> {
        if self.about().await?.is_none() {
            let about =
                About { id: self.engine().rng().content_id().to_string(), created_us: self.engine().now() };
            let value = serde_json::to_vec(&about).map_err(|error| Error::Internal(error.into()))?;
            let change = RecordChange {
                space: RecordSpace::Repository,
                key: Bytes::from_static(ABOUT),
                expected: ExpectedRecord::Absent,
                value: Some(value.into()),
            };
            // Where it is refused, another server was faster.
            self.change_record(change).await?;
        }
        let name = self.settings().default_branch.clone();
        let there = self.engine().references(None, REFERENCES_SHOWN).await?;
        if there.is_empty() {
            let who = Principal::default().who();
            match self.engine().create_reference(&name, RefKind::Branch, CommitId::NO_ANCESTOR, who).await {
                Ok(_) | Err(EngineError::ReferenceExists(_)) => {}
                Err(error) => return Err(error.into()),
            }
        } else if self.engine().find_reference(&name).await?.is_none_or(|found| found.kind != RefKind::Branch)
        {
            let there: Vec<String> = there.iter().map(|found| format!("'{}'", found.name)).collect();
            return Err(Error::BadRequest(format!(
                "the default branch '{name}' does not exist; the repository holds {}{}: the setting \
                 'catalog.default_branch' names the branch that a new one begins with, and a branch that is there later",
                there.join(", "),
                if there.len() == REFERENCES_SHOWN { " …" } else { "" }
            )));
        }
        Ok(())
    }

    /// Changes a record on its own; false when it is not in the expected state.
    pub(crate) async fn change_record(&self, record: RecordChange) -> Result<bool, Error> {
        let change = Change { records: vec![record], ..Change::default() };
        let outcome = self.engine().store().commit(Batch { changes: vec![change] }).await?;
        Ok(outcome.refused.is_empty())
    }

    /// The record about the repository, once it is prepared.
    pub(crate) async fn about(&self) -> Result<Option<About>, Error> {
        let Some(record) = self.engine().store().record(RecordSpace::Repository, ABOUT).await? else {
            return Ok(None);
        };
        serde_json::from_slice(&record.value).map(Some).map_err(|error| Error::Internal(error.into()))
    }
}

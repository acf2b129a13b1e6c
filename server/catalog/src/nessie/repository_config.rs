//! Settings stored in the repository, one document per type, replaced as a whole.

use bytes::Bytes;
use lochan_storage_engine::Error as EngineError;
use lochan_storage_odb::{ExpectedRecord, RecordChange, RecordSpace};

use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
};

/// Attempts to replace a setting while others do the same.
const ATTEMPTS_MAX: usize = 16;

fn record_key(kind: &str) -> Bytes {
    format!("config/{kind}").into()
}

impl Catalog {
    /// The stored documents of these types, in their order; types without one are left out.
    pub async fn repository_configs(&self, who: &Principal, kinds: &[&str]) -> Result<Vec<Bytes>, Error> {
        let check = match kinds {
            [] => Check::on(Access::ReadConfig, None),
            kinds => {
                kinds.iter().fold(Check::default(), |check, kind| check.and_config(Access::ReadConfig, kind))
            }
        };
        self.authorize(who, &check).await?;
        let mut found = Vec::with_capacity(kinds.len());
        for kind in kinds {
            let record = self.engine().store().record(RecordSpace::Repository, &record_key(kind)).await?;
            found.extend(record.map(|record| record.value));
        }
        Ok(found)
    }

    /// Stores the document of a type; answers with the one it replaces.
    pub async fn update_repository_config(
        &self,
        who: &Principal,
        kind: &str,
        document: Bytes,
    ) -> Result<Option<Bytes>, Error> {
        self.authorize(who, &Check::default().and_config(Access::UpdateConfig, kind)).await?;
        let key = record_key(kind);
        for _ in 0..ATTEMPTS_MAX {
            let before = self.engine().store().record(RecordSpace::Repository, &key).await?;
            let expected = before
                .as_ref()
                .map_or(ExpectedRecord::Absent, |record| ExpectedRecord::Version(record.version));
            let change = RecordChange {
                space: RecordSpace::Repository,
                key: key.clone(),
                expected,
                value: Some(document.clone()),
            };
            who.admission.check()?;
            if self.change_record(change).await? {
                return Ok(before.map(|record| record.value));
            }
        }
        Err(EngineError::RecordChanged.into())
    }
}

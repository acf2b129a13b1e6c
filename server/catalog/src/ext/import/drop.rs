//! Giving up an import that is not done.

use lochan_storage_odb::{Batch, Change, ExpectedRecord, RecordChange, RecordSpace};

use super::{
    Refusal, State, check_id,
    state::{self, Kept},
};
use crate::{
    access::{Access, Check, Principal},
    catalog::Catalog,
    error::Error,
};

/// Records removed with one write.
const CHUNK_RECORDS: usize = 1_000;

impl Catalog {
    /// Removes what is kept of an import that is not done; where it stood. Its commits stay, and no reference leads to them.
    ///
    /// First it is marked, so that nothing goes on with it, then its rows go, and the place it has reached at the very end: a
    /// removal that was cut off is done by the next one, and nobody begins anew on what is left.
    pub async fn drop_import(&self, who: &Principal, id: &str) -> Result<State, Error> {
        self.authorize(who, &Check::on(Access::ImportRepository, None)).await?;
        check_id(id)?;
        let kept = Kept::load(self, id).await?.ok_or_else(|| Refusal::ImportNotFound(id.to_owned()))?;
        if kept.state.done {
            return Err(conflict(format!("the import '{id}' is done; its references and its table stay")));
        }
        let state = State { dropped: true, ..kept.state.clone() };
        if !self.change_record(kept.change_to(id, &state)?).await? {
            return Err(at_work(id));
        }
        let marked = kept.changed_to(state);
        self.remove_rows(id).await?;
        let gone = RecordChange {
            space: RecordSpace::Run,
            key: state::key(id),
            expected: ExpectedRecord::Version(marked.version),
            value: None,
        };
        if !self.change_record(gone).await? {
            return Err(at_work(id));
        }
        Ok(kept.state)
    }

    /// Removes the references and the table of an import.
    async fn remove_rows(&self, id: &str) -> Result<(), Error> {
        let prefix = state::rows(id, "");
        loop {
            let store = self.engine().store();
            let rows = store.records(RecordSpace::Cursor, Some(&prefix), CHUNK_RECORDS).await?;
            let records: Vec<_> = rows
                .into_iter()
                .map(|(key, _)| key)
                .take_while(|key| key.starts_with(&prefix))
                .map(|key| RecordChange {
                    space: RecordSpace::Cursor,
                    key,
                    expected: ExpectedRecord::Any,
                    value: None,
                })
                .collect();
            if records.is_empty() {
                return Ok(());
            }
            store.commit(Batch { changes: vec![Change { records, ..Change::default() }] }).await?;
        }
    }
}

fn conflict(message: String) -> Error {
    Refusal::ImportConflict { message }.into()
}

fn at_work(id: &str) -> Error {
    conflict(format!("the import '{id}' was moved on by another request meanwhile; end that one before"))
}

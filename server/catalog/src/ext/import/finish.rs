//! The end of an import: its references appear all together, and it is done.

use lochan_storage_engine::{Error as EngineError, transfer::Published};
use lochan_storage_odb::ExpectedRecord;

use super::{Import, Refusal, State, references::Fate, wrong};
use crate::error::Error;

impl Import {
    /// Makes the references appear, if the whole stream was taken. The second time it changes nothing.
    pub async fn finish(&mut self) -> Result<(), Error> {
        let kept = self.kept()?.clone();
        if kept.state.done {
            return Ok(());
        }
        let state = State { done: true, ..kept.state.clone() };
        let mut records = vec![kept.change_to(&self.id, &state)?];
        let mut published = Vec::new();
        let mut in_the_way = Vec::new();
        for mut reference in self.catalog.kept_references(&self.id).await? {
            let target = self.find_commit(&state, &reference.source).await?.ok_or_else(|| {
                let (name, source) = (&reference.name, &reference.source);
                wrong(format!("reference '{name}' points at commit {source}, which the stream does not hold"))
            })?;
            match self.fate(&state, &reference.name, reference.kind).await? {
                Fate::Set(expected) => {
                    reference.target = Some(target);
                    records.push(self.reference_change(&reference, ExpectedRecord::Any)?);
                    let (name, kind) = (reference.name, reference.kind);
                    published.push(Published { name, expected, kind, target });
                }
                Fate::Keep => {}
                Fate::Refuse => in_the_way.push(reference.name.to_string()),
            }
        }
        if !in_the_way.is_empty() {
            return Err(Refusal::ReferencesExist(in_the_way).into());
        }
        let mut who = self.who.who();
        who.run = Some(format!("import:{}", self.id));
        let done = self.catalog.engine().publish_references(published, records, who).await;
        done.map_err(|error| match error {
            EngineError::RecordChanged => {
                let message = format!("the import '{}' was moved on by another request", self.id);
                Refusal::ImportConflict { message }.into()
            }
            EngineError::ReferenceMoved(found) => {
                Refusal::ReferencesExist(vec![found.name.to_string()]).into()
            }
            error => Error::from(error),
        })?;
        self.kept = Some(kept.changed_to(state));
        Ok(())
    }
}

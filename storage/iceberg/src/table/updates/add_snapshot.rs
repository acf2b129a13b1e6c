use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::snapshot::Snapshot;
use crate::table::TableMetadata;
use crate::table::apply::Builder;

/// Adds a snapshot. Moves no reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct AddSnapshot {
    /// The snapshot.
    pub snapshot: Snapshot,
}

impl AddSnapshot {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let mut snapshot = self.snapshot.clone();
        ready(&builder.metadata)?;
        let id = snapshot.snapshot_id;
        if id == -1 {
            return Err(Error::Validation(
                "Cannot add snapshot with id -1: it stands for no snapshot".to_owned(),
            ));
        }
        if builder.metadata.snapshot(id).is_some() {
            return Err(Error::Validation(format!("Snapshot already exists for id: {id}")));
        }
        if snapshot.manifest_list.is_none()
            && (snapshot.manifests.is_none() || builder.metadata.format_version > 1)
        {
            return Err(Error::Validation(format!("Cannot add snapshot {id}: manifest-list is missing")));
        }
        if let Some(wanted) = snapshot.schema_id {
            let schema = builder.schemas.resolve(wanted, |id| builder.metadata.schema(id).is_some());
            let unknown =
                || Error::Validation(format!("Cannot add snapshot {id} with unknown schema: {wanted}"));
            snapshot.schema_id = Some(schema.ok_or_else(unknown)?);
        }
        take_sequence_number(&mut snapshot, &mut builder.metadata)?;
        take_row_ids(&snapshot, &mut builder.metadata)?;
        builder.metadata.snapshots.push(Arc::new(snapshot));
        builder.added_snapshots.insert(id);
        Ok(())
    }
}

fn ready(metadata: &TableMetadata) -> Result<(), Error> {
    let what = if metadata.schemas.is_empty() {
        "a schema"
    } else if metadata.partition_specs.is_empty() {
        "a partition spec"
    } else if metadata.sort_orders.is_empty() {
        "a sort order"
    } else {
        return Ok(());
    };
    Err(Error::Validation(format!("Attempting to add a snapshot before {what} is added")))
}

/// Sequence numbers rise; a snapshot numbered from an older state is a conflict that its writer can retry. One without
/// a parent starts anew and may carry any number. Format v1 has none.
fn take_sequence_number(snapshot: &mut Snapshot, metadata: &mut TableMetadata) -> Result<(), Error> {
    if metadata.format_version == 1 {
        snapshot.sequence_number = None;
        return Ok(());
    }
    let (number, last) = (snapshot.sequence_number(), metadata.last_sequence_number);
    if number < 0 {
        return Err(Error::Validation(format!("Cannot add snapshot with negative sequence number {number}")));
    }
    if number <= last && snapshot.parent_snapshot_id.is_some() {
        return Err(Error::Conflict(format!(
            "Cannot add snapshot with sequence number {number} older than last sequence number {last}"
        )));
    }
    snapshot.sequence_number = Some(number);
    metadata.last_sequence_number = last.max(number);
    Ok(())
}

/// Row ids are given out once and only count up, whatever becomes of the snapshot (format v3).
fn take_row_ids(snapshot: &Snapshot, metadata: &mut TableMetadata) -> Result<(), Error> {
    if metadata.format_version < 3 {
        return Ok(());
    }
    let invalid = |text: String| Error::Validation(format!("Cannot add a snapshot: {text}"));
    let first = snapshot.first_row_id.ok_or_else(|| invalid("first-row-id is null".to_owned()))?;
    let rows = snapshot.added_rows.ok_or_else(|| invalid("added-rows is null".to_owned()))?;
    if rows < 0 {
        return Err(invalid(format!("added-rows is negative: {rows}")));
    }
    let next = metadata.next_row_id;
    if first < next {
        return Err(Error::Conflict(format!(
            "Cannot add a snapshot, first-row-id is behind table next-row-id: {first} < {next}"
        )));
    }
    // The writer numbers its rows from its own first id, which may lie above ours.
    metadata.next_row_id =
        first.checked_add(rows).ok_or_else(|| invalid("row ids are used up".to_owned()))?;
    Ok(())
}

//! What stands in the journal alone, shown when a store is opened.

use lochan_storage_odb::StoreError;

use super::Session;
use crate::{
    batch::Row,
    error,
    journal::Record,
    keys::{self, Position},
    objects,
};

/// Reads what a replay of these records will read of the tree, to see whether it can.
pub(super) fn look(tree: &sled::Tree, records: &[Record]) -> Result<(), StoreError> {
    let objects = records.iter().flat_map(|record| record.rows.iter());
    for row in objects.filter(|row| keys::object_position(&row.key).is_some()) {
        tree.get(&row.key).map_err(error::read)?;
    }
    Ok(())
}

impl Session {
    /// Shows the batches of the journal; the engine takes them in by and by.
    pub(super) fn replay(&self, records: Vec<Record>) -> Result<(), StoreError> {
        let mut has_positions = false;
        for Record { head, mut rows, .. } in records {
            // A part of a large batch may be in the tree already.
            rows.forget_new();
            let mut placed = Vec::new();
            for row in rows.iter() {
                if let Some(position) = keys::object_position(&row.key) {
                    self.replay_objects(row, position, &mut placed)?;
                }
                has_positions |= keys::is_position(&row.key);
            }
            self.positions.add(head.batch, placed);
            self.table.pending.publish(head.batch, rows);
        }
        if has_positions {
            // Such rows are also written past the journal, and what is removed here must not be removed after that. Where the
            // engine cannot or must not take them in, nothing is written at all.
            let _ = self.table.pending.settle();
        }
        Ok(())
    }

    /// Notes where the objects of a row stand from now on, and which of them do no more.
    fn replay_objects(
        &self,
        row: &Row,
        position: Position,
        placed: &mut Vec<(lochan_storage_model::ObjectId, Position)>,
    ) -> Result<(), StoreError> {
        let ids = |row: &[u8]| -> Result<Vec<_>, StoreError> {
            let entries = objects::entries(row).map_err(error::row("an object row"))?;
            entries.map(|entry| Ok(entry.map_err(error::row("an object row"))?.header.id)).collect()
        };
        let now = row.value.as_deref().map(ids).transpose()?.unwrap_or_default();
        let before = match error::guarded(|| self.table.get(&row.key).map_err(error::read)) {
            // A damaged store shows what the journal has all the same: of a row that cannot be read nothing was shown.
            Err(_) if self.drain.is_none() => None,
            before => before?,
        };
        if let Some(before) = before {
            for gone in ids(&before)?.into_iter().filter(|id| !now.contains(id)) {
                self.positions.forget_at(gone, position);
            }
        }
        placed.extend(now.into_iter().map(|id| (id, position)));
        Ok(())
    }
}

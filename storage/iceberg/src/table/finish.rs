//! The end of a commit: defaults of a creation, compatibility, logs and times.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::TableMetadata;
use super::apply::{Applied, Builder, NO_ID};
use crate::partition::PartitionSpec;
use crate::properties::METADATA_PREVIOUS_VERSIONS_MAX;
use crate::schema::Index;
use crate::snapshot::{MetadataLogEntry, SnapshotLogEntry};
use crate::sort::{SortOrder, UNSORTED_ID};
use crate::{Error, Extra};

/// Entries the metadata log keeps unless the table says otherwise.
const METADATA_LOG_ENTRIES_DEFAULT: usize = 100;
/// How far log times may run backwards before readers refuse the document (Iceberg table spec, Snapshot log).
pub(super) const LOG_TOLERANCE_MS: i64 = 60_000;

impl Builder<'_> {
    pub(super) fn finish(mut self, base_location: Option<&str>) -> Result<Applied, Error> {
        if self.base.is_none() {
            self.complete_creation()?;
        }
        self.check_defaults()?;
        self.repair_snapshot_log();
        if let Some(base) = self.base
            && *base == self.metadata
        {
            return Ok(Applied { metadata: base.clone(), changed: false });
        }
        let metadata = &mut self.metadata;
        if let (Some(base), Some(location)) = (self.base, base_location) {
            metadata.metadata_log.push(MetadataLogEntry {
                timestamp_ms: base.last_updated_ms,
                metadata_file: location.to_owned(),
                extra: Extra::new(),
            });
        }
        let surplus = metadata.metadata_log.len().saturating_sub(metadata_log_entries(metadata));
        metadata.metadata_log.drain(..surplus);
        metadata.last_updated_ms = updated_ms(metadata, self.now_ms);
        Ok(Applied { metadata: self.metadata, changed: true })
    }

    /// Fills what a creation left to us and refuses one without identity, place or columns.
    fn complete_creation(&mut self) -> Result<(), Error> {
        let metadata = &mut self.metadata;
        let missing = |what: &str| Error::Validation(format!("Cannot create table: no {what}"));
        if metadata.table_uuid.is_none() {
            return Err(missing("UUID has been assigned"));
        }
        if metadata.location.is_empty() {
            return Err(missing("location has been set"));
        }
        if metadata.current_schema_id == NO_ID {
            metadata.current_schema_id = self.schemas.last.ok_or_else(|| missing("schema has been added"))?;
        }
        if metadata.partition_specs.is_empty() {
            metadata.partition_specs.push(Arc::new(PartitionSpec::default()));
        }
        if metadata.default_spec_id == NO_ID {
            metadata.default_spec_id = self.specs.last.unwrap_or(0);
        }
        if metadata.sort_orders.is_empty() {
            metadata.sort_orders.push(Arc::new(SortOrder::unsorted()));
        }
        if metadata.default_sort_order_id == NO_ID {
            metadata.default_sort_order_id = self.orders.last.unwrap_or(UNSORTED_ID);
        }
        Ok(())
    }

    /// The default spec and order must fit the current schema. Asked only when one of the three changed, so that
    /// a table that came with a misfit can still be mended or given properties.
    fn check_defaults(&self) -> Result<(), Error> {
        let metadata = &self.metadata;
        let ids = |m: &TableMetadata| (m.current_schema_id, m.default_spec_id, m.default_sort_order_id);
        if self.base.is_some_and(|base| ids(base) == ids(metadata)) {
            return Ok(());
        }
        let schema = metadata.current_schema().ok_or_else(|| {
            Error::Validation(format!("Cannot find schema with id {}", metadata.current_schema_id))
        })?;
        let index = Index::of(schema)?;
        if let Some(spec) = metadata.spec(metadata.default_spec_id) {
            spec.check_sources(&index)?;
        }
        if let Some(order) = metadata.sort_order(metadata.default_sort_order_id) {
            order.check(&index)?;
        }
        Ok(())
    }

    /// Keeps the snapshot log truthful: states that were current only inside this commit leave no trace, nothing
    /// stands before a removed snapshot, the last entry is the current snapshot.
    fn repair_snapshot_log(&mut self) {
        let metadata = &mut self.metadata;
        let before = self.base.and_then(|base| base.current_snapshot_id);
        let Some(current) = metadata.current_snapshot_id else {
            if before.is_some() || !self.main_moves.is_empty() {
                metadata.snapshot_log.clear();
            }
            return;
        };
        let passing: BTreeSet<i64> = self.main_moves.iter().copied().filter(|id| *id != current).collect();
        if !passing.is_empty() {
            metadata.snapshot_log.retain(|entry| !passing.contains(&entry.snapshot_id));
        }
        if self.removed_snapshots {
            let kept: BTreeSet<i64> = metadata.snapshots.iter().map(|s| s.snapshot_id).collect();
            let cut = metadata.snapshot_log.iter().rposition(|entry| !kept.contains(&entry.snapshot_id));
            metadata.snapshot_log.drain(..cut.map_or(0, |place| place + 1));
        }
        // A document that came with a log of its own is not mended by a commit that has nothing to do with it.
        let touched = before != Some(current) || self.removed_snapshots || !passing.is_empty();
        if touched && metadata.snapshot_log.last().map(|entry| entry.snapshot_id) != Some(current) {
            let timestamp_ms = log_time(metadata, self.now_ms);
            metadata.snapshot_log.push(SnapshotLogEntry {
                timestamp_ms,
                snapshot_id: current,
                extra: Extra::new(),
            });
        }
    }
}

/// Time of a new snapshot log entry: the wanted one, unless it lies so far before the last entry that readers would
/// refuse the document; then the last entry's.
pub(super) fn log_time(metadata: &TableMetadata, wanted_ms: i64) -> i64 {
    match metadata.snapshot_log.last() {
        Some(last) if wanted_ms < last.timestamp_ms.saturating_sub(LOG_TOLERANCE_MS) => last.timestamp_ms,
        _ => wanted_ms,
    }
}

/// Time of the new metadata: now, but never before what it holds, whatever the clocks of writers said.
fn updated_ms(metadata: &TableMetadata, now_ms: i64) -> i64 {
    let snapshot = metadata.snapshot_log.last().map_or(i64::MIN, |e| e.timestamp_ms);
    let file = metadata.metadata_log.last().map_or(i64::MIN, |e| e.timestamp_ms);
    now_ms.max(snapshot).max(file)
}

fn metadata_log_entries(metadata: &TableMetadata) -> usize {
    let wanted = metadata
        .properties
        .get(METADATA_PREVIOUS_VERSIONS_MAX)
        .and_then(|text| text.trim().parse::<i64>().ok());
    wanted.map_or(METADATA_LOG_ENTRIES_DEFAULT, |n| usize::try_from(n).unwrap_or(0).max(1))
}

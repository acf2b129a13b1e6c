use std::collections::BTreeSet;

use super::TableMetadata;

/// The metadata as `snapshots=refs` shows it: only snapshots that a reference names, and no statistics of the others.
/// Everything else stays, the snapshot log too; this is a view for an answer, not a change of the table.
#[must_use]
pub fn refs_only(metadata: &TableMetadata) -> TableMetadata {
    let named: BTreeSet<i64> = metadata.refs.values().map(|r| r.snapshot_id).collect();
    let mut shown = metadata.clone();
    shown.snapshots.retain(|s| named.contains(&s.snapshot_id));
    shown.statistics.retain(|s| named.contains(&s.snapshot_id));
    shown.partition_statistics.retain(|s| named.contains(&s.snapshot_id));
    shown
}

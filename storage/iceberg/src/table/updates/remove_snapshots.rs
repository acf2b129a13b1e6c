use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::snapshot::MAIN_BRANCH;
use crate::table::apply::Builder;

/// Drops snapshots with their statistics and every reference on them. Unknown ids are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct RemoveSnapshots {
    /// Ids.
    pub snapshot_ids: Vec<i64>,
}

impl RemoveSnapshots {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let gone: BTreeSet<i64> = self.snapshot_ids.iter().copied().collect();
        let metadata = &mut builder.metadata;
        let before = metadata.snapshots.len();
        metadata.snapshots.retain(|s| !gone.contains(&s.snapshot_id));
        if metadata.snapshots.len() == before {
            return Ok(());
        }
        builder.removed_snapshots = true;
        builder.added_snapshots.retain(|id| !gone.contains(id));
        metadata.statistics.retain(|s| !gone.contains(&s.snapshot_id));
        metadata.partition_statistics.retain(|s| !gone.contains(&s.snapshot_id));
        metadata.refs.retain(|_, r| !gone.contains(&r.snapshot_id));
        if !metadata.refs.contains_key(MAIN_BRANCH) {
            metadata.current_snapshot_id = None;
        }
        Ok(())
    }
}

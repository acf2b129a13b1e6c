use serde::{Deserialize, Serialize};

use crate::Error;
use crate::table::apply::Builder;

/// Drops the partition statistics file of a snapshot, if there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct RemovePartitionStatistics {
    /// The snapshot.
    pub snapshot_id: i64,
}

impl RemovePartitionStatistics {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.metadata.partition_statistics.retain(|file| file.snapshot_id != self.snapshot_id);
        Ok(())
    }
}

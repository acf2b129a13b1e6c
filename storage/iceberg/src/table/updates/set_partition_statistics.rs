use serde::{Deserialize, Serialize};

use crate::Error;
use crate::statistics::PartitionStatisticsFile;
use crate::table::apply::Builder;

/// Sets the partition statistics file of a snapshot, in place of an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct SetPartitionStatistics {
    /// The file.
    pub partition_statistics: PartitionStatisticsFile,
}

impl SetPartitionStatistics {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let (files, new) = (&mut builder.metadata.partition_statistics, &self.partition_statistics);
        match files.iter_mut().find(|file| file.snapshot_id == new.snapshot_id) {
            Some(file) => *file = new.clone(),
            None => files.push(new.clone()),
        }
        Ok(())
    }
}

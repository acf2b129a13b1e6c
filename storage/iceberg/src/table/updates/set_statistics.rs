use serde::{Deserialize, Serialize};

use crate::Error;
use crate::statistics::StatisticsFile;
use crate::table::apply::Builder;

/// Sets the statistics file of a snapshot, in place of an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct SetStatistics {
    /// Deprecated; if sent it must equal the file's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<i64>,
    /// The file.
    pub statistics: StatisticsFile,
}

impl SetStatistics {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        if self.snapshot_id.is_some_and(|id| id != self.statistics.snapshot_id) {
            return Err(Error::Validation(format!(
                "Invalid statistics: snapshot ID {} does not match statistics file's {}",
                self.snapshot_id.unwrap_or_default(),
                self.statistics.snapshot_id
            )));
        }
        let (files, new) = (&mut builder.metadata.statistics, &self.statistics);
        match files.iter_mut().find(|file| file.snapshot_id == new.snapshot_id) {
            Some(file) => *file = new.clone(),
            None => files.push(new.clone()),
        }
        Ok(())
    }
}

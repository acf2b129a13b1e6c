use serde::{Deserialize, Serialize};

use crate::Error;
use crate::snapshot::MAIN_BRANCH;
use crate::table::apply::Builder;

/// Drops a reference; its snapshots stay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct RemoveSnapshotRef {
    /// Name of the reference.
    pub ref_name: String,
}

impl RemoveSnapshotRef {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.metadata.refs.remove(&self.ref_name);
        if self.ref_name == MAIN_BRANCH {
            // The log is settled at the end: a replace removes main only to set it anew.
            builder.metadata.current_snapshot_id = None;
        }
        Ok(())
    }
}

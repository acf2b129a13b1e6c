use serde::{Deserialize, Serialize};

use crate::Error;
use crate::table::apply::Builder;

/// Drops partition specs that nothing uses any more. Unknown ids are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct RemovePartitionSpecs {
    /// Ids.
    pub spec_ids: Vec<i32>,
}

impl RemovePartitionSpecs {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        if self.spec_ids.contains(&builder.metadata.default_spec_id) {
            return Err(Error::Validation("Cannot remove the default partition spec".to_owned()));
        }
        builder.metadata.partition_specs.retain(|s| !self.spec_ids.contains(&s.spec_id));
        Ok(())
    }
}

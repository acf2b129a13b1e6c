use serde::{Deserialize, Serialize};

use crate::Error;
use crate::table::apply::Builder;

/// Drops schemas that nothing uses any more. Unknown ids are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct RemoveSchemas {
    /// Ids.
    pub schema_ids: Vec<i32>,
}

impl RemoveSchemas {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        if self.schema_ids.contains(&builder.metadata.current_schema_id) {
            return Err(Error::Validation("Cannot remove the current schema".to_owned()));
        }
        builder.metadata.schemas.retain(|s| !self.schema_ids.contains(&s.schema_id));
        Ok(())
    }
}

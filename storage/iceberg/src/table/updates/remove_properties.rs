use serde::{Deserialize, Serialize};

use crate::Error;
use crate::table::apply::Builder;

/// Removes properties. Absent keys are fine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct RemoveProperties {
    /// Keys. Old clients call the field `removed`.
    #[serde(alias = "removed")]
    pub removals: Vec<String>,
}

impl RemoveProperties {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        for key in &self.removals {
            builder.metadata.properties.remove(key);
        }
        Ok(())
    }
}

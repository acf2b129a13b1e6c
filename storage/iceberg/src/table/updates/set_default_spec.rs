use serde::{Deserialize, Serialize};

use crate::Error;
use crate::table::apply::Builder;

/// Makes a partition spec the default for new data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct SetDefaultSpec {
    /// Id, -1 for the last added.
    pub spec_id: i32,
}

impl SetDefaultSpec {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let id = builder.specs.resolve(self.spec_id, |id| builder.metadata.spec(id).is_some());
        builder.metadata.default_spec_id = id.ok_or_else(|| {
            Error::Validation(match self.spec_id {
                -1 => "Cannot set last added spec: no spec has been added".to_owned(),
                id => format!("Cannot set default partition spec to unknown spec: {id}"),
            })
        })?;
        Ok(())
    }
}

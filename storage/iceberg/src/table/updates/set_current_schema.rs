use serde::{Deserialize, Serialize};

use crate::Error;
use crate::table::apply::Builder;

/// Makes a schema the current one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct SetCurrentSchema {
    /// Id, -1 for the last added.
    pub schema_id: i32,
}

impl SetCurrentSchema {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let id = builder.schemas.resolve(self.schema_id, |id| builder.metadata.schema(id).is_some());
        builder.metadata.current_schema_id = id.ok_or_else(|| {
            Error::Validation(match self.schema_id {
                -1 => "Cannot set last added schema: no schema has been added".to_owned(),
                id => format!("Cannot set current schema to unknown schema: {id}"),
            })
        })?;
        Ok(())
    }
}

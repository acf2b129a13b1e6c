use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::schema::{self, Schema};
use crate::table::apply::Builder;

/// Adds a schema. An equal one is reused; the id in the request is a hint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct AddSchema {
    /// The schema, with final field ids.
    pub schema: Schema,
    /// Deprecated; a lower bound for the table's highest column id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_column_id: Option<i32>,
}

impl AddSchema {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let metadata = &mut builder.metadata;
        let hint = self.schema.schema_id;
        let highest = self.schema.highest_field_id().max(self.last_column_id.unwrap_or(0));
        let current = metadata.current_schema_id;
        let same = |s: &&Arc<Schema>| s.same_as(&self.schema);
        let found =
            metadata.schemas.iter().filter(same).max_by_key(|s| s.schema_id == current).map(|s| s.schema_id);
        if let Some(id) = found {
            builder.schemas.note(hint, id);
            metadata.last_column_id = metadata.last_column_id.max(highest);
            return Ok(());
        }
        schema::validate(&self.schema, metadata.format_version)?;
        let id = next_id(metadata.schemas.last().map(|s| s.schema_id), "schema")?;
        metadata.schemas.push(Arc::new(Schema { schema_id: id, ..self.schema.clone() }));
        metadata.last_column_id = metadata.last_column_id.max(highest);
        builder.schemas.note(hint, id);
        Ok(())
    }
}

/// One above the highest id in use, 0 for the first.
pub(crate) fn next_id(highest: Option<i32>, what: &str) -> Result<i32, Error> {
    highest
        .map_or(Some(0), |id| id.max(-1).checked_add(1))
        .ok_or_else(|| Error::Validation(format!("Cannot add {what}: ids are used up")))
}

//! Schemas: nested types, their JSON, the rules a new schema has to meet, and the numbering of a new table's columns.

mod assign;
#[cfg(feature = "schema")]
mod describe;
mod index;
mod primitive;
mod types;
mod validate;

pub use index::{Index, Node};
pub use primitive::Primitive;
pub use types::{Field, ListType, MapType, StructType, Type};

use serde::{Deserialize, Serialize};

use crate::Extra;

pub(crate) use assign::fresh;
pub(crate) use validate::{structure, validate};

/// A schema: the columns of a table or view at one time. JSON: a struct type with `schema-id` and `identifier-field-ids`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = describe::tag_struct))]
#[serde(tag = "type", rename = "struct", rename_all = "kebab-case", try_from = "Document")]
pub struct Schema {
    /// Id among the schemas of the document. Ids in requests are hints.
    pub schema_id: i32,
    /// Columns that identify a row, ascending as sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub identifier_field_ids: Vec<i32>,
    /// Top-level columns in order.
    pub fields: Vec<Field>,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Schema {
    /// Whether both describe the same rows: equal columns and identifier fields, whatever the schema id.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> bool {
        let mut mine = self.identifier_field_ids.clone();
        let mut theirs = other.identifier_field_ids.clone();
        mine.sort_unstable();
        theirs.sort_unstable();
        mine == theirs && self.fields == other.fields
    }

    /// Highest field id in use, 0 without fields.
    #[must_use]
    pub fn highest_field_id(&self) -> i32 {
        types::highest_id(&self.fields)
    }
}

#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Schema"))]
#[serde(rename_all = "kebab-case")]
struct Document {
    #[serde(default, rename = "type")]
    type_name: Option<String>,
    #[serde(default, deserialize_with = "crate::de::null_default")]
    schema_id: i32,
    #[serde(default, deserialize_with = "crate::de::null_default")]
    identifier_field_ids: Vec<i32>,
    fields: Vec<Field>,
    #[serde(flatten)]
    extra: Extra,
}

impl TryFrom<Document> for Schema {
    type Error = String;

    fn try_from(raw: Document) -> Result<Self, String> {
        if let Some(name) = raw.type_name.filter(|name| name != "struct") {
            return Err(format!("cannot create schema, not a struct type: {name}"));
        }
        Ok(Self {
            schema_id: raw.schema_id,
            identifier_field_ids: raw.identifier_field_ids,
            fields: raw.fields,
            extra: raw.extra,
        })
    }
}

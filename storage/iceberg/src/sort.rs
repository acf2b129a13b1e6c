//! Sort orders: their JSON and binding to a schema.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::partition::check_source;
use crate::schema::Index;
use crate::transform::Transform;
use crate::{Error, Extra, bounds};

/// Id of the order without fields.
pub const UNSORTED_ID: i32 = 0;

/// How rows are ordered inside files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct SortOrder {
    /// Id among the orders of the table; 0 is the unsorted one. Ids in requests are hints and may be absent.
    #[serde(default, deserialize_with = "crate::de::null_default")]
    pub order_id: i32,
    /// Sort fields, most significant first.
    pub fields: Vec<SortField>,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A sort field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct SortField {
    /// Transform as written, see [`Transform::parse`].
    pub transform: String,
    /// Source column. Absent only for transforms of several columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<i32>,
    /// Source columns of a transform of several (format v3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_ids: Option<Vec<i32>>,
    /// Direction.
    pub direction: Direction,
    /// Where nulls go.
    pub null_order: NullOrder,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Sort direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Smallest first.
    #[serde(alias = "ASC")]
    Asc,
    /// Largest first.
    #[serde(alias = "DESC")]
    Desc,
}

/// Place of nulls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NullOrder {
    /// Before all values.
    #[serde(alias = "NULLS_FIRST", alias = "nulls_first")]
    NullsFirst,
    /// After all values.
    #[serde(alias = "NULLS_LAST", alias = "nulls_last")]
    NullsLast,
}

impl SortOrder {
    /// The order without fields.
    #[must_use]
    pub fn unsorted() -> Self {
        Self { order_id: UNSORTED_ID, ..Self::default() }
    }

    /// Whether both order rows alike; ids are not compared.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> bool {
        self.fields == other.fields
    }

    /// Checks the sources of every field against a schema.
    pub(crate) fn check(&self, schema: &Index<'_>) -> Result<(), Error> {
        bounds::count("sort fields", self.fields.len(), bounds::SPEC_FIELDS_MAX)?;
        for field in &self.fields {
            check_source(
                "sort",
                &field.described(),
                &field.sources(),
                Transform::parse(&field.transform),
                schema,
            )?;
        }
        Ok(())
    }

    /// Replaces source ids, for a table whose columns were numbered anew.
    pub(crate) fn with_sources(&self, ids: &BTreeMap<i32, i32>) -> Result<Self, Error> {
        let mut order = self.clone();
        for field in &mut order.fields {
            let described = field.described();
            let mapped = |old: &i32| {
                ids.get(old).copied().ok_or_else(|| {
                    Error::Validation(format!("Cannot find source column for sort field: {described}"))
                })
            };
            field.source_id = field.source_id.as_ref().map(mapped).transpose()?;
            field.source_ids =
                field.source_ids.as_ref().map(|v| v.iter().map(mapped).collect()).transpose()?;
        }
        Ok(order)
    }
}

impl SortField {
    /// Source columns, whichever way they are written.
    #[must_use]
    pub fn sources(&self) -> Vec<i32> {
        match (&self.source_ids, self.source_id) {
            (Some(ids), _) if !ids.is_empty() => ids.clone(),
            (_, Some(id)) => vec![id],
            _ => Vec::new(),
        }
    }

    fn described(&self) -> String {
        let sources: Vec<String> = self.sources().iter().map(ToString::to_string).collect();
        format!("{}({})", self.transform, sources.join(", "))
    }
}

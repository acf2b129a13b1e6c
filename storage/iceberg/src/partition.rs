//! Partition specs: their JSON, binding to a schema, and the ids of their fields.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::schema::{Index, Primitive, Type};
use crate::transform::Transform;
use crate::{Error, Extra, bounds};

/// `last-partition-id` of a table that was never partitioned; the first partition field gets the next id.
pub const UNPARTITIONED_LAST_ID: i32 = 999;

/// How rows are split into files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct PartitionSpec {
    /// Id among the specs of the table. Ids in requests are hints and may be absent.
    #[serde(default, deserialize_with = "crate::de::null_default")]
    pub spec_id: i32,
    /// Partition fields in order.
    pub fields: Vec<PartitionField>,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A partition field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct PartitionField {
    /// Source column. Absent only for transforms of several columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_id: Option<i32>,
    /// Source columns of a transform of several (format v3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_ids: Option<Vec<i32>>,
    /// Id, unique in the table; absent in requests that leave it to us, never in metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field_id: Option<i32>,
    /// Name of the partition column.
    pub name: String,
    /// Transform as written, see [`Transform::parse`].
    pub transform: String,
    /// Unknown fields.
    #[serde(flatten)]
    pub extra: Extra,
}

impl PartitionField {
    /// Source columns, whichever way they are written.
    #[must_use]
    pub fn sources(&self) -> Vec<i32> {
        match (&self.source_ids, self.source_id) {
            (Some(ids), _) if !ids.is_empty() => ids.clone(),
            (_, Some(id)) => vec![id],
            _ => Vec::new(),
        }
    }

    /// Whether both compute the same value from the same columns.
    fn same_source(&self, other: &Self) -> bool {
        self.sources() == other.sources() && self.transform.eq_ignore_ascii_case(&other.transform)
    }

    fn described(&self) -> String {
        let id = self.field_id.map_or_else(String::new, |id| format!("{id}: "));
        let sources: Vec<String> = self.sources().iter().map(ToString::to_string).collect();
        format!("{id}{}: {}({})", self.name, self.transform, sources.join(", "))
    }
}

impl PartitionSpec {
    /// Whether both split rows alike and name the parts alike; ids are not compared.
    #[must_use]
    pub fn compatible_with(&self, other: &Self) -> bool {
        self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(|(a, b)| a.same_source(b) && a.name == b.name)
    }

    /// Highest partition field id, [`UNPARTITIONED_LAST_ID`] without fields.
    #[must_use]
    pub fn highest_field_id(&self) -> i32 {
        self.fields
            .iter()
            .filter_map(|f| f.field_id)
            .max()
            .unwrap_or(UNPARTITIONED_LAST_ID)
            .max(UNPARTITIONED_LAST_ID)
    }

    /// Checks the sources of every field against a schema; names are not looked at. Fields of dropped columns
    /// (`void`) pass.
    pub(crate) fn check_sources(&self, schema: &Index<'_>) -> Result<(), Error> {
        for field in &self.fields {
            let transform = Transform::parse(&field.transform);
            if transform != Transform::Void {
                check_source("partition", &field.described(), &field.sources(), transform, schema)?;
            }
        }
        Ok(())
    }

    /// Checks a spec about to be added: names, ids, sources, format version.
    pub(crate) fn check_new(&self, schema: &Index<'_>, format_version: u8) -> Result<(), Error> {
        bounds::count("partition fields", self.fields.len(), bounds::SPEC_FIELDS_MAX)?;
        let columns: BTreeMap<&str, i32> =
            schema.iter().map(|(id, node)| (node.full_name.as_str(), id)).collect();
        let (mut names, mut ids) = (BTreeSet::new(), BTreeSet::new());
        for (place, field) in self.fields.iter().enumerate() {
            bounds::text("Partition name", &field.name, bounds::NAME_BYTES_MAX)?;
            if field.name.is_empty() {
                return Err(Error::Validation("Cannot use empty partition name: ".to_owned()));
            }
            if !names.insert(field.name.as_str()) {
                return Err(Error::Validation(format!(
                    "Cannot use partition name more than once: {}",
                    field.name
                )));
            }
            field.check_name(columns.get(field.name.as_str()).copied())?;
            if format_version < 3 && field.sources().len() > 1 {
                return Err(Error::Validation(format!(
                    "Invalid partition field {}: multi-argument transforms are not supported until v3",
                    field.name
                )));
            }
            if let Some(id) = field.field_id
                && !ids.insert(id)
            {
                return Err(Error::Validation(format!("Cannot use partition field id more than once: {id}")));
            }
            let sequential = i32::try_from(place).ok().map(|n| UNPARTITIONED_LAST_ID + 1 + n);
            if format_version == 1 && field.field_id != sequential {
                return Err(Error::Validation(format!(
                    "Spec does not use sequential IDs that are required in v1: {}",
                    field.described()
                )));
            }
        }
        self.check_sources(schema)
    }

    /// Gives every field without an id one: that of an equal field among `known`, else the next after `last_id`.
    /// Format v1 knows no reuse, its ids count up from 1000 within each spec.
    pub(crate) fn with_field_ids(&self, known: &[&Self], last_id: i32, format_version: u8) -> Self {
        let mut spec = self.clone();
        if format_version == 1 {
            let mut next = UNPARTITIONED_LAST_ID;
            for field in &mut spec.fields {
                next = next.saturating_add(1);
                field.field_id.get_or_insert(next);
            }
            return spec;
        }
        let mut taken: BTreeSet<i32> = spec.fields.iter().filter_map(|f| f.field_id).collect();
        let mut last = taken.iter().copied().max().unwrap_or(last_id).max(last_id);
        for field in spec.fields.iter_mut().filter(|f| f.field_id.is_none()) {
            let reused = known
                .iter()
                .flat_map(|spec| &spec.fields)
                .filter(|other| other.same_source(field))
                .filter_map(|other| other.field_id)
                .find(|id| !taken.contains(id));
            let id = reused.unwrap_or_else(|| {
                last = last.saturating_add(1);
                last
            });
            taken.insert(id);
            field.field_id = Some(id);
        }
        spec
    }

    /// Replaces source ids, for a table whose columns were numbered anew. Unknown sources stay and fail the check later.
    pub(crate) fn with_sources(&self, ids: &BTreeMap<i32, i32>) -> Result<Self, Error> {
        let mut spec = self.clone();
        for field in &mut spec.fields {
            let described = field.described();
            let mapped = |old: &i32| {
                ids.get(old).copied().ok_or_else(|| {
                    Error::Validation(format!("Cannot find source column for partition field: {described}"))
                })
            };
            field.source_id = field.source_id.as_ref().map(mapped).transpose()?;
            field.source_ids =
                field.source_ids.as_ref().map(|v| v.iter().map(mapped).collect()).transpose()?;
        }
        Ok(spec)
    }
}

impl PartitionField {
    /// A partition name may equal a column's only when it is that column: unchanged, or dropped from the partitioning.
    fn check_name(&self, column: Option<i32>) -> Result<(), Error> {
        let Some(column) = column else { return Ok(()) };
        match Transform::parse(&self.transform) {
            Transform::Identity | Transform::Void if self.sources() == [column] => Ok(()),
            Transform::Identity => Err(Error::Validation(format!(
                "Cannot create identity partition sourced from different field in schema: {}",
                self.name
            ))),
            _ => Err(Error::Validation(format!(
                "Cannot create partition from name that exists in schema: {}",
                self.name
            ))),
        }
    }
}

/// Checks that every source exists, is a primitive outside lists and maps, and can be transformed.
/// `kind` is `partition` or `sort`.
pub(crate) fn check_source(
    kind: &str,
    described: &str,
    sources: &[i32],
    transform: Transform,
    schema: &Index<'_>,
) -> Result<(), Error> {
    if sources.is_empty() {
        return Err(Error::Validation(format!("Cannot find source column for {kind} field: {described}")));
    }
    for id in sources {
        let Some(node) = schema.get(*id) else {
            return Err(Error::Validation(format!(
                "Cannot find source column for {kind} field: {described}"
            )));
        };
        if transform == Transform::Unknown {
            continue;
        }
        let Type::Primitive(text) = node.field_type else {
            return Err(Error::Validation(format!(
                "Cannot {kind} by non-primitive source field: {}",
                node.field_type
            )));
        };
        // A type we do not know came with a document we did not write: its writer knows what can be done with it.
        if Primitive::parse(text).is_some_and(|source| !transform.takes(source)) {
            return Err(Error::Validation(format!(
                "Invalid source type {text} for transform: {}",
                described.rsplit_once(": ").map_or(described, |(_, t)| t)
            )));
        }
        let mut parent = node.parent;
        while let Some(outer) = parent.and_then(|id| schema.get(id)) {
            if !matches!(outer.field_type, Type::Struct(_)) {
                return Err(Error::Validation(format!("Invalid {kind} field parent: {}", outer.field_type)));
            }
            parent = outer.parent;
        }
    }
    Ok(())
}

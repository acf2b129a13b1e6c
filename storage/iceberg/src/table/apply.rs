use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::{AssignUuid, FORMAT_VERSION_DEFAULT, TableMetadata, TableUpdate};
use crate::partition::UNPARTITIONED_LAST_ID;
use crate::schema::Schema;
use crate::{Error, Extra, bounds};

/// The outcome of [`apply()`].
#[derive(Debug, Clone)]
pub struct Applied {
    /// The new metadata, or the base if nothing changed.
    pub metadata: TableMetadata,
    /// Whether it differs from the base; if not, no file and no catalog commit is due.
    pub changed: bool,
}

/// Applies updates in order, to the table as it is or, without a base, to nothing: the commit of a staged create, whose
/// column ids are kept as sent because files may carry them.
///
/// `base_location` is where the base is stored; it becomes the next entry of the metadata log.
/// Requirements are not looked at, see [`super::TableRequirement::check`].
///
/// # Errors
/// [`Error::Conflict`] for a snapshot made against an older state, [`Error::Validation`] for what would make the
/// metadata invalid, [`Error::BadRequest`] beyond the bounds.
pub fn apply(
    base: Option<&TableMetadata>,
    base_location: Option<&str>,
    updates: &[TableUpdate],
    now_ms: i64,
) -> Result<Applied, Error> {
    bounds::count("updates", updates.len(), bounds::UPDATES_MAX)?;
    let mut builder = Builder::new(base, updates, now_ms)?;
    for update in updates {
        update.apply(&mut builder)?;
    }
    builder.finish(base_location)
}

/// Adds an `assign-uuid` in front of the updates of a creation that has none.
pub fn ensure_uuid(updates: &mut Vec<TableUpdate>, uuid: Uuid) {
    if !updates.iter().any(|u| matches!(u, TableUpdate::AssignUuid(_))) {
        updates.insert(0, AssignUuid { uuid: uuid.to_string() }.into());
    }
}

/// Metadata under construction, with what later updates may refer to.
pub(super) struct Builder<'a> {
    pub base: Option<&'a TableMetadata>,
    pub metadata: TableMetadata,
    pub now_ms: i64,
    pub schemas: Added,
    pub specs: Added,
    pub orders: Added,
    /// Snapshots added by this commit.
    pub added_snapshots: BTreeSet<i64>,
    /// Snapshots added by this commit that `main` was set to, in order.
    pub main_moves: Vec<i64>,
    pub removed_snapshots: bool,
}

/// Schemas, specs or orders that this commit added, or found to exist already.
#[derive(Default)]
pub(super) struct Added {
    /// What -1 means.
    pub last: Option<i32>,
    /// Id the request used, to id given.
    hints: BTreeMap<i32, i32>,
}

impl Added {
    pub fn note(&mut self, hint: i32, id: i32) {
        self.last = Some(id);
        self.hints.insert(hint, id);
    }

    /// The id meant by a request: -1 the last added, an existing id itself, else the one given to what the request
    /// added under that number.
    pub fn resolve(&self, wanted: i32, exists: impl Fn(i32) -> bool) -> Option<i32> {
        if wanted == -1 {
            return self.last;
        }
        if exists(wanted) { Some(wanted) } else { self.hints.get(&wanted).copied() }
    }
}

/// Id that names no schema or spec: nothing is current yet.
pub(super) const NO_ID: i32 = -1;

impl<'a> Builder<'a> {
    fn new(base: Option<&'a TableMetadata>, updates: &[TableUpdate], now_ms: i64) -> Result<Self, Error> {
        let metadata = match base {
            Some(base) => base.clone(),
            None => empty(updates, now_ms)?,
        };
        Ok(Self {
            base,
            metadata,
            now_ms,
            schemas: Added::default(),
            specs: Added::default(),
            orders: Added::default(),
            added_snapshots: BTreeSet::new(),
            main_moves: Vec::new(),
            removed_snapshots: false,
        })
    }

    /// The schema that new specs and orders are bound to.
    pub fn binding_schema(&self, what: &str) -> Result<&Schema, Error> {
        self.metadata
            .current_schema()
            .or_else(|| self.metadata.schema(self.schemas.last?))
            .ok_or_else(|| Error::Validation(format!("Cannot add {what}: no schema has been added")))
    }
}

/// State before the first update of a creation. The version is known from the start, whatever place its update has.
fn empty(updates: &[TableUpdate], now_ms: i64) -> Result<TableMetadata, Error> {
    let wanted = updates.iter().find_map(|u| match u {
        TableUpdate::UpgradeFormatVersion(upgrade) => Some(upgrade.checked()),
        _ => None,
    });
    Ok(TableMetadata {
        format_version: wanted.transpose()?.unwrap_or(FORMAT_VERSION_DEFAULT),
        table_uuid: None,
        location: String::new(),
        last_sequence_number: 0,
        last_updated_ms: now_ms,
        last_column_id: 0,
        current_schema_id: NO_ID,
        schemas: Vec::new(),
        default_spec_id: NO_ID,
        partition_specs: Vec::new(),
        last_partition_id: UNPARTITIONED_LAST_ID,
        default_sort_order_id: NO_ID,
        sort_orders: Vec::new(),
        properties: BTreeMap::new(),
        current_snapshot_id: None,
        next_row_id: 0,
        encryption_keys: Vec::new(),
        refs: BTreeMap::new(),
        snapshots: Vec::new(),
        statistics: Vec::new(),
        partition_statistics: Vec::new(),
        snapshot_log: Vec::new(),
        metadata_log: Vec::new(),
        extra: Extra::new(),
    })
}

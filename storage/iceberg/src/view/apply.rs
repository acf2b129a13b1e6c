use std::collections::BTreeSet;
use std::sync::Arc;

use super::{FORMAT_VERSION, ViewMetadata, ViewUpdate, ViewVersion};
use crate::properties::{VIEW_DROP_DIALECT_ALLOWED, is_stored};
use crate::schema::{self, Schema};
use crate::table::{checked_uuid, clean_location, next_id};
use crate::{Error, bounds};

/// The outcome of [`apply()`].
#[derive(Debug, Clone)]
pub struct Applied {
    /// The new metadata, or the base if nothing changed.
    pub metadata: ViewMetadata,
    /// Whether it differs from the base; if not, no file and no catalog commit is due.
    pub changed: bool,
}

/// Applies updates in order. Requirements are not looked at, see [`super::ViewRequirement::check`].
///
/// # Errors
/// [`Error::Validation`] for what would make the metadata invalid or lose a dialect, [`Error::BadRequest`] beyond the bounds.
pub fn apply(base: &ViewMetadata, updates: &[ViewUpdate], now_ms: i64) -> Result<Applied, Error> {
    bounds::count("updates", updates.len(), bounds::UPDATES_MAX)?;
    let mut builder =
        Builder { metadata: base.clone(), last_schema: None, last_version: None, added: BTreeSet::new() };
    for update in updates {
        builder.apply(update)?;
    }
    let Builder { mut metadata, added, .. } = builder;
    if metadata == *base {
        return Ok(Applied { metadata, changed: false });
    }
    if metadata.current_version_id != base.current_version_id {
        check_dialects(base, &metadata)?;
        metadata.log_current(added.contains(&metadata.current_version_id), now_ms);
    }
    metadata.expire_versions(added.len())?;
    Ok(Applied { metadata, changed: true })
}

struct Builder {
    metadata: ViewMetadata,
    last_schema: Option<i32>,
    last_version: Option<i32>,
    added: BTreeSet<i32>,
}

impl Builder {
    fn apply(&mut self, update: &ViewUpdate) -> Result<(), Error> {
        let metadata = &mut self.metadata;
        match update {
            ViewUpdate::AssignUuid(update) => {
                if !checked_uuid(&update.uuid)?.eq_ignore_ascii_case(&metadata.view_uuid) {
                    return Err(Error::Validation("Cannot reassign uuid".to_owned()));
                }
            }
            ViewUpdate::UpgradeFormatVersion(update) => check_format_version(update.format_version)?,
            ViewUpdate::AddSchema(update) => self.add_schema(&update.schema)?,
            ViewUpdate::SetLocation(update) => metadata.location = clean_location(&update.location)?,
            ViewUpdate::SetProperties(update) => {
                bounds::properties(&update.updates)?;
                let stored = update.updates.iter().filter(|(key, _)| is_stored(key));
                metadata.properties.extend(stored.map(|(k, v)| (k.clone(), v.clone())));
                bounds::count("properties", metadata.properties.len(), bounds::PROPERTIES_MAX)?;
            }
            ViewUpdate::RemoveProperties(update) => {
                metadata.properties.retain(|key, _| !update.removals.contains(key));
            }
            ViewUpdate::AddViewVersion { view_version } => self.add_version(view_version)?,
            ViewUpdate::SetCurrentViewVersion { view_version_id } => self.set_current(*view_version_id)?,
        }
        Ok(())
    }

    fn add_schema(&mut self, wanted: &Schema) -> Result<(), Error> {
        let schemas = &mut self.metadata.schemas;
        if let Some(same) = schemas.iter().find(|s| s.same_as(wanted)) {
            self.last_schema = Some(same.schema_id);
            return Ok(());
        }
        schema::structure(wanted)?;
        let schema_id = next_id(schemas.last().map(|s| s.schema_id), "schema")?;
        schemas.push(Arc::new(Schema { schema_id, ..wanted.clone() }));
        self.last_schema = Some(schema_id);
        Ok(())
    }

    fn add_version(&mut self, wanted: &ViewVersion) -> Result<(), Error> {
        check_version(wanted)?;
        let mut version = wanted.clone();
        if version.schema_id == -1 {
            let none =
                || Error::Validation("Cannot set last added schema: no schema has been added".to_owned());
            version.schema_id = self.last_schema.ok_or_else(none)?;
        }
        if self.metadata.schema(version.schema_id).is_none() {
            return Err(Error::Validation(format!(
                "Cannot add version with unknown schema: {}",
                version.schema_id
            )));
        }
        let versions = &mut self.metadata.versions;
        if let Some(same) = versions.iter().find(|v| v.same_as(&version)) {
            self.last_version = Some(same.version_id);
            return Ok(());
        }
        version.version_id = next_id(versions.last().map(|v| v.version_id), "view version")?;
        self.last_version = Some(version.version_id);
        self.added.insert(version.version_id);
        versions.push(Arc::new(version));
        Ok(())
    }

    fn set_current(&mut self, wanted: i32) -> Result<(), Error> {
        let id = match wanted {
            -1 => self.last_version.ok_or_else(|| {
                Error::Validation("Cannot set last version id: no current version id has been set".to_owned())
            })?,
            id => id,
        };
        if self.metadata.version(id).is_none() {
            return Err(Error::Validation(format!("Cannot set current version to unknown version: {id}")));
        }
        self.metadata.current_version_id = id;
        Ok(())
    }
}

fn check_format_version(wanted: i64) -> Result<(), Error> {
    match wanted {
        FORMAT_VERSION => Ok(()),
        lower if lower < FORMAT_VERSION => {
            Err(Error::Validation(format!("Cannot downgrade v{FORMAT_VERSION} view to v{lower}")))
        }
        higher => Err(Error::Validation(format!(
            "Cannot upgrade view to unsupported format version: v{higher} (supported: v{FORMAT_VERSION})"
        ))),
    }
}

/// Checks a version about to be added: something to run, every dialect once.
pub(super) fn check_version(version: &ViewVersion) -> Result<(), Error> {
    let invalid = |text: String| Error::Validation(format!("Invalid view version: {text}"));
    if version.representations.is_empty() {
        return Err(invalid("Cannot add a version without representations".to_owned()));
    }
    bounds::count("view representations", version.representations.len(), bounds::VIEW_REPRESENTATIONS_MAX)?;
    let mut seen = BTreeSet::new();
    for representation in version.representations.iter().filter(|r| r.kind == "sql") {
        let (Some(sql), Some(dialect)) = (&representation.sql, &representation.dialect) else {
            return Err(invalid("a representation of type sql needs sql and dialect".to_owned()));
        };
        bounds::text("SQL of a view", sql, bounds::VIEW_SQL_BYTES_MAX)?;
        let dialect = dialect.to_lowercase();
        if seen.contains(&dialect) {
            return Err(invalid(format!("Cannot add multiple queries for dialect {dialect}")));
        }
        seen.insert(dialect);
    }
    Ok(())
}

/// A replaced view keeps its dialects, unless its properties allow losing some.
fn check_dialects(base: &ViewMetadata, metadata: &ViewMetadata) -> Result<(), Error> {
    let allowed =
        metadata.properties.get(VIEW_DROP_DIALECT_ALLOWED).is_some_and(|v| v.eq_ignore_ascii_case("true"));
    let (Some(before), Some(after)) = (base.current_version(), metadata.current_version()) else {
        return Ok(());
    };
    let (before, after) = (before.dialects(), after.dialects());
    if allowed || before.is_subset(&after) {
        return Ok(());
    }
    let list = |set: &BTreeSet<String>| set.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
    Err(Error::Validation(format!(
        "Cannot replace view due to loss of view dialects ({VIEW_DROP_DIALECT_ALLOWED}=false):\nPrevious dialects: [{}]\nNew dialects: [{}]",
        list(&before),
        list(&after)
    )))
}

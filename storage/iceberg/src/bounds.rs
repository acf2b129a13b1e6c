//! Limits on what a request may bring. Documents that already exist are read whatever their size; the caller bounds bytes.

use std::collections::BTreeMap;

use crate::Error;

/// Deepest nesting of types inside a schema, counted in types (a struct in a list in a struct is 3).
pub const SCHEMA_DEPTH_MAX: usize = 32;
/// Fields of a schema, nested ones, list elements, map keys and values included.
pub const SCHEMA_FIELDS_MAX: usize = 20_000;
/// Fields of a partition spec or a sort order.
pub const SPEC_FIELDS_MAX: usize = 1_000;
/// Bytes of a column, partition field or reference name.
pub const NAME_BYTES_MAX: usize = 4 * 1024;
/// Bytes of a location.
pub const LOCATION_BYTES_MAX: usize = 4 * 1024;
/// Bytes of a property key.
pub const PROPERTY_KEY_BYTES_MAX: usize = 4 * 1024;
/// Bytes of a property value.
pub const PROPERTY_VALUE_BYTES_MAX: usize = 1024 * 1024;
/// Properties of one table or view, and of one update.
pub const PROPERTIES_MAX: usize = 10_000;
/// Updates of one commit to one table or view.
pub const UPDATES_MAX: usize = 10_000;
/// Requirements of one commit to one table or view.
pub const REQUIREMENTS_MAX: usize = 10_000;
/// Bytes of the SQL of one view representation.
pub const VIEW_SQL_BYTES_MAX: usize = 1024 * 1024;
/// Representations of one view version.
pub const VIEW_REPRESENTATIONS_MAX: usize = 100;

/// Refuses a text longer than `max_bytes`, naming what it is.
pub(crate) fn text(what: &str, value: &str, max_bytes: usize) -> Result<(), Error> {
    if value.len() > max_bytes {
        return Err(Error::BadRequest(format!(
            "{what} is too long: {} bytes, at most {max_bytes}",
            value.len()
        )));
    }
    Ok(())
}

/// Refuses a list longer than `max`, naming what it holds.
pub(crate) fn count(what: &str, len: usize, max: usize) -> Result<(), Error> {
    if len > max {
        return Err(Error::BadRequest(format!("Too many {what}: {len}, at most {max}")));
    }
    Ok(())
}

/// Refuses properties that are too many or too long.
pub fn properties(properties: &BTreeMap<String, String>) -> Result<(), Error> {
    count("properties", properties.len(), PROPERTIES_MAX)?;
    for (key, value) in properties {
        text("Property name", key, PROPERTY_KEY_BYTES_MAX)?;
        text("Property value", value, PROPERTY_VALUE_BYTES_MAX)?;
    }
    Ok(())
}

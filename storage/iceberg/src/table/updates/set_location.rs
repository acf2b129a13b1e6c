use serde::{Deserialize, Serialize};

use crate::table::apply::Builder;
use crate::{Error, bounds};

/// Moves the table's base location; files stay where they are. Whether the place is allowed is the caller's question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct SetLocation {
    /// The new base location.
    pub location: String,
}

impl SetLocation {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        builder.metadata.location = clean_location(&self.location)?;
        Ok(())
    }
}

/// A location without trailing slashes.
pub(crate) fn clean_location(location: &str) -> Result<String, Error> {
    bounds::text("Location", location, bounds::LOCATION_BYTES_MAX)?;
    let clean = location.trim_end_matches('/');
    if clean.is_empty() {
        return Err(Error::BadRequest("Invalid location: must not be empty".to_owned()));
    }
    Ok(clean.to_owned())
}

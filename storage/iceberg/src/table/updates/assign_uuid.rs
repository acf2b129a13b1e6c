use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Error;
use crate::table::apply::Builder;

/// Gives a new table its uuid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct AssignUuid {
    /// The uuid.
    pub uuid: String,
}

impl AssignUuid {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let uuid = checked_uuid(&self.uuid)?;
        let existing = builder.base.and_then(|base| base.uuid());
        match existing {
            Some(current) if current.eq_ignore_ascii_case(uuid) => Ok(()),
            Some(current) => Err(Error::Validation(format!("Cannot reassign uuid: {current} to {uuid}"))),
            None => {
                builder.metadata.table_uuid = Some(uuid.to_owned());
                Ok(())
            }
        }
    }
}

/// Refuses a text that is no uuid; the text is stored as sent.
pub(crate) fn checked_uuid(text: &str) -> Result<&str, Error> {
    match Uuid::try_parse(text) {
        Ok(_) => Ok(text),
        Err(_) => Err(Error::BadRequest(format!("Invalid UUID: {text}"))),
    }
}

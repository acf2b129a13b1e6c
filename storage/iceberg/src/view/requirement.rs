use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::ViewMetadata;
use crate::Error;
use crate::de::tag;

/// What a view commit relies on (Iceberg REST, `ViewRequirement`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ViewRequirement {
    /// The view is the one the client read.
    AssertViewUuid {
        /// Expected uuid, compared ignoring case.
        uuid: String,
    },
}

impl ViewRequirement {
    /// Reads a requirement.
    ///
    /// # Errors
    /// Bad request naming an unknown `type` or a missing field.
    pub fn from_value(value: &Value) -> Result<Self, Error> {
        let name = tag("requirement", "type", value)?;
        if name != "assert-view-uuid" {
            return Err(Error::BadRequest(format!("Unknown requirement type: {name}")));
        }
        match value.get("uuid").and_then(Value::as_str) {
            Some(uuid) => Ok(Self::AssertViewUuid { uuid: uuid.to_owned() }),
            None => Err(Error::BadRequest(format!("Cannot parse requirement {name}: missing field uuid"))),
        }
    }

    /// Checks the requirement against the view.
    ///
    /// # Errors
    /// [`Error::Requirement`] if it does not hold.
    pub fn check(&self, base: &ViewMetadata) -> Result<(), Error> {
        let Self::AssertViewUuid { uuid } = self;
        if base.uuid().eq_ignore_ascii_case(uuid) {
            return Ok(());
        }
        Err(Error::Requirement(format!(
            "Requirement failed: view UUID does not match: expected {} != {uuid}",
            base.uuid()
        )))
    }
}

impl<'de> Deserialize<'de> for ViewRequirement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::ViewVersion;
use crate::Error;
use crate::de::{from_value, tag};
use crate::table::{
    AddSchema, AssignUuid, RemoveProperties, SetLocation, SetProperties, UpgradeFormatVersion,
};

/// A change to a view (Iceberg REST, `ViewUpdate`), told apart on the wire by `action`. Updates that tables have too are
/// the same types.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "action", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum ViewUpdate {
    /// `assign-uuid`: only the view's own uuid is accepted.
    AssignUuid(AssignUuid),
    /// `upgrade-format-version`: only to the version that exists.
    UpgradeFormatVersion(UpgradeFormatVersion),
    /// `add-schema`: an equal one is reused.
    AddSchema(AddSchema),
    /// `set-location`.
    SetLocation(SetLocation),
    /// `set-properties`.
    SetProperties(SetProperties),
    /// `remove-properties`.
    RemoveProperties(RemoveProperties),
    /// `add-view-version`: an equal one is reused.
    AddViewVersion {
        /// The version; its id is a hint.
        view_version: ViewVersion,
    },
    /// `set-current-view-version`.
    SetCurrentViewVersion {
        /// Id, -1 for the last added.
        view_version_id: i32,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct AddViewVersion {
    view_version: ViewVersion,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct SetCurrentViewVersion {
    view_version_id: i32,
}

impl ViewUpdate {
    /// Every action that is understood.
    pub const ACTIONS: &'static [&'static str] = &[
        "assign-uuid",
        "upgrade-format-version",
        "add-schema",
        "set-location",
        "set-properties",
        "remove-properties",
        "add-view-version",
        "set-current-view-version",
    ];

    /// Reads an update. Unknown fields are ignored.
    ///
    /// # Errors
    /// Bad request naming an unknown `action`, or what is wrong with a known one.
    pub fn from_value(value: Value) -> Result<Self, Error> {
        let action = tag("update", "action", &value)?;
        let what = format!("update {action}");
        Ok(match action.as_str() {
            "assign-uuid" => Self::AssignUuid(from_value(&what, value)?),
            "upgrade-format-version" => Self::UpgradeFormatVersion(from_value(&what, value)?),
            "add-schema" => Self::AddSchema(from_value(&what, value)?),
            "set-location" => Self::SetLocation(from_value(&what, value)?),
            "set-properties" => Self::SetProperties(from_value(&what, value)?),
            "remove-properties" => Self::RemoveProperties(from_value(&what, value)?),
            "add-view-version" => Self::AddViewVersion {
                view_version: from_value::<AddViewVersion>(&what, value)?.view_version,
            },
            "set-current-view-version" => {
                let update = from_value::<SetCurrentViewVersion>(&what, value)?;
                Self::SetCurrentViewVersion { view_version_id: update.view_version_id }
            }
            _ => return Err(Error::BadRequest(format!("Unknown update action: {action}"))),
        })
    }
}

impl<'de> Deserialize<'de> for ViewUpdate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

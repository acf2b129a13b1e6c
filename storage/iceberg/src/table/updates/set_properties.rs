use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::properties::is_stored;
use crate::table::apply::Builder;
use crate::{Error, bounds};

/// Sets properties. Reserved and derived keys are passed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct SetProperties {
    /// Values by key. Old clients call the field `updated`.
    #[serde(alias = "updated", deserialize_with = "crate::de::string_map")]
    pub updates: BTreeMap<String, String>,
}

impl SetProperties {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        bounds::properties(&self.updates)?;
        let properties = &mut builder.metadata.properties;
        for (key, value) in self.updates.iter().filter(|(key, _)| is_stored(key)) {
            properties.insert(key.clone(), value.clone());
        }
        bounds::count("properties", properties.len(), bounds::PROPERTIES_MAX)
    }
}

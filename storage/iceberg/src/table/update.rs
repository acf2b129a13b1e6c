use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::apply::Builder;
use super::updates as u;
use crate::Error;
use crate::de::{from_value, tag};

/// Declares the updates: wire action, variant (named like the type that carries its fields).
macro_rules! updates {
    ($($action:literal => $variant:ident,)*) => {
        /// A change to a table (Iceberg REST, `TableUpdate`), told apart on the wire by `action`.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = "action")]
        pub enum TableUpdate {
            $(
                #[doc = concat!("`", $action, "`")]
                #[serde(rename = $action)]
                $variant(u::$variant),
            )*
        }

        impl TableUpdate {
            /// Every action that is understood.
            pub const ACTIONS: &'static [&'static str] = &[$($action),*];

            /// Reads an update. Unknown fields are ignored.
            ///
            /// # Errors
            /// Bad request naming an unknown `action`, or what is wrong with a known one.
            pub fn from_value(value: Value) -> Result<Self, Error> {
                let action = tag("update", "action", &value)?;
                match action.as_str() {
                    $($action => from_value(&format!("update {action}"), value).map(Self::$variant),)*
                    _ => Err(Error::BadRequest(format!("Unknown update action: {action}"))),
                }
            }

            /// The wire word of the update.
            #[must_use]
            pub fn action(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $action,)*
                }
            }

            pub(super) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
                match self {
                    $(Self::$variant(update) => update.apply(builder),)*
                }
            }
        }

        $(
            impl From<u::$variant> for TableUpdate {
                fn from(update: u::$variant) -> Self {
                    Self::$variant(update)
                }
            }
        )*
    };
}

updates! {
    "assign-uuid" => AssignUuid,
    "upgrade-format-version" => UpgradeFormatVersion,
    "add-schema" => AddSchema,
    "set-current-schema" => SetCurrentSchema,
    "add-spec" => AddSpec,
    "set-default-spec" => SetDefaultSpec,
    "add-sort-order" => AddSortOrder,
    "set-default-sort-order" => SetDefaultSortOrder,
    "add-snapshot" => AddSnapshot,
    "set-snapshot-ref" => SetSnapshotRef,
    "remove-snapshot-ref" => RemoveSnapshotRef,
    "remove-snapshots" => RemoveSnapshots,
    "set-location" => SetLocation,
    "set-properties" => SetProperties,
    "remove-properties" => RemoveProperties,
    "set-statistics" => SetStatistics,
    "remove-statistics" => RemoveStatistics,
    "set-partition-statistics" => SetPartitionStatistics,
    "remove-partition-statistics" => RemovePartitionStatistics,
    "remove-partition-specs" => RemovePartitionSpecs,
    "remove-schemas" => RemoveSchemas,
    "add-encryption-key" => AddEncryptionKey,
    "remove-encryption-key" => RemoveEncryptionKey,
}

impl<'de> Deserialize<'de> for TableUpdate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

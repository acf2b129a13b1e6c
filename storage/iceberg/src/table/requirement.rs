use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::TableMetadata;
use crate::de::{from_value, tag};
use crate::{Error, bounds};

/// What a commit relies on (Iceberg REST, `TableRequirement`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum TableRequirement {
    /// The table does not exist.
    AssertCreate,
    /// The table is the one the client read.
    AssertTableUuid {
        /// Expected uuid, compared ignoring case.
        uuid: String,
    },
    /// A reference is where the client saw it.
    AssertRefSnapshotId {
        /// Name of the reference.
        r#ref: String,
        /// Expected snapshot; `None` (also sent as -1 or left out): the reference does not exist.
        snapshot_id: Option<i64>,
    },
    /// No column was added.
    AssertLastAssignedFieldId {
        /// Expected `last-column-id`.
        last_assigned_field_id: i32,
    },
    /// The current schema is unchanged.
    AssertCurrentSchemaId {
        /// Expected id.
        current_schema_id: i32,
    },
    /// No partition field was added.
    AssertLastAssignedPartitionId {
        /// Expected `last-partition-id`.
        last_assigned_partition_id: i32,
    },
    /// The default spec is unchanged.
    AssertDefaultSpecId {
        /// Expected id.
        default_spec_id: i32,
    },
    /// The default sort order is unchanged.
    AssertDefaultSortOrderId {
        /// Expected id.
        default_sort_order_id: i32,
    },
}

/// Whether requirements ask for the table to be created.
///
/// # Errors
/// Bad request if `assert-create` stands beside another requirement, or there are too many.
pub fn is_create(requirements: &[TableRequirement]) -> Result<bool, Error> {
    bounds::count("requirements", requirements.len(), bounds::REQUIREMENTS_MAX)?;
    let create = requirements.contains(&TableRequirement::AssertCreate);
    if create && requirements.iter().any(|r| *r != TableRequirement::AssertCreate) {
        return Err(Error::BadRequest(
            "Invalid create requirements: assert-create must be the only one".to_owned(),
        ));
    }
    Ok(create)
}

impl TableRequirement {
    /// Reads a requirement.
    ///
    /// # Errors
    /// Bad request naming an unknown `type` or a missing field.
    pub fn from_value(value: Value) -> Result<Self, Error> {
        let name = tag("requirement", "type", &value)?;
        let what = format!("requirement {name}");
        Ok(match name.as_str() {
            "assert-create" => Self::AssertCreate,
            "assert-table-uuid" => Self::AssertTableUuid { uuid: from_value::<Uuid>(&what, value)?.uuid },
            "assert-ref-snapshot-id" => {
                let at: RefAt = from_value(&what, value)?;
                Self::AssertRefSnapshotId { r#ref: at.r#ref, snapshot_id: at.snapshot_id }
            }
            "assert-last-assigned-field-id" => Self::AssertLastAssignedFieldId {
                last_assigned_field_id: id(&what, "last-assigned-field-id", &value)?,
            },
            "assert-current-schema-id" => {
                Self::AssertCurrentSchemaId { current_schema_id: id(&what, "current-schema-id", &value)? }
            }
            "assert-last-assigned-partition-id" => Self::AssertLastAssignedPartitionId {
                last_assigned_partition_id: id(&what, "last-assigned-partition-id", &value)?,
            },
            "assert-default-spec-id" => {
                Self::AssertDefaultSpecId { default_spec_id: id(&what, "default-spec-id", &value)? }
            }
            "assert-default-sort-order-id" => Self::AssertDefaultSortOrderId {
                default_sort_order_id: id(&what, "default-sort-order-id", &value)?,
            },
            _ => return Err(Error::BadRequest(format!("Unknown requirement type: {name}"))),
        })
    }

    /// Checks the requirement against the table, `None` if there is none.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`] for a failed `assert-create`, [`Error::Requirement`] for the others.
    pub fn check(&self, base: Option<&TableMetadata>) -> Result<(), Error> {
        let failed = |text: String| Err(Error::Requirement(format!("Requirement failed: {text}")));
        let Some(base) = base else {
            return match self {
                Self::AssertCreate
                | Self::AssertLastAssignedFieldId { .. }
                | Self::AssertLastAssignedPartitionId { .. }
                | Self::AssertRefSnapshotId { snapshot_id: None, .. } => Ok(()),
                _ => failed("table does not exist".to_owned()),
            };
        };
        let (what, expected, found) = match self {
            Self::AssertCreate => {
                return Err(Error::AlreadyExists("Requirement failed: table already exists".to_owned()));
            }
            Self::AssertTableUuid { uuid } => {
                let current = base.uuid().unwrap_or("null");
                if current.eq_ignore_ascii_case(uuid) {
                    return Ok(());
                }
                return failed(format!("UUID does not match: expected {current} != {uuid}"));
            }
            Self::AssertRefSnapshotId { r#ref, snapshot_id } => {
                return match (base.refs.get(r#ref), snapshot_id) {
                    (None, None) => Ok(()),
                    (Some(found), Some(id)) if found.snapshot_id == *id => Ok(()),
                    (Some(found), None) => {
                        failed(format!("{} {} was created concurrently", found.ref_type.as_str(), r#ref))
                    }
                    (Some(found), Some(id)) => failed(format!(
                        "{} {} has changed: expected id {id} != {}",
                        found.ref_type.as_str(),
                        r#ref,
                        found.snapshot_id
                    )),
                    (None, Some(id)) => failed(format!("branch or tag {} is missing, expected {id}", r#ref)),
                };
            }
            Self::AssertLastAssignedFieldId { last_assigned_field_id: id } => {
                ("last assigned field id", *id, base.last_column_id)
            }
            Self::AssertCurrentSchemaId { current_schema_id: id } => {
                ("current schema", *id, base.current_schema_id)
            }
            Self::AssertLastAssignedPartitionId { last_assigned_partition_id: id } => {
                ("last assigned partition id", *id, base.last_partition_id)
            }
            Self::AssertDefaultSpecId { default_spec_id: id } => {
                ("default partition spec", *id, base.default_spec_id)
            }
            Self::AssertDefaultSortOrderId { default_sort_order_id: id } => {
                ("default sort order", *id, base.default_sort_order_id)
            }
        };
        if expected == found {
            return Ok(());
        }
        failed(format!("{what} changed: expected id {expected} != {found}"))
    }
}

#[derive(Deserialize)]
struct Uuid {
    uuid: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct RefAt {
    r#ref: String,
    #[serde(default, deserialize_with = "crate::de::snapshot_id_or_none")]
    snapshot_id: Option<i64>,
}

fn id(what: &str, field: &str, value: &Value) -> Result<i32, Error> {
    let found = value.get(field).filter(|v| !v.is_null());
    let found =
        found.ok_or_else(|| Error::BadRequest(format!("Cannot parse {what}: missing field {field}")))?;
    let id = found.as_i64().and_then(|id| i32::try_from(id).ok());
    id.ok_or_else(|| Error::BadRequest(format!("Cannot parse {what}: field {field} must be an integer")))
}

impl<'de> Deserialize<'de> for TableRequirement {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

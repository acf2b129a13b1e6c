use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::table::apply::Builder;
use crate::table::{FORMAT_VERSION_MAX, TableMetadata};

/// Raises the format version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct UpgradeFormatVersion {
    /// The new version.
    pub format_version: i64,
}

impl UpgradeFormatVersion {
    /// The version, if it is one that can be written.
    pub(in crate::table) fn checked(&self) -> Result<u8, Error> {
        u8::try_from(self.format_version).ok().filter(|v| (1..=FORMAT_VERSION_MAX).contains(v)).ok_or_else(|| {
            Error::Validation(format!(
                "Cannot upgrade table to unsupported format version: v{} (supported: v{FORMAT_VERSION_MAX})",
                self.format_version
            ))
        })
    }

    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        let current = builder.metadata.format_version;
        if self.format_version < i64::from(current) {
            return Err(Error::Validation(format!(
                "Cannot downgrade v{current} table to v{}",
                self.format_version
            )));
        }
        let wanted = self.checked()?;
        let metadata = &mut builder.metadata;
        if current == 1 && wanted > 1 {
            to_v2(metadata)?;
        }
        // Row lineage starts empty: snapshots from before the upgrade have no first row id.
        if current < 3 && wanted >= 3 {
            metadata.next_row_id = 0;
        }
        metadata.format_version = wanted;
        Ok(())
    }
}

/// Format v2 knows sequence numbers: those of all earlier snapshots are 0, and written, as some readers insist.
fn to_v2(metadata: &mut TableMetadata) -> Result<(), Error> {
    if metadata.table_uuid.is_none() {
        return Err(Error::Validation("Cannot upgrade v1 table: no UUID has been assigned".to_owned()));
    }
    metadata.last_sequence_number = 0;
    for snapshot in &mut metadata.snapshots {
        Arc::make_mut(snapshot).sequence_number = Some(0);
    }
    Ok(())
}

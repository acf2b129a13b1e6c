use serde::{Deserialize, Serialize};

use crate::snapshot::{MAIN_BRANCH, RefType, SnapshotLogEntry, SnapshotRef};
use crate::table::apply::Builder;
use crate::table::finish::log_time;
use crate::{Error, Extra, bounds};

/// Creates or moves a reference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct SetSnapshotRef {
    /// Name of the reference.
    pub ref_name: String,
    /// Branch or tag.
    #[serde(rename = "type")]
    pub ref_type: RefType,
    /// The snapshot it shall name.
    pub snapshot_id: i64,
    /// Snapshots to keep on a branch at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_snapshots_to_keep: Option<i32>,
    /// Age up to which snapshots of a branch are kept, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_snapshot_age_ms: Option<i64>,
    /// Age up to which the reference itself is kept, milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ref_age_ms: Option<i64>,
}

impl SetSnapshotRef {
    pub(in crate::table) fn apply(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        bounds::text("Reference name", &self.ref_name, bounds::NAME_BYTES_MAX)?;
        let wanted = SnapshotRef {
            snapshot_id: self.snapshot_id,
            ref_type: self.ref_type,
            min_snapshots_to_keep: self.min_snapshots_to_keep,
            max_snapshot_age_ms: self.max_snapshot_age_ms,
            max_ref_age_ms: self.max_ref_age_ms,
            extra: Extra::new(),
        };
        if builder.metadata.refs.get(&self.ref_name) == Some(&wanted) {
            return Ok(());
        }
        if self.ref_name.is_empty() {
            return Err(Error::BadRequest("Invalid reference name: must not be empty".to_owned()));
        }
        wanted.check()?;
        let is_main = self.ref_name == MAIN_BRANCH;
        if is_main && self.ref_type == RefType::Tag {
            return Err(Error::Validation("Cannot set main to a tag: main must be a branch".to_owned()));
        }
        let Some(timestamp_ms) = builder.metadata.snapshot(self.snapshot_id).map(|s| s.timestamp_ms) else {
            return Err(Error::Validation(format!(
                "Cannot set {} to unknown snapshot: {}",
                self.ref_name, self.snapshot_id
            )));
        };
        builder.metadata.refs.insert(self.ref_name.clone(), wanted);
        if is_main {
            self.move_main(builder, timestamp_ms);
        }
        Ok(())
    }

    fn move_main(&self, builder: &mut Builder<'_>, timestamp_ms: i64) {
        let added = builder.added_snapshots.contains(&self.snapshot_id);
        if added {
            builder.main_moves.push(self.snapshot_id);
        }
        let metadata = &mut builder.metadata;
        metadata.current_snapshot_id = Some(self.snapshot_id);
        if metadata.snapshot_log.last().map(|entry| entry.snapshot_id) != Some(self.snapshot_id) {
            let timestamp_ms = log_time(metadata, if added { timestamp_ms } else { builder.now_ms });
            let (snapshot_id, extra) = (self.snapshot_id, Extra::new());
            metadata.snapshot_log.push(SnapshotLogEntry { timestamp_ms, snapshot_id, extra });
        }
    }
}

//! What a view remembers of earlier versions.

use std::collections::BTreeSet;

use super::{ViewLogEntry, ViewMetadata};
use crate::properties::VIEW_HISTORY_ENTRIES;
use crate::{Error, Extra};

/// Versions a view keeps unless it says otherwise.
const VERSIONS_DEFAULT: usize = 10;

impl ViewMetadata {
    /// Logs that the current version became so: at its own time if it is new, now if an old one was brought back.
    pub(super) fn log_current(&mut self, is_new: bool, now_ms: i64) {
        let own = self.current_version().map(|v| v.timestamp_ms).filter(|ms| is_new && *ms > 0);
        let version_id = self.current_version_id;
        self.version_log.push(ViewLogEntry {
            timestamp_ms: own.unwrap_or(now_ms),
            version_id,
            extra: Extra::new(),
        });
    }

    /// Drops the oldest versions beyond what is kept, never the current one nor one of the `added` last ones, and the
    /// log before the newest entry of a dropped one.
    pub(super) fn expire_versions(&mut self, added: usize) -> Result<(), Error> {
        let keep = self.versions_kept()?.max(added);
        if self.versions.len() <= keep {
            return Ok(());
        }
        let mut kept: BTreeSet<i32> = BTreeSet::from([self.current_version_id]);
        for version in self.versions.iter().rev() {
            if kept.len() < keep {
                kept.insert(version.version_id);
            }
        }
        self.versions.retain(|v| kept.contains(&v.version_id));
        let cut = self.version_log.iter().rposition(|entry| !kept.contains(&entry.version_id));
        self.version_log.drain(..cut.map_or(0, |place| place + 1));
        Ok(())
    }

    fn versions_kept(&self) -> Result<usize, Error> {
        let Some(text) = self.properties.get(VIEW_HISTORY_ENTRIES) else { return Ok(VERSIONS_DEFAULT) };
        match text.trim().parse::<i64>() {
            Ok(n) if n > 0 => Ok(usize::try_from(n).unwrap_or(usize::MAX)),
            _ => Err(Error::Validation(format!("{VIEW_HISTORY_ENTRIES} must be positive but was {text}"))),
        }
    }
}

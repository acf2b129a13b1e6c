//! Property keys with a meaning to the catalog.

use std::collections::BTreeMap;

/// Content id of the table in the catalog; put into loaded metadata, never stored.
pub const CONTENT_ID: &str = "nessie.catalog.content-id";
/// Catalog commit that last changed the table; put into loaded metadata, never stored.
pub const COMMIT_ID: &str = "nessie.commit.id";
/// Catalog reference the table was loaded from; put into loaded metadata, never stored.
pub const COMMIT_REF: &str = "nessie.commit.ref";
/// Marks the answer to a staged create; never stored.
pub const STAGED: &str = "nessie.staged";
/// Whether engines may delete files; off by default, since other branches may need them.
pub const GC_ENABLED: &str = "gc.enabled";
/// When the catalog created the table, ISO 8601.
pub const CREATED_AT: &str = "created-at";
/// Format version asked for at creation; never stored.
pub const FORMAT_VERSION: &str = "format-version";
/// How many entries the metadata log keeps.
pub const METADATA_PREVIOUS_VERSIONS_MAX: &str = "write.metadata.previous-versions-max";
/// Folder of metadata files, instead of `<location>/metadata`.
pub const METADATA_PATH: &str = "write.metadata.path";
/// Compression of metadata files: `none` or `gzip`.
pub const METADATA_COMPRESSION: &str = "write.metadata.compression-codec";
/// How many versions a view keeps.
pub const VIEW_HISTORY_ENTRIES: &str = "version.history.num-entries";
/// Whether a replaced view may lose a dialect.
pub const VIEW_DROP_DIALECT_ALLOWED: &str = "replace.drop-dialect.allowed";

/// Keys that are derived when metadata is loaded and must not come back in.
pub const DERIVED: [&str; 4] = [CONTENT_ID, COMMIT_ID, COMMIT_REF, STAGED];

/// Keys the table spec reserves; they are never stored as properties.
pub const RESERVED: [&str; 9] = [
    FORMAT_VERSION,
    "uuid",
    "snapshot-count",
    "current-snapshot-id",
    "current-snapshot-summary",
    "current-snapshot-timestamp-ms",
    "current-schema",
    "default-partition-spec",
    "default-sort-order",
];

/// Removes the derived keys from properties a client sends.
pub fn strip_derived(properties: &mut BTreeMap<String, String>) {
    properties.retain(|key, _| !DERIVED.contains(&key.as_str()));
}

/// Whether a key of a client is stored at all.
pub(crate) fn is_stored(key: &str) -> bool {
    !DERIVED.contains(&key) && !RESERVED.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_keys_are_stripped_and_others_kept() {
        let keys = [CONTENT_ID, COMMIT_ID, COMMIT_REF, STAGED, GC_ENABLED, FORMAT_VERSION];
        let mut properties = keys.iter().map(|key| ((*key).to_owned(), "x".to_owned())).collect();
        strip_derived(&mut properties);
        assert_eq!(properties.keys().collect::<Vec<_>>(), [FORMAT_VERSION, GC_ENABLED]);
    }
}

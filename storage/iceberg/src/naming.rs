//! Names of metadata files.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::properties::{METADATA_COMPRESSION, METADATA_PATH};

/// Location of a table's or view's next metadata file: `<location>/metadata/<NNNNN>-<uuid>.metadata.json`, the number
/// one above that of `previous`, 0 without one. `write.metadata.path` replaces the folder; with
/// `write.metadata.compression-codec=gzip` the name ends in `.gz.metadata.json`.
#[must_use]
pub fn next_metadata_location(
    table_location: &str,
    previous: Option<&str>,
    uuid: Uuid,
    properties: &BTreeMap<String, String>,
) -> String {
    let version = previous.map_or(0, |location| version_of(location).map_or(0, |n| n.saturating_add(1)));
    let folder = match properties.get(METADATA_PATH).map(|path| path.trim_end_matches('/')) {
        Some(path) if !path.is_empty() => path.to_owned(),
        _ => format!("{}/metadata", table_location.trim_end_matches('/')),
    };
    let suffix = if is_gzip(properties) { ".gz.metadata.json" } else { ".metadata.json" };
    format!("{folder}/{version:05}-{uuid}{suffix}")
}

/// Whether metadata files of these properties are compressed.
#[must_use]
pub fn is_gzip(properties: &BTreeMap<String, String>) -> bool {
    properties.get(METADATA_COMPRESSION).is_some_and(|codec| codec.eq_ignore_ascii_case("gzip"))
}

/// Whether the name of a metadata file says that it is compressed (`….gz.metadata.json`, `….metadata.json.gz`).
#[must_use]
pub fn is_gzip_name(location: &str) -> bool {
    location.ends_with(".gz.metadata.json") || location.ends_with(".metadata.json.gz")
}

/// Number in the name of a metadata file: `00003-<uuid>.metadata.json` is 3, `v3.metadata.json` is 3; `None` for
/// other names.
#[must_use]
pub fn version_of(location: &str) -> Option<u64> {
    let name = location.rsplit_once('/').map_or(location, |(_, name)| name);
    let digits = match name.split_once('-') {
        Some((number, _)) => number,
        None => name.strip_prefix('v')?.split_once('.')?.0,
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(previous: Option<&str>, properties: &[(&str, &str)], expected: &str) {
        let properties = properties.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let got = next_metadata_location("s3://lake/t/", previous, Uuid::nil(), &properties);
        assert_eq!(got, expected.replace("{u}", &Uuid::nil().to_string()));
    }

    #[test]
    fn next_locations() {
        check(None, &[], "s3://lake/t/metadata/00000-{u}.metadata.json");
        check(
            Some("s3://lake/t/metadata/00009-x.metadata.json"),
            &[],
            "s3://lake/t/metadata/00010-{u}.metadata.json",
        );
        check(Some("s3://x/99999-x.metadata.json"), &[], "s3://lake/t/metadata/100000-{u}.metadata.json");
        check(Some("s3://x/some-file.json"), &[], "s3://lake/t/metadata/00000-{u}.metadata.json");
        check(None, &[(METADATA_PATH, "s3://m/p/")], "s3://m/p/00000-{u}.metadata.json");
        check(None, &[(METADATA_COMPRESSION, "GZIP")], "s3://lake/t/metadata/00000-{u}.gz.metadata.json");
        check(None, &[(METADATA_COMPRESSION, "none")], "s3://lake/t/metadata/00000-{u}.metadata.json");
    }

    #[test]
    fn versions() {
        assert_eq!(version_of("s3://a/b/00012-abc.metadata.json"), Some(12));
        assert_eq!(version_of("00012-abc.gz.metadata.json"), Some(12));
        assert_eq!(version_of("file:/a/v7.metadata.json"), Some(7));
        assert_eq!(version_of("file:/a/x7-1.metadata.json"), None);
        assert_eq!(version_of("99999999999999999999999-a.metadata.json"), None);
        assert_eq!(version_of(""), None);
    }

    #[test]
    fn compression_by_name() {
        assert!(is_gzip_name("a/00000-x.gz.metadata.json"));
        assert!(is_gzip_name("a/00000-x.metadata.json.gz"));
        assert!(!is_gzip_name("a/00000-x.metadata.json"));
    }
}

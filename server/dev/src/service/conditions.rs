//! Conditions of reads: on the object asked for, or on the source of a copy.

use s3s::dto::{ETag, ETagCondition, Timestamp};
use s3s::{S3Result, s3_error};

use crate::store::Description;

/// `If-Match`, `If-None-Match`, `If-Modified-Since`, `If-Unmodified-Since` or their copies for sources.
#[derive(Debug, Default)]
pub(super) struct ReadConditions {
    pub(super) if_match: Option<ETagCondition>,
    pub(super) if_none_match: Option<ETagCondition>,
    pub(super) if_modified_since: Option<Timestamp>,
    pub(super) if_unmodified_since: Option<Timestamp>,
}

/// What a condition says that does not hold.
#[derive(Debug, PartialEq, Eq)]
enum Unmet {
    Failed,
    NotModified,
}

impl ReadConditions {
    /// Checks a read: 304 or 412 where a condition does not hold.
    pub(super) fn check(&self, description: &Description) -> S3Result<()> {
        match self.unmet(description) {
            None => Ok(()),
            Some(Unmet::NotModified) => Err(s3_error!(NotModified)),
            Some(Unmet::Failed) => Err(s3_error!(PreconditionFailed)),
        }
    }

    /// Checks the source of a copy, where everything that does not hold is 412.
    pub(super) fn check_source(&self, description: &Description) -> S3Result<()> {
        match self.unmet(description) {
            None => Ok(()),
            Some(_) => Err(s3_error!(PreconditionFailed)),
        }
    }

    /// The rules of HTTP: an ETag condition makes the date beside it irrelevant.
    fn unmet(&self, description: &Description) -> Option<Unmet> {
        let etag = ETag::Strong(description.etag.clone());
        // Dates on the wire have whole seconds, so that is what is compared.
        let modified_s = description.modified_us / 1_000_000;
        match (&self.if_match, &self.if_unmodified_since) {
            (Some(ETagCondition::ETag(wanted)), _) if !wanted.strong_cmp(&etag) => {
                return Some(Unmet::Failed);
            }
            (None, Some(since)) if modified_s > seconds(since) => return Some(Unmet::Failed),
            _ => {}
        }
        match (&self.if_none_match, &self.if_modified_since) {
            (Some(ETagCondition::Any), _) => Some(Unmet::NotModified),
            (Some(ETagCondition::ETag(known)), _) if known.weak_cmp(&etag) => Some(Unmet::NotModified),
            (None, Some(since)) if modified_s <= seconds(since) => Some(Unmet::NotModified),
            _ => None,
        }
    }
}

/// Whole seconds since 1970; 0 for what lies before.
fn seconds(instant: &Timestamp) -> u64 {
    let mut text = Vec::new();
    // Writing into memory does not fail, and a date that cannot be written is as good as none.
    if instant.format(s3s::dto::TimestampFormat::EpochSeconds, &mut text).is_err() {
        return 0;
    }
    let text = String::from_utf8(text).unwrap_or_default();
    text.split('.').next().and_then(|whole| whole.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    fn at(seconds: u64) -> Option<Timestamp> {
        Some((UNIX_EPOCH + Duration::from_secs(seconds)).into())
    }

    fn etag(value: &str) -> Option<ETagCondition> {
        Some(ETagCondition::ETag(ETag::Strong(value.into())))
    }

    #[test]
    fn etags_come_before_dates() {
        let object = Description { etag: "x".into(), modified_us: 100_900_000, ..Description::default() };
        let check = |conditions: ReadConditions, expected| assert_eq!(conditions.unmet(&object), expected);
        let none = ReadConditions::default;
        check(none(), None);
        check(ReadConditions { if_match: etag("x"), if_unmodified_since: at(1), ..none() }, None);
        check(ReadConditions { if_match: etag("y"), ..none() }, Some(Unmet::Failed));
        check(ReadConditions { if_match: Some(ETagCondition::Any), ..none() }, None);
        check(ReadConditions { if_unmodified_since: at(99), ..none() }, Some(Unmet::Failed));
        check(ReadConditions { if_unmodified_since: at(100), ..none() }, None);
        check(ReadConditions { if_none_match: etag("x"), ..none() }, Some(Unmet::NotModified));
        check(ReadConditions { if_none_match: etag("y"), if_modified_since: at(200), ..none() }, None);
        check(ReadConditions { if_modified_since: at(100), ..none() }, Some(Unmet::NotModified));
        check(ReadConditions { if_modified_since: at(99), ..none() }, None);
    }
}

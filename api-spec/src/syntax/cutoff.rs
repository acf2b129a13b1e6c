//! Cut-off policies of the garbage collector's configuration.

use crate::syntax::{Instant, duration::IsoDuration};

const COMMITS_DIGITS_MAX: usize = 11;

/// How much history of a reference stays live. The wire keeps the text; this is its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutoffPolicy {
    /// Everything stays.
    None,
    /// The newest N commits stay.
    Commits(u64),
    /// Commits younger than this stay.
    Age(IsoDuration),
    /// Commits made at or after this instant stay.
    Since(Instant),
}

/// Text that is no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "Failed to parse default-cutoff-value '{0}', a cut-off policy must be NONE, a positive number of commits, an \
     ISO-8601 duration or an ISO-8601 instant"
)]
pub struct CutoffError(pub String);

impl CutoffPolicy {
    /// Parses `NONE`, a positive number of at most 11 digits, a duration or an instant, in any case.
    ///
    /// A bare `P` passes as a duration of nothing, as the reference server lets it.
    pub fn parse(text: &str) -> Result<Self, CutoffError> {
        let error = || CutoffError(text.to_owned());
        if text.eq_ignore_ascii_case("NONE") {
            return Ok(Self::None);
        }
        if !text.is_empty() && text.len() <= COMMITS_DIGITS_MAX && text.bytes().all(|b| b.is_ascii_digit()) {
            return text.parse().ok().filter(|n| *n > 0).map(Self::Commits).ok_or_else(error);
        }
        if text.eq_ignore_ascii_case("P") {
            return Ok(Self::Age(IsoDuration::default()));
        }
        IsoDuration::parse(text)
            .map(Self::Age)
            .or_else(|_| Instant::parse_utc(text).map(Self::Since))
            .map_err(|_| error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_and_what_does_not() {
        for good in ["NONE", "none", "5", "99999999999", "P1D", "pt1h", "2026-01-01T00:00:00Z", "PT0S", "P"] {
            assert!(CutoffPolicy::parse(good).is_ok(), "{good}");
        }
        for bad in ["", "0", "-1", "x", "100000000000", "1.5", "2026-01-01", " 5"] {
            assert!(CutoffPolicy::parse(bad).is_err(), "{bad}");
        }
        assert_eq!(CutoffPolicy::parse("7"), Ok(CutoffPolicy::Commits(7)));
    }
}

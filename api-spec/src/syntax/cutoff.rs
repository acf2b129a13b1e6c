//! Cut-off policies of the garbage collector's configuration.

use crate::syntax::{Instant, duration};

const COMMITS_DIGITS_MAX: usize = 11;
/// `2026-05-01T10:20:30`
const CLOCK_CHARS: usize = 19;
/// Where the hour stands in it.
const HOUR: std::ops::Range<usize> = 11..13;
/// A dot and nine digits.
const FRACTION_CHARS_MAX: usize = 10;

/// Text that is no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "Failed to parse default-cutoff-value '{0}', a cut-off policy must be NONE, a positive number of commits, an \
     ISO-8601 duration or an ISO-8601 instant"
)]
pub struct CutoffError(pub String);

/// Fails where a text has not the form of a policy: `NONE` in any case, a number of at most 11 digits that does not begin with
/// 0, a duration, or an instant.
///
/// The reference server looks at the form alone: parts of a duration may be missing (`P`, `PT`) and of any size. An
/// instant is a date of the years 1000 to 9999 with `Z` or an offset below 20 hours.
pub fn check(text: &str) -> Result<(), CutoffError> {
    let is_policy = text.eq_ignore_ascii_case("NONE")
        || is_count(text)
        || duration::Parts::of(text).is_some()
        || is_instant(text);
    if is_policy { Ok(()) } else { Err(CutoffError(text.to_owned())) }
}

fn is_count(text: &str) -> bool {
    text.len() <= COMMITS_DIGITS_MAX
        && text.starts_with(|first| ('1'..='9').contains(&first))
        && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_instant(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked(CLOCK_CHARS) else { return false };
    let zone =
        rest.strip_prefix('.').map_or(rest, |rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    // With its dot.
    let fraction_chars = rest.len() - zone.len();
    let is_fraction = fraction_chars == 0 || (2..=FRACTION_CHARS_MAX).contains(&fraction_chars);
    let is_zone = match zone.as_bytes() {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', b'0' | b'1', hour, b':', b'0'..=b'5', minute] => {
            [hour, minute].into_iter().all(u8::is_ascii_digit)
        }
        _ => false,
    };
    let is_usual = clock.starts_with(|first| ('1'..='9').contains(&first))
        && clock.get(HOUR) != Some("24")
        && !clock.ends_with(":60");
    is_fraction && is_zone && is_usual && Instant::parse(&format!("{clock}Z")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_and_what_does_not() {
        for good in [
            "NONE",
            "none",
            "5",
            "99999999999",
            "P1D",
            "pt1h",
            "PT0S",
            "P",
            "PT",
            "-PT",
            "P1DT",
            "PT1,5S",
            "P99999999999999999999D",
            "2026-01-01T00:00:00Z",
            "2026-01-01t00:00:00z",
            "2024-02-29T23:59:59.123456789-19:59",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in [
            "",
            "0",
            "01",
            "-1",
            "x",
            "100000000000",
            "1.5",
            " 5",
            "P1Y",
            "PT.5S",
            "2026-01-01",
            "2023-02-29T00:00:00Z",
            "0999-01-01T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01t24:00:00Z",
            "2026-01-01T23:59:60Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00.1234567890Z",
            "2026-01-01T00:00:00+20:00",
            "2026-01-01T00:00:00+0100",
            "+12026-01-01T00:00:00Z",
        ] {
            assert_eq!(check(bad), Err(CutoffError(bad.to_owned())), "{bad}");
        }
    }
}

//! ISO-8601 durations of days, hours, minutes and seconds: `PT3H`, `P1DT0.5S`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// A length of time in nanoseconds, possibly negative; its whole seconds fit into 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct IsoDuration {
    nanos: i128,
}

/// Text that is no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no ISO-8601 duration such as PT3H")]
pub struct DurationError(pub String);

impl IsoDuration {
    /// From whole seconds.
    pub const fn from_seconds(seconds: i64) -> Self {
        Self { nanos: seconds as i128 * NANOS_PER_SECOND }
    }

    /// The length in nanoseconds.
    pub const fn nanos(self) -> i128 {
        self.nanos
    }

    /// Parses `PnDTnHnMn.nS` in any case; every part may carry a sign, at least one must be present.
    pub fn parse(text: &str) -> Result<Self, DurationError> {
        parse(text).map(|nanos| Self { nanos }).ok_or_else(|| DurationError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<i128> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let text = text.strip_prefix(['P', 'p'])?;
    let (date, time) = match text.split_once(['T', 't']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut total = 0i128;
    let mut seen = false;
    let mut rest = date;
    if let Some((value, tail)) = part(rest, b'D')? {
        total += value.checked_mul(86_400)?;
        seen = true;
        rest = tail;
    }
    if !rest.is_empty() {
        return None;
    }
    if let Some(mut rest) = time {
        for (unit, seconds) in [(b'H', 3_600), (b'M', 60), (b'S', 1)] {
            if let Some((value, tail)) = part(rest, unit)? {
                total = total.checked_add(value.checked_mul(seconds)?)?;
                seen = true;
                rest = tail;
            }
        }
        // `P1DT` has no time at all.
        if !rest.is_empty() || time == Some("") {
            return None;
        }
    }
    let fits = i64::try_from(total / NANOS_PER_SECOND).is_ok();
    (seen && fits).then_some(if negative { -total } else { total })
}

/// Reads `[+-]digits[.digits]UNIT`, in nanoseconds of one unit. `Some(None)` when the text has no such part;
/// `None` when it is malformed. Only seconds may have a fraction.
#[expect(clippy::option_option, reason = "absent and malformed are different answers to the caller")]
fn part(text: &str, unit: u8) -> Option<Option<(i128, &str)>> {
    let Some(end) = text.bytes().position(|b| b.eq_ignore_ascii_case(&unit)) else {
        return Some(None);
    };
    let (head, tail) = text.split_at_checked(end)?;
    let tail = tail.get(1..)?;
    let (negative, digits) = match head.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, head.strip_prefix('+').unwrap_or(head)),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) if unit == b'S' && fraction.len() <= 9 => (whole, fraction),
        Some(_) => return None,
        None => (digits, ""),
    };
    // 18 digits of the largest unit stay far inside 128 bits.
    let plain = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || whole.len() > 18 || !plain(whole) || !plain(fraction) {
        return None;
    }
    let whole: i128 = whole.parse().ok()?;
    let mut nanos = 0i128;
    if !fraction.is_empty() {
        nanos = fraction.parse().ok()?;
        nanos *= 10i128.pow(9 - u32::try_from(fraction.len()).ok()?);
    }
    let value = whole * NANOS_PER_SECOND + nanos;
    Some(Some((if negative { -value } else { value }, tail)))
}

impl fmt::Display for IsoDuration {
    /// Writes hours, minutes and seconds: `PT26H0.5S`; zero is `PT0S`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.nanos == 0 {
            return f.write_str("PT0S");
        }
        let sign = if self.nanos < 0 { "-" } else { "" };
        let nanos = self.nanos.unsigned_abs();
        let (seconds, fraction) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
        let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        f.write_str("PT")?;
        if hours != 0 {
            write!(f, "{sign}{hours}H")?;
        }
        if minutes != 0 {
            write!(f, "{sign}{minutes}M")?;
        }
        if fraction != 0 {
            let digits = format!("{fraction:09}");
            write!(f, "{sign}{seconds}.{}S", digits.trim_end_matches('0'))?;
        } else if seconds != 0 {
            write!(f, "{sign}{seconds}S")?;
        }
        Ok(())
    }
}

impl Serialize for IsoDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for IsoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_written_alike() {
        for text in ["PT3H", "PT180M", "PT10800S", "pt3h", "P0DT3H", "PT2H60M", "+PT3H", "-PT-3H"] {
            assert_eq!(IsoDuration::parse(text).unwrap().to_string(), "PT3H", "{text}");
        }
        for (text, shown) in [("P1D", "PT24H"), ("PT0.5S", "PT0.5S"), ("PT0S", "PT0S"), ("PT-1M", "PT-1M")] {
            assert_eq!(IsoDuration::parse(text).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn the_longest_is_written_as_it_can_be_read() {
        let longest = IsoDuration::parse("P106751991167300DT15H30M7.999999999S").unwrap();
        assert_eq!(IsoDuration::parse(&longest.to_string()), Ok(longest));
    }

    #[test]
    fn what_is_refused() {
        for bad in [
            "",
            "x",
            "3h",
            "P",
            "PT",
            "P1DT",
            "P1H",
            "PT1.5M",
            "PT1S1M",
            "PT1,5S",
            "P1Y",
            "PTS",
            "PT0.1234567890S",
            "P106751991167301D",
            "P-106751991167301D",
        ] {
            assert!(IsoDuration::parse(bad).is_err(), "{bad}");
        }
    }
}

//! ISO-8601 durations of days, hours, minutes and seconds: `PT3H`, `P1DT0.5S`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const FRACTION_DIGITS_MAX: usize = 9;

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

    /// Parses `PnDTnHnMn.nS` in any case, as the reference server reads it: every part may carry a sign, at least one
    /// must be present, the fraction stands behind a dot or a comma.
    pub fn parse(text: &str) -> Result<Self, DurationError> {
        parse(text).map(|nanos| Self { nanos }).ok_or_else(|| DurationError(text.to_owned()))
    }
}

/// The parts of a duration as they are written, for whoever asks only whether the text has the form of one.
#[derive(Debug, Default)]
pub(super) struct Parts<'a> {
    is_negative: bool,
    days: Option<&'a str>,
    /// `T` or `t`, which may stand without anything behind it.
    mark: Option<&'a str>,
    hours: Option<&'a str>,
    minutes: Option<&'a str>,
    /// Whole seconds and the digits of their fraction.
    seconds: Option<(&'a str, &'a str)>,
}

impl<'a> Parts<'a> {
    /// Takes a text apart; no part need be there.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let mut rest = Rest(text);
        let is_negative = rest.accept("-").is_some();
        if !is_negative {
            rest.accept("+");
        }
        rest.accept("P")?;
        let mut parts = Self { is_negative, days: rest.number("D"), ..Self::default() };
        parts.mark = rest.accept("T");
        if parts.mark.is_some() {
            parts.hours = rest.number("H");
            parts.minutes = rest.number("M");
            parts.seconds = rest.seconds();
        }
        rest.0.is_empty().then_some(parts)
    }
}

/// What is left to read.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    /// The letter or sign, in any case.
    fn accept(&mut self, wanted: &str) -> Option<&'a str> {
        let (head, tail) = self.0.split_at_checked(wanted.len())?;
        head.eq_ignore_ascii_case(wanted).then(|| self.0 = tail)?;
        Some(head)
    }

    /// Signed digits at the front and what follows them.
    fn digits(&self) -> Option<(&'a str, Rest<'a>)> {
        let sign = usize::from(self.0.starts_with(['+', '-']));
        let digits = self.0.get(sign..)?.bytes().take_while(u8::is_ascii_digit).count();
        let (number, tail) = self.0.split_at_checked(sign + digits)?;
        (digits > 0).then_some((number, Rest(tail)))
    }

    /// Signed digits before a unit; without the unit nothing is read.
    fn number(&mut self, unit: &str) -> Option<&'a str> {
        let (number, mut rest) = self.digits()?;
        rest.accept(unit)?;
        *self = rest;
        Some(number)
    }

    /// Seconds, whole and the digits of their fraction.
    fn seconds(&mut self) -> Option<(&'a str, &'a str)> {
        let (whole, mut rest) = self.digits()?;
        let mut fraction = "";
        if rest.accept(".").or_else(|| rest.accept(",")).is_some() {
            let digits = rest.0.bytes().take_while(u8::is_ascii_digit).count();
            let (head, tail) = rest.0.split_at_checked(digits).filter(|_| digits <= FRACTION_DIGITS_MAX)?;
            (fraction, rest) = (head, Rest(tail));
        }
        rest.accept("S")?;
        *self = rest;
        Some((whole, fraction))
    }
}

/// The length in nanoseconds. Every part, and every sum of parts from the smallest on, must fit as seconds.
fn parse(text: &str) -> Option<i128> {
    let parts = Parts::of(text)?;
    let is_empty = parts.days.or(parts.hours).or(parts.minutes).is_none() && parts.seconds.is_none();
    // A small `t` without anything behind it passes, as the reference server has it.
    let ends_with_mark = parts.mark == Some("T") && text.ends_with('T');
    if is_empty || ends_with_mark {
        return None;
    }
    let seconds_of =
        |part: Option<&str>, unit: i64| part.map_or(Some(0), |n| n.parse::<i64>().ok()?.checked_mul(unit));
    let (whole, fraction) = parts.seconds.unwrap_or(("0", ""));
    let mut nanos: i64 = format!("{fraction:0<9}").parse().ok()?;
    if whole.starts_with('-') {
        nanos = -nanos;
    }
    let seconds = seconds_of(Some(whole), 1)?;
    let seconds = seconds_of(parts.minutes, 60)?.checked_add(seconds)?;
    let seconds = seconds_of(parts.hours, 3_600)?.checked_add(seconds)?;
    let seconds = seconds_of(parts.days, 86_400)?.checked_add(seconds)?;
    let sum = i128::from(seconds) * NANOS_PER_SECOND + i128::from(nanos);
    let total = if parts.is_negative { -sum } else { sum };
    let fits = |nanos: i128| i64::try_from(nanos.div_euclid(NANOS_PER_SECOND)).is_ok();
    (fits(sum) && fits(total)).then_some(total)
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
        for (text, shown) in [
            ("P1D", "PT24H"),
            ("p1dt", "PT24H"),
            ("P0000000000000000000000001D", "PT24H"),
            ("PT0.5S", "PT0.5S"),
            ("PT1,5S", "PT1.5S"),
            ("PT1.S", "PT1S"),
            ("PT-0.5S", "PT-0.5S"),
            ("PT0S", "PT0S"),
            ("PT-1M", "PT-1M"),
            ("PT-9223372036854775808S", "PT-2562047788015215H-30M-8S"),
        ] {
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
            "PT.5S",
            "PT1H1",
            "P1Y",
            "PTS",
            "PT0.1234567890S",
            "P106751991167301D",
            "P-106751991167301D",
            "PT9223372036854775808S",
            "-PT-9223372036854775808S",
            "PT-9223372036854775808.1S",
            "PT2562047788015215H99M-3600S",
        ] {
            assert!(IsoDuration::parse(bad).is_err(), "{bad}");
        }
    }
}

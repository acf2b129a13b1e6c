//! Points in time as the wire writes them: ISO-8601 in UTC, up to nanoseconds.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const NANOS_PER_SECOND: u32 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
/// Most digits of a year with a sign, and most digits of one without.
const YEAR_DIGITS_MAX: usize = 9;
const YEAR_DIGITS: usize = 4;

/// A point in time: seconds since the epoch and the nanoseconds behind them.
///
/// The server's own times have microseconds; those of clients (author times, `*T` of references) come back as
/// sent. Text has 0, 3, 6 or 9 fraction digits: `2026-05-01T10:20:30.123456Z`. Years of more than four digits and those
/// before the year 0 have a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant {
    seconds: i64,
    nanos: u32,
}

/// Text that is no instant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is no ISO-8601 instant such as 2026-05-01T10:20:30.123456Z")]
pub struct InstantError(pub String);

impl Instant {
    /// From seconds since the epoch and nanoseconds behind them; a second of nanoseconds or more carries over.
    pub const fn new(seconds: i64, nanos: u32) -> Self {
        Self {
            seconds: seconds.saturating_add((nanos / NANOS_PER_SECOND) as i64),
            nanos: nanos % NANOS_PER_SECOND,
        }
    }

    /// From microseconds since the epoch.
    pub const fn from_micros(micros: i64) -> Self {
        // The remainder is below a million.
        Self { seconds: micros.div_euclid(1_000_000), nanos: micros.rem_euclid(1_000_000) as u32 * 1_000 }
    }

    /// From milliseconds since the epoch.
    pub const fn from_millis(millis: i64) -> Self {
        // The remainder is below a thousand.
        Self { seconds: millis.div_euclid(1_000), nanos: millis.rem_euclid(1_000) as u32 * 1_000_000 }
    }

    /// Whole seconds since the epoch, rounded down.
    pub const fn seconds(self) -> i64 {
        self.seconds
    }

    /// Nanoseconds behind [`Instant::seconds`].
    pub const fn nanos(self) -> u32 {
        self.nanos
    }

    /// Microseconds since the epoch, rounded down, so that `instant - 1 ns` still lies before `instant`; saturates
    /// at the ends of the range.
    pub const fn micros(self) -> i64 {
        self.seconds.saturating_mul(1_000_000).saturating_add((self.nanos / 1_000) as i64)
    }

    /// Milliseconds since the epoch, rounded down; saturates at the ends of the range.
    pub const fn millis(self) -> i64 {
        self.seconds.saturating_mul(1_000).saturating_add((self.nanos / 1_000_000) as i64)
    }

    /// Parses the `Z`-only form with seconds, as in relative references and page bounds.
    pub fn parse_utc(text: &str) -> Result<Self, InstantError> {
        parse(text, false).ok_or_else(|| InstantError(text.to_owned()))
    }

    /// Parses any ISO-8601 date-time with an offset (`Z`, `+02:00`, `+0200`, `+02`); seconds may be left out.
    pub fn parse_offset(text: &str) -> Result<Self, InstantError> {
        parse(text, true).ok_or_else(|| InstantError(text.to_owned()))
    }
}

/// Reads fixed-width decimal numbers and separators from the front of a byte string.
struct Cursor<'a> {
    rest: &'a [u8],
}

impl Cursor<'_> {
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (head, tail) = self.rest.split_at_checked(count)?;
        let mut value = 0i64;
        for byte in head {
            value = value * 10 + i64::from(byte.is_ascii_digit().then(|| byte - b'0')?);
        }
        self.rest = tail;
        Some(value)
    }

    /// Four digits, or a sign and more: `+10000`, `-0001`.
    fn year(&mut self) -> Option<i64> {
        let sign = match self.rest.first() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return self.digits(YEAR_DIGITS),
        };
        self.rest = self.rest.get(1..)?;
        let digits = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let least = if sign > 0 { YEAR_DIGITS + 1 } else { YEAR_DIGITS };
        let year = self.digits(Some(digits).filter(|digits| (least..=YEAR_DIGITS_MAX).contains(digits))?)?;
        (sign > 0 || year > 0).then_some(sign * year)
    }

    fn accept(&mut self, wanted: u8) -> bool {
        match self.rest.split_first() {
            Some((first, tail)) if first.eq_ignore_ascii_case(&wanted) => {
                self.rest = tail;
                true
            }
            _ => false,
        }
    }

    fn expect(&mut self, wanted: u8) -> Option<()> {
        self.accept(wanted).then_some(())
    }

    /// Nanoseconds of a fraction of up to nine digits; zero digits are fine after the dot.
    fn fraction(&mut self) -> Option<u32> {
        let mut nanos = 0u32;
        let mut scale = 100_000_000u32;
        while let Some((first, tail)) = self.rest.split_first() {
            if !first.is_ascii_digit() {
                break;
            }
            if scale == 0 {
                return None;
            }
            nanos += u32::from(first - b'0') * scale;
            scale /= 10;
            self.rest = tail;
        }
        Some(nanos)
    }

    /// Seconds east of UTC: `Z`, `+02:00`, `+0200`, `+02`.
    fn offset(&mut self) -> Option<i64> {
        if self.accept(b'Z') {
            return Some(0);
        }
        let sign = if self.accept(b'+') {
            1
        } else {
            self.expect(b'-')?;
            -1
        };
        let hours = self.digits(2).filter(|h| *h <= 18)?;
        let colon = self.accept(b':');
        let minutes = match self.digits(2) {
            Some(minutes) => Some(minutes).filter(|m| *m < 60)?,
            None if colon => return None,
            None => 0,
        };
        Some(sign * (hours * 3600 + minutes * 60))
    }
}

fn parse(text: &str, offsets: bool) -> Option<Instant> {
    let mut at = Cursor { rest: text.as_bytes() };
    let year = at.year()?;
    at.expect(b'-')?;
    let month = at.digits(2)?;
    at.expect(b'-')?;
    let day = at.digits(2)?;
    at.expect(b'T')?;
    let hour = at.digits(2)?;
    at.expect(b':')?;
    let minute = at.digits(2)?;
    let mut second = 0;
    let mut nanos = 0;
    if at.accept(b':') {
        second = at.digits(2)?;
        if at.accept(b'.') {
            nanos = at.fraction()?;
        }
    } else if !offsets {
        return None;
    }
    let east = if offsets {
        at.offset()?
    } else {
        at.expect(b'Z')?;
        0
    };
    let whole = at.rest.is_empty() && hour < 24 && minute < 60 && second < 60;
    let legal = whole && (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
    legal.then(|| {
        let seconds =
            days_from_civil(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second - east;
        Instant { seconds, nanos }
    })
}

fn days_in_month(year: i64, month: i64) -> i64 {
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a date of the proleptic Gregorian calendar, counted in years that begin in March.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The inverse of [`days_from_civil`].
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.seconds.div_euclid(SECONDS_PER_DAY));
        let of_day = self.seconds.rem_euclid(SECONDS_PER_DAY);
        match year {
            0..=9999 => write!(f, "{year:04}")?,
            10_000.. => write!(f, "+{year}")?,
            _ => write!(f, "-{:04}", -year)?,
        }
        let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        write!(f, "-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        match self.nanos {
            0 => f.write_str("Z"),
            nanos if nanos % 1_000_000 == 0 => write!(f, ".{:03}Z", nanos / 1_000_000),
            nanos if nanos % 1_000 == 0 => write!(f, ".{:06}Z", nanos / 1_000),
            nanos => write!(f, ".{nanos:09}Z"),
        }
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = Instant;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an ISO-8601 instant")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Instant, E> {
                Instant::parse_offset(text).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, shown: &str) {
        assert_eq!(Instant::parse_offset(text).unwrap().to_string(), shown, "{text}");
    }

    #[test]
    fn fractions_of_zero_to_nine_digits() {
        check("2026-05-01T10:20:30Z", "2026-05-01T10:20:30Z");
        check("2026-05-01T10:20:30.Z", "2026-05-01T10:20:30Z");
        check("2026-05-01T10:20:30.1Z", "2026-05-01T10:20:30.100Z");
        check("2026-05-01T10:20:30.1234Z", "2026-05-01T10:20:30.123400Z");
        check("2026-05-01T10:20:30.123456Z", "2026-05-01T10:20:30.123456Z");
        check("2026-05-01T10:20:30.123456789Z", "2026-05-01T10:20:30.123456789Z");
    }

    #[test]
    fn offsets_are_normalised() {
        check("2026-05-01T10:20:30+02:00", "2026-05-01T08:20:30Z");
        check("2026-01-01T00:30-0130", "2026-01-01T02:00:00Z");
        check("2026-01-01T00:00:00+00", "2026-01-01T00:00:00Z");
    }

    #[test]
    fn calendar_edges() {
        check("1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z");
        check("2000-02-29T23:59:59.999999Z", "2000-02-29T23:59:59.999999Z");
        check("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.500Z");
        check("0001-03-01T00:00:00Z", "0001-03-01T00:00:00Z");
        assert_eq!(Instant::from_millis(4_102_444_800_000).to_string(), "2100-01-01T00:00:00Z");
    }

    #[test]
    fn years_beyond_four_digits() {
        check("9999-12-31T23:59:59-01:00", "+10000-01-01T00:59:59Z");
        check("+10000-01-01T00:59:59Z", "+10000-01-01T00:59:59Z");
        check("+999999999-12-31T00:00:00Z", "+999999999-12-31T00:00:00Z");
        check("0000-01-01T00:00:00+01:00", "-0001-12-31T23:00:00Z");
        check("-0001-12-31T23:00:00Z", "-0001-12-31T23:00:00Z");
        for bad in [
            "+2026-05-01T10:20:30Z",
            "-0000-01-01T00:00:00Z",
            "+1000000000-01-01T00:00:00Z",
            "10000-01-01T00:00:00Z",
        ] {
            assert!(Instant::parse_offset(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_refused() {
        for bad in [
            "",
            "x",
            "2026-05-01",
            "2026-05-01T10:20:30",
            "2026-13-01T00:00:00Z",
            "2026-02-30T00:00:00Z",
            "2026-05-01T24:00:00Z",
            "2026-05-01T10:20:30.1234567890Z",
            "2026-05-01T10:20:30Zx",
            "2026-05-01T10:20:30+2",
        ] {
            assert!(Instant::parse_offset(bad).is_err(), "{bad}");
        }
        assert!(Instant::parse_utc("2026-05-01T10:20:30+00:00").is_err());
        assert!(Instant::parse_utc("2026-05-01T10:20Z").is_err());
    }

    #[test]
    fn one_nanosecond_before_is_before() {
        let commit = Instant::parse_utc("2026-05-01T10:20:30.123456Z").unwrap();
        let before = Instant::parse_utc("2026-05-01T10:20:30.123455999Z").unwrap();
        assert!(before < commit);
        assert_eq!(before.micros() + 1, commit.micros());
        assert_eq!(Instant::from_micros(commit.micros()), commit);
        assert_eq!(Instant::from_millis(-1), Instant::new(-1, 999_000_000));
        assert_eq!(Instant::from_millis(i64::MAX).micros(), i64::MAX);
        // The ends of the range are written without overflow.
        assert!(Instant::new(i64::MAX, 0).to_string().starts_with("+292277026596-"));
        assert!(Instant::new(i64::MIN, 0).to_string().starts_with("-292277022657-"));
    }
}

//! Points in time as the wire writes them: ISO-8601 in UTC, up to nanoseconds.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

const NANOS_PER_SECOND: u32 = 1_000_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
/// Digits of a year without a sign, and the most of one with a sign.
const YEAR_DIGITS: usize = 4;
const YEAR_DIGITS_MAX: usize = 10;
/// Furthest offset from UTC, in seconds.
const OFFSET_SECONDS_MAX: i64 = 18 * 3_600;
/// First and last second that text can name: those of the years -1000000000 and 1000000000.
const SECONDS_MIN: i64 = -31_557_014_167_219_200;
const SECONDS_MAX: i64 = 31_556_889_864_403_199;

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

    /// Parses the form that [`Instant`] is written in, as the reference server reads it: in any case, with seconds, up to
    /// nine digits behind a dot, then `Z` or an offset of at most 18 hours (`+02:00`, `-02:00:30`). `24:00:00` is the
    /// next day; the leap second `23:59:60` is the second before it. Years reach to a thousand millions either way.
    pub fn parse(text: &str) -> Result<Self, InstantError> {
        parse(text, false).ok_or_else(|| InstantError(text.to_owned()))
    }

    /// The same for what people type: seconds may be left out, and an offset may be `+0200` or `+02`.
    pub fn parse_loose(text: &str) -> Result<Self, InstantError> {
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

    /// Seconds east of UTC: `Z`, `+02:00`, `+02:00:30`; loosely `+0200` and `+02` too.
    fn offset(&mut self, loose: bool) -> Option<i64> {
        if self.accept(b'Z') {
            return Some(0);
        }
        let sign = if self.accept(b'+') {
            1
        } else {
            self.expect(b'-')?;
            -1
        };
        let hours = self.digits(2)?;
        let (minutes, seconds) = if self.accept(b':') {
            (self.digits(2)?, if self.accept(b':') { self.digits(2)? } else { 0 })
        } else if !loose {
            return None;
        } else if self.rest.is_empty() {
            (0, 0)
        } else {
            (self.digits(2)?, 0)
        };
        if minutes > 59 || seconds > 59 {
            return None;
        }
        let offset = hours * 3600 + minutes * 60 + seconds;
        (offset <= OFFSET_SECONDS_MAX).then_some(sign * offset)
    }
}

fn parse(text: &str, loose: bool) -> Option<Instant> {
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
    let (mut second, mut nanos) = (0, 0);
    if at.accept(b':') {
        second = at.digits(2)?;
        nanos = if at.accept(b'.') { at.fraction()? } else { 0 };
    } else if !loose {
        return None;
    }
    let east = at.offset(loose)?;
    if (hour, minute, second) == (23, 59, 60) {
        second = 59;
    }
    let is_midnight = (hour, minute, second, nanos) == (24, 0, 0, 0);
    let is_time = is_midnight || (hour < 24 && minute < 60 && second < 60);
    let is_date = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
    if !at.rest.is_empty() || !is_time || !is_date {
        return None;
    }
    let seconds =
        days_from_civil(year, month, day) * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second - east;
    (SECONDS_MIN..=SECONDS_MAX).contains(&seconds).then_some(Instant { seconds, nanos })
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
                Instant::parse(text).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Visitor)
    }
}

#[cfg(test)]
#[path = "instant_tests.rs"]
mod tests;

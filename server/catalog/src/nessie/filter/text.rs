//! Conversions of text, and equality of moments, as the reference server has them: its language's forms of numbers, moments
//! and durations, where the interpreter has others. The checker puts these functions in; their names cannot be written.

use std::{cmp::Ordering, fmt::Write};

use cel::common::ast::operators;
use cel::common::types::{
    CelBool, CelBytes, CelDouble, CelDuration, CelInt, CelNull, CelString, CelTimestamp, CelUInt,
    DOUBLE_TYPE, DURATION_TYPE, DYN_TYPE, INT_TYPE, NULL_TYPE, STRING_TYPE, TIMESTAMP_TYPE,
};
use cel::common::value::{CowVal, Val};
use cel::{DeclarationError, Env, ExecutionError};
use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, NaiveTime, SecondsFormat, TimeDelta, Timelike};

use super::moments::{nanos_beyond, whole_seconds};

/// Equality where one side is a moment or a duration: an error with anything but its like and null behind it, or a list or object
/// in front of it.
pub(super) const SAME_TIME: &str = "@same_time";
/// A sign, and whether it holds where the left side stands so to the right one.
type Sign = (&'static str, fn(Ordering) -> bool);

/// How one text stands to another: by their UTF-16 units, as the reference server has it, not by their characters. The first
/// argument is the place of the sign in [`SIGNS`].
pub(super) const COMPARED: &str = "@compared";
/// The signs that compare, and what they say.
pub(super) const SIGNS: [Sign; 4] = [
    (operators::LESS, Ordering::is_lt),
    (operators::LESS_EQUALS, Ordering::is_le),
    (operators::GREATER, Ordering::is_gt),
    (operators::GREATER_EQUALS, Ordering::is_ge),
];
/// The text of a floating-point number.
pub(super) const OF_DOUBLE: &str = "@of_double";
/// The duration that a text stands for.
pub(super) const SPAN: &str = "@span";
/// The moment that a text stands for.
pub(super) const TIME: &str = "@time";
/// The text of a moment.
pub(super) const OF_TIME: &str = "@of_time";
/// The text of a duration.
pub(super) const OF_SPAN: &str = "@of_span";
/// The nanoseconds of a duration.
pub(super) const NANOS: &str = "@nanos";
/// The floating-point number that a text stands for.
pub(super) const DOUBLE: &str = "@double";
/// The truth value that a text stands for.
pub(super) const BOOL: &str = "@bool";

/// Shortest and longest duration that a text can stand for, in seconds: as many as 64 bits hold nanoseconds.
const SPAN_SECONDS: std::ops::RangeInclusive<i64> = -9_223_372_036..=9_223_372_035;
/// Furthest offset of a moment's zone, in minutes.
const OFFSET_MINUTES_MAX: i32 = 18 * 60;

/// So many of a unit, if that is no longer than can be told.
type Unit = fn(i64) -> Option<TimeDelta>;

/// Teaches `env` these functions.
pub(super) fn teach(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_overload("string", "string_of_null", vec![NULL_TYPE], |_| {
        Ok(CowVal::owned(CelString::from("null".to_owned())))
    })?;
    env.add_overload(SAME_TIME, "same_time", vec![DYN_TYPE, DYN_TYPE], |arguments| {
        let [one, other] = arguments.as_slice() else {
            return Err(ExecutionError::invalid_argument_count(2, arguments.len()));
        };
        Ok(CowVal::owned(CelBool::from(same_time(one.as_ref(), other.as_ref())?)))
    })?;
    env.add_overload(COMPARED, "compared", vec![INT_TYPE, DYN_TYPE, DYN_TYPE], |arguments| {
        let [sign, one, other] = arguments.as_slice() else {
            return Err(ExecutionError::invalid_argument_count(3, arguments.len()));
        };
        let sign = sign.downcast_ref::<CelInt>().and_then(|sign| usize::try_from(*sign.inner()).ok());
        let sign = sign.and_then(|sign| SIGNS.get(sign));
        let text = |of: &dyn Val| of.downcast_ref::<CelString<'_>>().map(|text| text.inner().to_owned());
        let holds = match (sign, text(one.as_ref()), text(other.as_ref())) {
            (Some((_, says)), Some(one), Some(other)) => says(one.encode_utf16().cmp(other.encode_utf16())),
            // A text is neither less nor greater than nothing; nothing cannot be compared.
            (Some(_), Some(_), None) if is_null(other.as_ref()) => false,
            _ => return Err(mistake("<", "no such overload")),
        };
        Ok(CowVal::owned(CelBool::from(holds)))
    })?;
    env.add_overload(OF_DOUBLE, "of_double", vec![DOUBLE_TYPE], |arguments| {
        let number = arguments.first().and_then(|given| given.downcast_ref::<CelDouble>());
        let number = number.ok_or_else(|| mistake("string", "it takes a number"))?;
        Ok(CowVal::owned(CelString::from(of_double(*number.inner()))))
    })?;
    env.add_overload(SPAN, "span", vec![STRING_TYPE], |arguments| {
        let found = given(&arguments).and_then(span).ok_or_else(|| mistake("duration", "not a duration"))?;
        Ok(CowVal::owned(CelDuration::from(found)))
    })?;
    env.add_overload(TIME, "time", vec![STRING_TYPE], |arguments| {
        let found =
            given(&arguments).and_then(time).ok_or_else(|| mistake("timestamp", "not a timestamp"))?;
        Ok(CowVal::owned(CelTimestamp::from(found)))
    })?;
    env.add_overload(OF_TIME, "of_time", vec![TIMESTAMP_TYPE], |arguments| {
        let time = arguments.first().and_then(|given| given.downcast_ref::<CelTimestamp>());
        let time = time.ok_or_else(|| mistake("string", "it takes a timestamp"))?;
        Ok(CowVal::owned(CelString::from(of_time(time.inner()))))
    })?;
    env.add_overload(OF_SPAN, "of_span", vec![DURATION_TYPE], |arguments| {
        let span = arguments.first().and_then(|given| given.downcast_ref::<CelDuration>());
        let span = span.ok_or_else(|| mistake("string", "it takes a duration"))?;
        Ok(CowVal::owned(CelString::from(of_span(span.inner()))))
    })?;
    env.add_overload(NANOS, "nanos", vec![DURATION_TYPE], |arguments| {
        let span = arguments.first().and_then(|given| given.downcast_ref::<CelDuration>());
        let nanos = span.and_then(|span| span.inner().num_nanoseconds());
        Ok(CowVal::owned(CelInt::from(nanos.ok_or_else(|| mistake("int", "out of range"))?)))
    })?;
    env.add_overload(DOUBLE, "double", vec![STRING_TYPE], |arguments| {
        let found = given(&arguments).and_then(double).ok_or_else(|| mistake("double", "not a number"))?;
        Ok(CowVal::owned(CelDouble::from(found)))
    })?;
    env.add_overload(BOOL, "bool", vec![STRING_TYPE], |arguments| {
        let text = given(&arguments).unwrap_or_default();
        let is_true = text.eq_ignore_ascii_case("true");
        if !is_true && !text.eq_ignore_ascii_case("false") {
            return Err(mistake("bool", "neither true nor false"));
        }
        Ok(CowVal::owned(CelBool::from(is_true)))
    })
}

fn given<'a>(arguments: &'a [CowVal<'_, '_>]) -> Option<&'a str> {
    arguments.first().and_then(|given| given.downcast_ref::<CelString<'_>>()).map(CelString::inner)
}

fn mistake(function: &str, what: &str) -> ExecutionError {
    ExecutionError::function_error(function, what)
}

fn same_time(one: &(dyn Val + '_), other: &(dyn Val + '_)) -> Result<bool, ExecutionError> {
    if is_null(other) {
        return Ok(is_null(one));
    }
    let times = (one.downcast_ref::<CelTimestamp>(), other.downcast_ref::<CelTimestamp>());
    let spans = (one.downcast_ref::<CelDuration>(), other.downcast_ref::<CelDuration>());
    match (times, spans) {
        // Moments are the same where their zones are too.
        ((Some(one), Some(other)), _) => {
            Ok(one.inner() == other.inner() && one.inner().offset() == other.inner().offset())
        }
        (_, (Some(one), Some(other))) => Ok(one.inner() == other.inner()),
        // A list or an object says of itself that it is no such thing.
        ((None, _), (None, _)) if !is_null(one) && !is_plain(one) => Ok(false),
        _ => Err(mistake("==", "no such overload")),
    }
}

fn is_null(value: &(dyn Val + '_)) -> bool {
    value.downcast_ref::<CelNull>().is_some()
}

/// Whether it is a text, a number or a truth value.
fn is_plain(value: &(dyn Val + '_)) -> bool {
    value.downcast_ref::<CelString<'_>>().is_some()
        || value.downcast_ref::<CelBytes<'_>>().is_some()
        || value.downcast_ref::<CelBool>().is_some()
        || value.downcast_ref::<CelInt>().is_some()
        || value.downcast_ref::<CelUInt>().is_some()
        || value.downcast_ref::<CelDouble>().is_some()
}

/// The shortest text that reads as the number again, always with a digit after the point, and with an exponent from ten
/// million on and below a thousandth.
fn of_double(number: f64) -> String {
    if number.is_nan() {
        return "NaN".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.into();
    }
    let size = number.abs();
    if size == 0.0 || (1e-3..1e7).contains(&size) {
        return format!("{number:?}");
    }
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{point}E{exponent}")
}

/// `2026-05-01T10:20:30+02:00`, with all nine digits of the fraction where there is one.
fn of_time(time: &DateTime<FixedOffset>) -> String {
    let digits = if time.nanosecond() > 0 { SecondsFormat::Nanos } else { SecondsFormat::Secs };
    time.to_rfc3339_opts(digits, true)
}

/// `90s` or `1.500000s`: whole seconds below, and the microseconds beyond them.
fn of_span(span: &TimeDelta) -> String {
    let (seconds, micros) = (whole_seconds(span), nanos_beyond(span) / 1_000);
    if micros == 0 { format!("{seconds}s") } else { format!("{seconds}.{micros:06}s") }
}

/// Digits with a point and an exponent, or `NaN` or `Infinity`; blanks around it and a letter for its kind do not count.
fn double(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c| c <= ' ');
    let size = text.strip_prefix(['+', '-']).unwrap_or(text);
    if size == "NaN" || size == "Infinity" {
        return text.parse().ok();
    }
    let text = text.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(text);
    let is_number = size.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if is_number { text.parse().ok() } else { None }
}

/// `1h30m`, `-1.5s`, `1dt12h`, each part with its own sign; or only nanoseconds, `5ns`.
fn span(text: &str) -> Option<TimeDelta> {
    if let Some(number) = text.strip_suffix("ns") {
        return whole(number).map(TimeDelta::nanoseconds).filter(in_range);
    }
    let text = text.to_ascii_lowercase();
    let (mut sum, mut rest) = match text.split_once('d') {
        None => (TimeDelta::zero(), text.as_str()),
        Some((days, "")) => return TimeDelta::try_days(whole(days)?).filter(in_range),
        Some((days, rest)) => (TimeDelta::try_days(whole(days)?)?, rest.strip_prefix('t')?),
    };
    if rest.is_empty() {
        return None;
    }
    let units: [(char, Unit); 2] = [('h', TimeDelta::try_hours), ('m', TimeDelta::try_minutes)];
    for (unit, of) in units {
        if let Some((number, after)) = rest.split_once(unit)
            && let Some(number) = whole(number)
        {
            sum = sum.checked_add(&of(number)?)?;
            rest = after;
        }
    }
    if !rest.is_empty() {
        sum = sum.checked_add(&seconds(rest.strip_suffix('s')?)?)?;
    }
    Some(sum).filter(in_range)
}

fn in_range(span: &TimeDelta) -> bool {
    SPAN_SECONDS.contains(&whole_seconds(span))
}

/// Digits, perhaps with a sign.
fn whole(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let good = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if good { text.parse().ok() } else { None }
}

/// Seconds with up to nine digits of their fraction.
fn seconds(text: &str) -> Option<TimeDelta> {
    let (before, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let nanos = fraction_nanos(fraction)?;
    let whole = TimeDelta::try_seconds(whole(before)?)?;
    let nanos = if before.starts_with('-') { -i64::from(nanos) } else { i64::from(nanos) };
    whole.checked_add(&TimeDelta::nanoseconds(nanos))
}

fn fraction_nanos(digits: &str) -> Option<u32> {
    if digits.len() > 9 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut padded = digits.to_owned();
    write!(padded, "{}", "0".repeat(9 - digits.len())).ok()?;
    padded.parse().ok()
}

/// `2026-05-01T10:20:30.123Z` or with an offset `+02:00`. A day beyond the end of its month is its last; 24:00 is the next
/// day.
fn time(text: &str) -> Option<DateTime<FixedOffset>> {
    let (date, rest) = (text.get(..10)?, text.get(10..)?.strip_prefix('T')?);
    let (clock, rest) = (rest.get(..8)?, rest.get(8..)?);
    let zone_at = rest.find(['Z', '+', '-'])?;
    let (fraction, zone) = rest.split_at(zone_at);
    let nanos = match fraction.strip_prefix('.') {
        Some("") => return None,
        Some(digits) => fraction_nanos(digits)?,
        None if fraction.is_empty() => 0,
        None => return None,
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(clock, ':', [2, 2, 2])?;
    if year == 0 || !(1..=31).contains(&day) {
        return None;
    }
    let year = i32::try_from(year).ok()?;
    let last = NaiveDate::from_ymd_opt(year, month, 1)?.num_days_in_month();
    let mut date = NaiveDate::from_ymd_opt(year, month, day.min(u32::from(last)))?;
    let ends = hour == 24 && minute == 0 && second == 0 && nanos == 0;
    if ends {
        date = date.succ_opt().filter(|date| date.year() < 10_000)?;
    }
    let hour = if ends { 0 } else { hour };
    // Above 59 it would be read as a leap second.
    let clock = NaiveTime::from_hms_nano_opt(hour, minute, second, nanos)?;
    date.and_time(clock).and_local_timezone(offset(zone)?).single()
}

fn offset(zone: &str) -> Option<FixedOffset> {
    if zone == "Z" {
        return FixedOffset::east_opt(0);
    }
    let (sign, hours) =
        if let Some(hours) = zone.strip_prefix('-') { (-1, hours) } else { (1, zone.strip_prefix('+')?) };
    let [hours, minutes] = numbers(hours, ':', [2, 2])?;
    let minutes = (minutes < 60).then_some(hours * 60 + minutes)?;
    let minutes = i32::try_from(minutes).ok().filter(|minutes| *minutes <= OFFSET_MINUTES_MAX)?;
    FixedOffset::east_opt(sign * minutes * 60)
}

/// Numbers of so many digits each, between separators.
fn numbers<const N: usize>(text: &str, between: char, digits: [usize; N]) -> Option<[u32; N]> {
    let mut parts = text.split(between);
    let mut found = [0; N];
    for (number, digits) in found.iter_mut().zip(digits) {
        let part = parts.next().filter(|part| part.len() == digits)?;
        let good = part.bytes().all(|byte| byte.is_ascii_digit());
        *number = if good { part.parse().ok()? } else { return None };
    }
    parts.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_in_the_language_of_the_reference() {
        for (number, text) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (1e-3, "0.001"),
            (1e-4, "1.0E-4"),
            (1_234_567.0, "1234567.0"),
            (12_345_678.0, "1.2345678E7"),
            (1e8, "1.0E8"),
            (1.0 / 3.0, "0.3333333333333333"),
            (f64::INFINITY, "Infinity"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(of_double(number), text);
        }
    }

    #[test]
    fn durations() {
        for (text, nanos) in [
            ("1h30m", 5_400_000_000_000),
            ("-1h30m", -1_800_000_000_000),
            ("1H", 3_600_000_000_000),
            ("+1d", 86_400_000_000_000),
            ("1dt1h", 90_000_000_000_000),
            ("1.s", 1_000_000_000),
            ("-0,5s", -500_000_000),
            ("-5ns", -5),
        ] {
            assert_eq!(span(text).and_then(|span| span.num_nanoseconds()), Some(nanos), "{text}");
        }
        for bad in [
            "", "1", "0", "d", "1d1h", "1d ", "1ms", "1us", "1.5h", ".5s", "1s1h", "1m1h", "1NS", "PT1H",
            "1dt", " 1s",
        ] {
            assert_eq!(span(bad), None, "{bad}");
        }
        assert_eq!(span("9223372036s"), None);
        assert!(span("9223372035s").is_some() && span("-9223372036s").is_some());
        assert_eq!(span("9223372036854775807h"), None);
        assert_eq!(span("99999999999999999999s"), None);
    }

    #[test]
    fn texts_of_moments_and_durations() {
        for text in ["2020-01-01T00:00:00Z", "2020-01-01T00:00:00.005000000+01:00"] {
            assert_eq!(of_time(&time(text).unwrap()), text);
        }
        for (from, text) in [
            ("1.5s", "1.500000s"),
            ("-1.5s", "-2.500000s"),
            ("1h", "3600s"),
            ("1ns", "0s"),
            ("1.0000019s", "1.000001s"),
            ("-1ns", "-1.999999s"),
        ] {
            assert_eq!(of_span(&span(from).unwrap()), text);
        }
    }

    #[test]
    fn numbers_of_texts() {
        for (text, number) in [
            ("1", 1.0),
            ("1e3", 1e3),
            (".5", 0.5),
            ("5.", 5.0),
            (" +1f\t", 1.0),
            ("1D", 1.0),
            ("-Infinity", f64::NEG_INFINITY),
            ("1e400", f64::INFINITY),
        ] {
            assert_eq!(double(text), Some(number), "{text}");
        }
        assert!(double("NaN").is_some_and(f64::is_nan));
        for bad in ["", "inf", "nan", "infinity", "1e", "1_0", "x", "--1", "Infinityd"] {
            assert_eq!(double(bad), None, "{bad}");
        }
    }

    #[test]
    fn moments() {
        let same = |text: &str| time(text).map(|time| time.to_rfc3339());
        for (text, other) in [
            ("2020-01-01T24:00:00Z", "2020-01-02T00:00:00Z"),
            ("2020-02-31T00:00:00Z", "2020-02-29T00:00:00Z"),
            ("2021-02-29T00:00:00.5+01:00", "2021-02-28T00:00:00.500+01:00"),
            ("2020-01-01T00:00:00-00:00", "2020-01-01T00:00:00Z"),
        ] {
            assert!(same(text).is_some(), "{text}");
            assert_eq!(same(text), same(other), "{text}");
        }
        for bad in [
            "",
            "2020-01-01",
            "2020-01-01 00:00:00Z",
            "2020-01-01t00:00:00z",
            "2020-01-01T00:00Z",
            "2020-01-01T00:00:00",
            "2020-01-01T00:00:60Z",
            "2020-01-01T00:60:00Z",
            "2020-01-01T24:00:01Z",
            "2020-01-32T00:00:00Z",
            "2020-13-01T00:00:00Z",
            "2020-01-00T00:00:00Z",
            "2020-1-1T00:00:00Z",
            "2020-01-01T00:00:00.Z",
            "2020-01-01T00:00:00.1234567891Z",
            "2020-01-01T00:00:00+0100",
            "2020-01-01T00:00:00+19:00",
            "2020-01-01T00:00:00+01:00:30",
            "0000-01-01T00:00:00Z",
            "9999-12-31T24:00:00Z",
            "+10000-01-01T00:00:00Z",
            "2020-01-01T00:00:00Z[UTC]",
            "2020-01-01T00:00:00\u{e9}",
            "\u{e9}020-01-01T00:00:00Z",
        ] {
            assert_eq!(time(bad), None, "{bad}");
        }
    }
}

//! The parts of moments and durations, in zones as the reference server knows them. The checker puts the function
//! in; its name cannot be written.

use cel::common::types::{CelDuration, CelInt, CelString, CelTimestamp, DYN_TYPE, INT_TYPE};
use cel::common::value::{CowVal, Val};
use cel::{DeclarationError, Env, ExecutionError};
use chrono::{DateTime, Datelike, FixedOffset, Offset, TimeDelta, TimeZone, Timelike};
use chrono_tz::Tz;

/// Furthest offset of a zone, in seconds.
const OFFSET_SECONDS_MAX: i32 = 18 * 60 * 60;

/// Gives a part: of which kind, of what, and perhaps in which zone.
pub(super) const PART: &str = "@part";

type OfMoment = fn(&DateTime<FixedOffset>) -> i64;
type OfSpan = fn(&TimeDelta) -> i64;

/// Kinds of parts: the method that asks for it, what it gives of a moment, and of a duration.
const PARTS: [(&str, OfMoment, Option<OfSpan>); 10] = [
    ("getFullYear", |at| i64::from(at.year()), None),
    ("getMonth", |at| i64::from(at.month0()), None),
    ("getDate", |at| i64::from(at.day()), None),
    ("getDayOfMonth", |at| i64::from(at.day0()), None),
    // Monday is 1, Sunday 7.
    ("getDayOfWeek", |at| i64::from(at.weekday().number_from_monday()), None),
    ("getDayOfYear", |at| i64::from(at.ordinal0()), None),
    ("getHours", |at| i64::from(at.hour()), Some(|span| whole_seconds(span) / 3600)),
    ("getMinutes", |at| i64::from(at.minute()), Some(|span| whole_seconds(span) / 60)),
    ("getSeconds", |at| i64::from(at.second()), Some(whole_seconds)),
    ("getMilliseconds", |at| i64::from(at.nanosecond() / 1_000_000), Some(milliseconds)),
];

/// The kind of part that a method asks for.
pub(super) fn kind(method: &str) -> Option<i64> {
    PARTS.iter().position(|(name, ..)| *name == method).and_then(|place| i64::try_from(place).ok())
}

/// Teaches `env` this function.
pub(super) fn teach(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_overload(PART, "part", vec![INT_TYPE, DYN_TYPE], part)?;
    env.add_overload(PART, "part_in_zone", vec![INT_TYPE, DYN_TYPE, DYN_TYPE], part)
}

fn part<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let given = |place: usize| arguments.get(place).map(|given| given.as_ref());
    let kind = given(0).and_then(|kind| kind.downcast_ref::<CelInt>()).map(|kind| *kind.inner());
    let part = kind.and_then(|kind| PARTS.get(usize::try_from(kind).ok()?));
    let Some((method, of_moment, of_span)) = part else {
        return Err(ExecutionError::function_error(PART, "no such part"));
    };
    let no_overload = || ExecutionError::function_error(method, "no such overload");
    let found = match (given(1).and_then(moment), given(1).and_then(span), given(2)) {
        (Some(at), _, None) => of_moment(at),
        (Some(at), _, Some(zone)) => {
            let zone = zone.downcast_ref::<CelString<'_>>().map(CelString::inner).ok_or_else(no_overload)?;
            let there = in_zone(at, zone).ok_or_else(|| {
                ExecutionError::function_error(method, format!("no conversion to time-zone '{zone}'"))
            })?;
            of_moment(&there)
        }
        (_, Some(span), None) => of_span.ok_or_else(no_overload)?(span),
        _ => return Err(no_overload()),
    };
    Ok(CowVal::owned(CelInt::from(found)))
}

fn moment<'a>(value: &'a (dyn Val + '_)) -> Option<&'a DateTime<FixedOffset>> {
    value.downcast_ref::<CelTimestamp>().map(CelTimestamp::inner)
}

fn span<'a>(value: &'a (dyn Val + '_)) -> Option<&'a TimeDelta> {
    value.downcast_ref::<CelDuration>().map(CelDuration::inner)
}

/// Whole seconds below, so that what is left is positive.
pub(super) fn whole_seconds(span: &TimeDelta) -> i64 {
    span.num_seconds() - i64::from(span.subsec_nanos() < 0)
}

/// Nanoseconds beyond whole seconds.
pub(super) fn nanos_beyond(span: &TimeDelta) -> i32 {
    span.subsec_nanos().rem_euclid(1_000_000_000)
}

/// Milliseconds beyond whole seconds.
fn milliseconds(span: &TimeDelta) -> i64 {
    i64::from(nanos_beyond(span) / 1_000_000)
}

/// The moment as clocks show it in a zone: an offset (`+2`, `0200`, `02:00`), perhaps behind `UTC`, `GMT` or `UT`; the name of
/// a region or one of the old abbreviations. Other names mean UTC, and what is no name is none.
fn in_zone(at: &DateTime<FixedOffset>, zone: &str) -> Option<DateTime<FixedOffset>> {
    let offset = if zone.starts_with(|c: char| c == '+' || c == '-' || c.is_ascii_digit()) {
        loose_offset(zone)?
    } else if zone == "Z" {
        0
    } else if let Some(behind) = ["UTC", "GMT", "UT"].iter().find_map(|known| zone.strip_prefix(known))
        && (behind.is_empty() || behind.starts_with(['+', '-']))
    {
        if behind.is_empty() { 0 } else { strict_offset(behind)? }
    } else {
        let mut letters = zone.chars();
        let begins = letters.next().is_some_and(|c| c.is_ascii_alphabetic());
        let goes_on = |c: char| c.is_ascii_alphanumeric() || "~/._+-".contains(c);
        if !begins || zone.len() < 2 || !letters.all(goes_on) {
            return None;
        }
        match abbreviated(zone).parse::<Tz>() {
            Ok(region) => region.offset_from_utc_datetime(&at.naive_utc()).fix().local_minus_utc(),
            Err(_) => 0,
        }
    };
    Some(at.with_timezone(&FixedOffset::east_opt(offset)?))
}

/// Hours, minutes and seconds of one or two digits, with or without colons; what follows is passed over.
fn loose_offset(text: &str) -> Option<i32> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut rest = digits.chars().peekable();
    let mut parts = [0; 3];
    for (place, part) in parts.iter_mut().enumerate() {
        if place > 0 {
            let _ = rest.next_if_eq(&':');
        }
        let Some(first) = rest.next() else { continue };
        *part = first.to_digit(10)?;
        match rest.peek() {
            None | Some(':') => {}
            Some(second) => {
                *part = *part * 10 + second.to_digit(10)?;
                rest.next();
            }
        }
    }
    seconds(text, parts)
}

/// `+h`, `+hh`, `+hh:mm`, `+hhmm`, `+hh:mm:ss` or `+hhmmss`.
fn strict_offset(text: &str) -> Option<i32> {
    let digits = text.get(1..)?;
    let shape: String = digits.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    if !["0", "00", "00:00", "0000", "00:00:00", "000000"].contains(&shape.as_str()) {
        return None;
    }
    loose_offset(text)
}

fn seconds(text: &str, [hours, minutes, seconds]: [u32; 3]) -> Option<i32> {
    if minutes > 59 || seconds > 59 {
        return None;
    }
    let size = i32::try_from(hours * 3600 + minutes * 60 + seconds).ok()?;
    let offset = if text.starts_with('-') { -size } else { size };
    (size <= OFFSET_SECONDS_MAX).then_some(offset)
}

/// The region that an old abbreviation of three letters stands for.
fn abbreviated(zone: &str) -> &str {
    match zone {
        "ACT" => "Australia/Darwin",
        "AET" => "Australia/Sydney",
        "AGT" => "America/Argentina/Buenos_Aires",
        "ART" => "Africa/Cairo",
        "AST" => "America/Anchorage",
        "BET" => "America/Sao_Paulo",
        "BST" => "Asia/Dhaka",
        "CAT" => "Africa/Harare",
        "CNT" => "America/St_Johns",
        "CST" => "America/Chicago",
        "CTT" => "Asia/Shanghai",
        "EAT" => "Africa/Addis_Ababa",
        "ECT" => "Europe/Paris",
        "IET" => "America/Indiana/Indianapolis",
        "IST" => "Asia/Kolkata",
        "JST" => "Asia/Tokyo",
        "MIT" => "Pacific/Apia",
        "NET" => "Asia/Yerevan",
        "NST" => "Pacific/Auckland",
        "PLT" => "Asia/Karachi",
        "PNT" => "America/Phoenix",
        "PRT" => "America/Puerto_Rico",
        "PST" => "America/Los_Angeles",
        "SST" => "Pacific/Guadalcanal",
        "VST" => "Asia/Ho_Chi_Minh",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hour(zone: &str) -> Option<(u32, u32, u32)> {
        let at = DateTime::parse_from_rfc3339("2020-02-03T04:05:06Z").unwrap();
        in_zone(&at, zone).map(|at| (at.hour(), at.minute(), at.second()))
    }

    /// As measured on the reference server.
    #[test]
    fn zones() {
        for (zone, wanted) in [
            ("America/New_York", (23, 5, 6)),
            ("Europe/Berlin", (5, 5, 6)),
            ("EST5EDT", (23, 5, 6)),
            ("Etc/GMT+5", (23, 5, 6)),
            ("PST", (20, 5, 6)),
            ("EST", (23, 5, 6)),
            ("ACT", (13, 35, 6)),
            ("IST", (9, 35, 6)),
            ("Z", (4, 5, 6)),
            ("utc", (4, 5, 6)),
            ("GMT0", (4, 5, 6)),
            ("Nope/X", (4, 5, 6)),
            ("europe/berlin", (4, 5, 6)),
            ("GMT+1", (5, 5, 6)),
            ("UTC+01:00", (5, 5, 6)),
            ("UT+1", (5, 5, 6)),
            ("+2", (6, 5, 6)),
            ("+0200", (6, 5, 6)),
            ("1:30", (5, 35, 6)),
            ("130", (17, 5, 6)),
            ("-1", (3, 5, 6)),
            ("+01:30:30", (5, 35, 36)),
            ("1:2:3:4", (5, 7, 9)),
            ("1:", (5, 5, 6)),
            ("+", (4, 5, 6)),
            ("18:00", (22, 5, 6)),
        ] {
            assert_eq!(hour(zone), Some(wanted), "{zone}");
        }
        for bad in [
            "",
            "z",
            " UTC",
            "x:y",
            ":1",
            "1:x",
            "24",
            "19",
            "-18:01",
            "00:60",
            "GMT+25",
            "UTC+19",
            "UTC-1:30",
            "GMT+1:5",
            "GMT+01:60",
            "Europe/Berlin ",
        ] {
            assert_eq!(hour(bad), None, "{bad}");
        }
    }
}

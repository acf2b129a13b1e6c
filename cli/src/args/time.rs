//! Times as people type them: as they are shown, as the wire writes them, or counted back from now.

use chrono::{DateTime, Local, MappedLocalTime, TimeDelta, TimeZone};
use lochan_api_spec::syntax::Instant;

use crate::host::Zone;

/// Characters of a day: `2026-05-01`.
const DAY_CHARS: usize = 10;

/// The first and the last moment that filters know: the years 1 to 9999.
const FIRST: Instant = Instant::new(-62_135_596_800, 0);
const LAST: Instant = Instant::new(253_402_300_799, 999_999_999);

const DAY_S: i64 = 86_400;

/// Words for spans, and their seconds. Months and years are as long as those in which ages are shown.
const UNITS: [(&[&str], i64); 7] = [
    (&["s", "sec", "second"], 1),
    (&["m", "min", "minute"], 60),
    (&["h", "hour"], 3_600),
    (&["d", "day"], DAY_S),
    (&["w", "week"], 7 * DAY_S),
    (&["month"], 30 * DAY_S),
    (&["y", "year"], 365 * DAY_S),
];

/// A time that was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// A time with its zone.
    At(Instant),
    /// What clocks show where it is read, as if that were UTC.
    Clock(Instant),
    /// This many seconds before now.
    Ago(i64),
}

impl When {
    /// The time, within the years 1 to 9999.
    pub fn at(self, now: Instant, zone: Zone) -> Instant {
        let at = match (self, zone) {
            (Self::At(at), _) | (Self::Clock(at), Zone::Utc) => at,
            (Self::Clock(shown), Zone::Local) => Instant::new(shown.seconds() - east_s(shown), shown.nanos()),
            (Self::Ago(seconds), _) => Instant::new(now.seconds().saturating_sub(seconds), now.nanos()),
        };
        at.clamp(FIRST, LAST)
    }
}

/// Seconds that clocks here are ahead of UTC when they show this. What they show twice is the first time it is shown; what
/// they skip counts on as on the day before.
fn east_s(shown: Instant) -> i64 {
    let Some(shown) = DateTime::from_timestamp(shown.seconds(), shown.nanos()) else { return 0 };
    let shown = shown.naive_utc();
    let offset = match Local.offset_from_local_datetime(&shown) {
        MappedLocalTime::Single(offset) | MappedLocalTime::Ambiguous(offset, _) => offset,
        MappedLocalTime::None => Local.offset_from_utc_datetime(&(shown - TimeDelta::days(1))),
    };
    i64::from(offset.local_minus_utc())
}

/// Reads a time; the error says how one is written.
pub fn parse(text: &str) -> Result<When, String> {
    let text = text.trim();
    // `Date: 3 minutes ago (2026-05-01 10:20:30 UTC)`: the exact one counts.
    let inside = text.strip_suffix(')').and_then(|text| text.split_once('(')).map(|(_, inside)| inside);
    let text = inside.unwrap_or(text);
    counted_back(text).or_else(|| on_a_day(text)).ok_or_else(|| {
        "a time is written 2026-05-01 or '2026-05-01 10:20:30' (local time), 2026-05-01T10:20:30Z or \
         '2026-05-01 10:20:30 +02:00', 'yesterday' or '2 hours ago'; years are 0001 to 9999"
            .to_owned()
    })
}

/// `2026-05-01`, `2026-05-01 10:20`, `2026-05-01T10:20:30.5Z`, `2026-05-01 10:20:30 +02:00`
fn on_a_day(text: &str) -> Option<When> {
    let (day, behind) = text.split_at_checked(DAY_CHARS)?;
    let time = match behind.strip_prefix(['T', 't', ' ']) {
        Some(time) => match time.split_once(' ') {
            Some((time, "UTC" | "GMT")) => format!("{time}Z"),
            Some((time, zone)) => format!("{time}{zone}"),
            None => time.to_owned(),
        },
        None if behind.is_empty() => "00:00".to_owned(),
        None => return None,
    };
    if day.starts_with("0000") {
        return None;
    }
    let zoned = Instant::parse_loose(&format!("{day}T{time}")).map(When::At);
    zoned.or_else(|_| Instant::parse_loose(&format!("{day}T{time}Z")).map(When::Clock)).ok()
}

/// `now`, `yesterday` (at this time of day), `2 hours ago`, `2.hours.ago`, `2h`
fn counted_back(text: &str) -> Option<When> {
    let text = text.to_ascii_lowercase().replace('.', " ");
    match text.as_str() {
        "now" | "just now" => return Some(When::Ago(0)),
        "yesterday" => return Some(When::Ago(DAY_S)),
        _ => {}
    }
    let span = text.strip_suffix("ago").unwrap_or(&text).trim_start_matches('-').trim();
    let (count, unit) = span.split_at(span.find(|c: char| !c.is_ascii_digit())?);
    let unit = unit.trim_start();
    let one = unit.strip_suffix('s').filter(|one| !one.is_empty()).unwrap_or(unit);
    let (_, seconds) = UNITS.iter().find(|(words, _)| words.contains(&one))?;
    Some(When::Ago(count.parse::<i64>().ok()?.saturating_mul(*seconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-05-01T12:00:00.250Z";

    fn read(text: &str) -> String {
        let when = parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        when.at(Instant::parse(NOW).unwrap(), Zone::Utc).to_string()
    }

    #[test]
    fn times_on_a_day() {
        fn check(text: &str, expected: &str) {
            assert_eq!(read(text), expected, "{text}");
        }
        check("2020-01-01", "2020-01-01T00:00:00Z");
        check("2020-01-01 10:20", "2020-01-01T10:20:00Z");
        check(" 2020-01-01t10:20:30.5 ", "2020-01-01T10:20:30.500Z");
        check("2020-01-01T10:20:30Z", "2020-01-01T10:20:30Z");
        check("2020-01-01T10:20:30+02:00", "2020-01-01T08:20:30Z");
        check("2020-01-01 10:20:30 +02:00", "2020-01-01T08:20:30Z");
        check("2020-01-01 10:20:30 UTC", "2020-01-01T10:20:30Z");
        check("3 minutes ago (2020-01-01 10:20:30 +02:00)", "2020-01-01T08:20:30Z");
        // The ends of what filters take, whatever the offset.
        check("0001-01-01T00:00:00+18:00", "0001-01-01T00:00:00Z");
        check("9999-12-31T23:59:59-18:00", "9999-12-31T23:59:59.999999999Z");
    }

    #[test]
    fn times_counted_back() {
        fn check(text: &str, expected: &str) {
            assert_eq!(read(text), format!("{expected}.250Z"), "{text}");
        }
        check("now", "2026-05-01T12:00:00");
        check("yesterday", "2026-04-30T12:00:00");
        check("1 second ago", "2026-05-01T11:59:59");
        check("2 hours ago", "2026-05-01T10:00:00");
        check("2.hours.ago", "2026-05-01T10:00:00");
        check("-2h", "2026-05-01T10:00:00");
        check("90 mins", "2026-05-01T10:30:00");
        check("1w", "2026-04-24T12:00:00");
        check("2 Months ago", "2026-03-02T12:00:00");
        assert_eq!(read("99999999999999 years ago"), "0001-01-01T00:00:00Z");
    }

    #[test]
    fn what_is_no_time() {
        for bad in [
            "",
            "x",
            "2",
            "ago",
            "2 fortnights ago",
            "99999999999999999999h",
            "2026",
            "2026-05",
            "2026-13-01",
            "2026-05-01 25:00",
            "2026-05-01x",
            "2026-05-01 10:20:30 CET",
            "0000-01-01",
            "+12026-11-30T13:54:14Z",
            "-0001-01-01T00:00:00Z",
            "2026-05-01é",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_shown_is_read_again() {
        // In the zone of the machine, whichever that is; hours that clocks show twice aside.
        for seconds in [0, 1_000_000_000, 1_769_000_000, 1_784_000_000] {
            let at = Instant::new(seconds, 0);
            for zone in [Zone::Local, Zone::Utc] {
                let shown = crate::output::absolute(at, zone);
                assert_eq!(parse(&shown).unwrap().at(at, zone), at, "{shown}");
                let (clock, _) = shown.split_at("2026-05-01 10:20:30".len());
                assert_eq!(parse(clock).unwrap().at(at, zone), at, "{shown}");
            }
        }
    }
}

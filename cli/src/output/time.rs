//! Times as people read them: how long ago, and when.

use chrono::{DateTime, Local, TimeZone, Utc};
use lochan_api_spec::syntax::Instant;

use super::Look;
use crate::host::Zone;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// `3 minutes ago`; times ahead of our clock by more than a minute are shown as such.
pub fn relative(at: Instant, now: Instant) -> String {
    let seconds = now.seconds().saturating_sub(at.seconds());
    if seconds < -MINUTE {
        return "in the future".to_owned();
    }
    let (n, unit) = match seconds.max(0) {
        0 => return "just now".to_owned(),
        s if s < 2 * MINUTE => (s, "second"),
        s if s < 2 * HOUR => (s / MINUTE, "minute"),
        s if s < 2 * DAY => (s / HOUR, "hour"),
        s if s < 60 * DAY => (s / DAY, "day"),
        s if s < 730 * DAY => (s / (30 * DAY), "month"),
        s => (s / (365 * DAY), "year"),
    };
    format!("{n} {unit}{} ago", if n == 1 { "" } else { "s" })
}

/// `2026-05-01 10:20:30 UTC`, or with the offset of the local zone.
pub fn absolute(at: Instant, zone: Zone) -> String {
    let Some(utc) = DateTime::<Utc>::from_timestamp(at.seconds(), at.nanos()) else { return at.to_string() };
    match zone {
        Zone::Utc => utc.format("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Zone::Local => {
            let local = Local.from_utc_datetime(&utc.naive_utc());
            if local.offset().local_minus_utc() == 0 {
                utc.format("%Y-%m-%d %H:%M:%S UTC").to_string()
            } else {
                local.format("%Y-%m-%d %H:%M:%S %:z").to_string()
            }
        }
    }
}

/// Both: `3 minutes ago (2026-05-01 10:20:30 UTC)`.
pub fn both(at: Instant, look: &Look) -> String {
    format!("{} ({})", relative(at, look.now), absolute(at, look.zone))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages() {
        fn check(seconds: i64, shown: &str) {
            let now = Instant::new(1_000_000_000, 0);
            assert_eq!(relative(Instant::new(now.seconds() - seconds, 0), now), shown);
        }
        check(0, "just now");
        check(-30, "just now");
        check(-61, "in the future");
        check(1, "1 second ago");
        check(119, "119 seconds ago");
        check(120, "2 minutes ago");
        check(2 * HOUR, "2 hours ago");
        check(47 * HOUR, "47 hours ago");
        check(2 * DAY, "2 days ago");
        check(60 * DAY, "2 months ago");
        check(800 * DAY, "2 years ago");
    }

    #[test]
    fn instants_beyond_the_calendar_are_still_shown() {
        assert_eq!(absolute(Instant::new(1_777_637_730, 5), Zone::Utc), "2026-05-01 12:15:30 UTC");
        assert!(absolute(Instant::new(i64::MAX, 0), Zone::Utc).starts_with("+292277026596"));
        assert_eq!(
            relative(Instant::new(i64::MIN, 0), Instant::new(i64::MAX, 0)).split(' ').nth(1),
            Some("years")
        );
    }
}

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

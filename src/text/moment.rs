//! Times as people read them: on the clock of their place, with its zone, and how long ago.

use std::time::Duration;

use jiff::{Timestamp, tz::TimeZone};

/// A wall clock: what time it is, and in which zone.
#[derive(Clone, Debug)]
pub struct WallClock {
    now: Timestamp,
    zone: TimeZone,
}

impl WallClock {
    /// Returns the clock of this machine. A machine without a known zone shows UTC.
    pub fn of_this_machine() -> Self {
        let zone = TimeZone::try_system().ok().filter(|zone| !zone.is_unknown());
        Self { now: Timestamp::now(), zone: zone.unwrap_or(TimeZone::UTC) }
    }

    /// Returns a clock in UTC that has stopped at a time.
    pub fn stopped_at(now: Timestamp) -> Self {
        Self { now, zone: TimeZone::UTC }
    }

    /// Returns a time with its zone. A text that is no time stays as it is.
    pub fn time(&self, text: &str) -> String {
        let Ok(time) = text.parse::<Timestamp>() else { return text.to_owned() };
        time.to_zoned_datetime(self.zone.clone()).strftime("%Y-%m-%d %H:%M %Z").to_string()
    }

    /// Returns a time with its zone and how long ago it was. A text that is no time stays as it is.
    pub fn time_and_age(&self, text: &str) -> String {
        match text.parse::<Timestamp>() {
            Ok(time) => format!("{} ({})", self.time(text), ago(self.now.duration_since(time).as_secs())),
            Err(_) => text.to_owned(),
        }
    }
}

/// Returns an age in its largest unit.
pub fn age(seconds: i64) -> String {
    match seconds {
        // A time ahead of this machine is that of a service whose clock is ahead, such as the fast one of a sandbox.
        ..60 => "just now".to_owned(),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Returns an age in a sentence.
pub fn ago(seconds: i64) -> String {
    if seconds >= 60 { format!("{} ago", age(seconds)) } else { age(seconds) }
}

/// Returns a duration in its two largest units.
pub fn duration_text(seconds: f64) -> String {
    let whole = Duration::try_from_secs_f64(seconds.round()).unwrap_or_default().as_secs();
    match (whole / 3_600, whole / 60 % 60, whole % 60) {
        (0, 0, 0) => format!("{seconds:.1}s"),
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m {seconds:02}s"),
        (hours @ ..100, minutes, _) => format!("{hours}h {minutes:02}m"),
        (hours, ..) => format!("{} days", hours / 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_that_of_the_place_with_its_zone_and_its_age() {
        let now = "2026-03-02T12:00:00Z".parse().expect("a time");
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a zone");
        for (zone, text, expected) in [
            (TimeZone::UTC, "2026-03-02T08:30:00+00:00", "2026-03-02 08:30 UTC (3 h ago)"),
            (berlin.clone(), "2026-03-01T23:30:00+00:00", "2026-03-02 00:30 CET (12 h ago)"),
            (berlin.clone(), "2025-07-01T10:00:00Z", "2025-07-01 12:00 CEST (244 days ago)"),
            (TimeZone::UTC, "2026-03-02T12:00:30Z", "2026-03-02 12:00 UTC (just now)"),
            (berlin, "yesterday", "yesterday"),
        ] {
            assert_eq!(WallClock { now, zone }.time_and_age(text), expected);
        }
    }
}

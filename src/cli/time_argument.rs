//! Times in arguments: a span before now, a day or a moment. Times without a zone are in UTC.

use jiff::{
    SignedDuration, Timestamp,
    civil::{Date, DateTime, Time},
    tz::TimeZone,
};

const FORMS: &str = "must be a span before now such as 90m, 24h or 7d, a day such as 2026-11-20, or a time such as 2026-11-20T18:30 (UTC)";

/// Parses the beginning of a period. A day begins at midnight.
pub(super) fn beginning(text: &str) -> Result<Timestamp, String> {
    parse(text, Timestamp::now(), false)
}

/// Parses the end of a period. A day is included as a whole.
pub(super) fn end(text: &str) -> Result<Timestamp, String> {
    parse(text, Timestamp::now(), true)
}

fn parse(text: &str, now: Timestamp, is_end: bool) -> Result<Timestamp, String> {
    let today = TimeZone::UTC.to_datetime(now).date();
    let day = match text {
        "today" => Some(today),
        "yesterday" => today.yesterday().ok(),
        text => text.parse::<Date>().ok().filter(|_| !text.contains(['T', ' '])),
    };
    if let Some(day) = day {
        let day = if is_end { day.tomorrow().ok() } else { Some(day) };
        let midnight = day.and_then(|day| TimeZone::UTC.to_timestamp(day.to_datetime(Time::midnight())).ok());
        return midnight.ok_or_else(|| FORMS.to_owned());
    }

    let moment = || text.parse::<Timestamp>().ok();
    let local = || TimeZone::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok();
    let span = || now.checked_sub(span(text)?).ok();
    span().or_else(moment).or_else(local).ok_or_else(|| FORMS.to_owned())
}

/// Parses a span, such as `24h`.
fn span(text: &str) -> Option<SignedDuration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let seconds = match unit {
        "m" | "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return None,
    };

    number.parse::<i64>().ok()?.checked_mul(seconds).map(SignedDuration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_span_a_day_or_a_moment() {
        let now = "2026-11-20T18:30:00Z".parse().expect("a time");
        for (text, beginning, end) in [
            ("24h", "2026-11-19T18:30:00Z", "2026-11-19T18:30:00Z"),
            ("90m", "2026-11-20T17:00:00Z", "2026-11-20T17:00:00Z"),
            ("2w", "2026-11-06T18:30:00Z", "2026-11-06T18:30:00Z"),
            ("today", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"),
            ("yesterday", "2026-11-19T00:00:00Z", "2026-11-20T00:00:00Z"),
            ("2026-11-18", "2026-11-18T00:00:00Z", "2026-11-19T00:00:00Z"),
            ("2026-11-18T06:15", "2026-11-18T06:15:00Z", "2026-11-18T06:15:00Z"),
            ("2026-11-18T06:15:00+02:00", "2026-11-18T04:15:00Z", "2026-11-18T04:15:00Z"),
        ] {
            let parsed = [false, true].map(|is_end| parse(text, now, is_end).map(|time| time.to_string()));
            assert_eq!(parsed, [Ok(beginning.to_owned()), Ok(end.to_owned())], "{text}");
        }

        for text in ["", "24", "h", "last night", "2026-13-01", "99999999999999999999d", "9999999999999d"] {
            assert_eq!(parse(text, now, false), Err(FORMS.to_owned()), "{text}");
        }
    }
}

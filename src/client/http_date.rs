//! Dates and waits in HTTP headers.

use std::time::Duration;

use http::{HeaderMap, header};
use jiff::Timestamp;

/// Reads an HTTP date such as `Thu, 31 Dec 2099 23:59:59 GMT`.
pub(super) fn parse_http_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::parse(text).ok().map(|date| date.timestamp())
}

/// Reads the header `Retry-After`: a number of seconds, or a date. A date in the past means no wait.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    parse_retry_after(text, Timestamp::now())
}

fn parse_retry_after(text: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }

    let wait = parse_http_date(text)?.duration_since(now);

    Some(Duration::try_from(wait).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_a_number_or_a_date() {
        let now = parse_http_date("Thu, 31 Dec 2099 23:59:00 GMT").expect("a date");

        for (text, seconds) in [
            ("0", Some(0)),
            (" 120 ", Some(120)),
            ("18446744073709551615", Some(u64::MAX)),
            ("Thu, 31 Dec 2099 23:59:59 GMT", Some(59)),
            ("Fri, 31 Dec 1999 23:59:59 GMT", Some(0)),
            ("-5", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(parse_retry_after(text, now), seconds.map(Duration::from_secs), "{text:?}");
        }
    }
}

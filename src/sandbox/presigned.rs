//! Presigned addresses: whoever has one may use it until it expires, without a key.

use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::fmt::strtime;

use super::clock::{Millis, Moment};

/// Form of `X-Amz-Date`.
const FORM: &str = "%Y%m%dT%H%M%SZ";

/// `address` as one that may be used from `now` on, for so many seconds.
pub(super) fn sign(address: &str, now: Moment, seconds: u32) -> String {
    let date = now.timestamp().strftime(FORM).to_string();
    let signature = signature(path_of(address), &date, &seconds.to_string());
    format!("{address}?X-Amz-Date={date}&X-Amz-Expires={seconds}&X-Amz-Signature={signature}")
}

/// Whether a request for `path` with this query may be answered.
pub(super) fn admits(path: &str, query: &str, now: Moment) -> bool {
    let value = |wanted: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(name, _)| *name == wanted).map(|(_, value)| value).next_back().unwrap_or_default()
    };
    let (date, seconds) = (value("X-Amz-Date"), value("X-Amz-Expires"));
    value("X-Amz-Signature") == signature(path, date, seconds)
        && expiry(date, seconds).is_some_and(|expiry| now < expiry)
}

fn expiry(date: &str, seconds: &str) -> Option<Moment> {
    let signed = strtime::parse(FORM, date).ok()?.to_datetime().ok()?;
    let signed = signed.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp();
    Some(Moment::from(signed) + seconds.parse::<Millis>().ok()?.checked_mul(1_000)?)
}

fn signature(path: &str, date: &str, seconds: &str) -> String {
    let mut hasher = DefaultHasher::new();
    ("sandbox", path, date, seconds).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

fn path_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.find('/').and_then(|start| rest.get(start..)).unwrap_or("/")
}
